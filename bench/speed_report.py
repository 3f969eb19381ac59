"""What bench/speed.py has measured, as a page and as a picture."""

HEAD = """# How fast

SmolLM2-135M-Instruct beside llama.cpp, in turns on one machine, medians of the repeats. Made by `bench/speed.py`; the
figures are in [bench/results/speed.json](../bench/results/speed.json).

![tokens a second, by streams](speed.svg)
"""


def stamp(part):
    of = part["of"]
    return f"{of['date']}, {of['cpu']}, {of['threads']} threads, medians of {of['repeat']}."


def rows_of(*rows):
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def forward_table(part):
    limit = lambda figures: f"{100 * figures['decode_share_of_read_limit']:.0f} %"
    body = [(kind, *(f"{f[who]['prefill_tok_s']:.0f}" for who in ("pagoda", "llama.cpp")),
             f"{f['ratio']['prefill_tok_s']:.2f}x", *(f"{f[who]['decode_tok_s']:.1f}" for who in ("pagoda", "llama.cpp")),
             f"{f['ratio']['decode_tok_s']:.2f}x", limit(f), f"{f['read_gb_s']:.1f}", f"{f['int8_gop_s']:.0f}")
            for kind, f in part["figures"].items()]
    return "\n".join(["## One stream, without a server", "", stamp(part), "", rows_of(
        ("weights", "prefill 512: pagoda, tok/s", "llama.cpp", "", "decode 128: pagoda, tok/s", "llama.cpp", "",
         "of the read limit", "read, GB/s", "int8, Gop/s"), ("---",) * 10, *body), ""])


def serving_table(part):
    body = []
    for streams, both in part["figures"].items():
        for name, f in both.items():
            body.append((streams if name == "pagoda" else "", name, f"{f['output_tok_s']:.1f}",
                         f"{f['ttft_p50_ms']:.0f}", f"{f['ttft_p99_ms']:.0f}", f"{f['itl_p50_ms']:.1f}",
                         f"{f['itl_p99_ms']:.0f}", f"{f['rss_mb']:.0f}", f"{f['first_answer_s']:.2f}"))
        ours, theirs = both["pagoda"], both["llama.cpp"]
        body.append(("", "ratio", f"{ours['output_tok_s'] / theirs['output_tok_s']:.2f}x",
                     f"{ours['ttft_p50_ms'] / theirs['ttft_p50_ms']:.2f}x", "", "", "", "", ""))
    return "\n".join(["## A server under load", "", stamp(part),
                      "Each stream asks twice, of 128 streams each once: 256 words in, 128 tokens out. pagoda serves the shipped Q4_1 file, "
                      "llama-server the Q4_0 file, its fastest.", "", rows_of(
                          ("streams", "", "tok/s", "TTFT p50, ms", "p99", "ITL p50, ms", "p99", "RSS, MB",
                           "exec to first answer, s"), ("---",) * 9, *body), ""])


def prefix_table(part):
    body = [(name, f"{f['cold_ttft_p50_ms']:.0f}", f"{f['primed_ttft_p50_ms']:.0f}") for name, f in part["figures"].items()]
    return "\n".join(["## 32 requests that begin with the same 512 words", "", stamp(part), "",
                      rows_of(("", "TTFT p50 at first, ms", "again, ms"), ("---",) * 3, *body), ""])


def context_table(part):
    f = part["figures"]
    kinds = list(f["context"])
    contexts = [(n, *(f"{f['context'][kv][n]:.1f}" for kv in kinds)) for n in f["context"][kinds[0]]]
    batches = [(n, f"{rate:.0f}", f"{1000 * int(n) / rate:.1f}") for n, rate in f["batch"].items()]
    return "\n".join(["## As work grows", "", stamp(part), f"Read limit {f['read_gb_s']:.1f} GB/s.", "",
                      rows_of(("context, tokens", *(f"decode with {kv} KV, tok/s" for kv in kinds)),
                              ("---",) * (1 + len(kinds)), *contexts), "",
                      rows_of(("batch, at 256 tokens of context", "decode, tok/s", "a step, ms"), ("---",) * 3, *batches),
                      ""])


TABLES = {"forward": forward_table, "serving": serving_table, "prefix": prefix_table, "context": context_table}


def table(results):
    return "\n".join([HEAD, *(TABLES[part](results[part]) for part in TABLES if part in results)])


COLOURS = {"pagoda": "#b5442e", "llama.cpp": "#8a97a6"}
WIDTH, ROW, LEFT = 640, 18, 110


def picture(results):
    """Bars: output tokens a second by number of streams."""
    figures = results.get("serving", {}).get("figures", {})
    most = max((f["output_tok_s"] for both in figures.values() for f in both.values()), default=1)
    shapes, y = [], 40
    for streams, both in figures.items():
        shapes.append(f'<text x="{LEFT - 10}" y="{y + ROW}" text-anchor="end">{streams} '
                      f'{"stream" if streams == "1" else "streams"}</text>')
        for name, f in both.items():
            length = (WIDTH - LEFT - 120) * f["output_tok_s"] / most
            shapes.append(f'<rect x="{LEFT}" y="{y}" width="{length:.1f}" height="{ROW - 4}" rx="2" fill="{COLOURS[name]}"/>')
            shapes.append(f'<text x="{LEFT + length + 6:.1f}" y="{y + ROW - 6}">{f["output_tok_s"]:.0f} tok/s</text>')
            y += ROW
        y += 10
    legend = "".join(f'<rect x="{LEFT + 110 * i}" y="14" width="12" height="12" rx="2" fill="{colour}"/>'
                     f'<text x="{LEFT + 18 + 110 * i}" y="24">{name}</text>' for i, (name, colour) in enumerate(COLOURS.items()))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y}" viewBox="0 0 {WIDTH} {y}" '
            f'font-family="sans-serif" font-size="12" fill="#445">\n<rect width="{WIDTH}" height="{y}" fill="#fff"/>\n'
            + legend + "\n" + "\n".join(shapes) + "\n</svg>\n")
