#!/usr/bin/env python3
"""Prefill and decode of one model, ours and llama.cpp's in turns, beside what the machine allows.

    bench/forward.py MODEL.gguf [--llama-bench PATH] [--repeat 5] [--threads N] [--out FILE.json]

Without --llama-bench the peer is built from the pinned sources into the cache directory (about ten minutes on two
cores). Prints one table; medians of the repeats. Run it on a machine that does nothing else.
"""
import argparse
import datetime
import json
import os
import pathlib
import statistics

import programs

PREFILL, DECODE = 512, 128


def ours(bench, model, threads):
    text = programs.output_of(bench / "model_benchmark", model, "--prefill", PREFILL, "--decode", DECODE, "--repeat",
                              1, "--threads", threads)
    figures = json.loads(text)
    return figures["prefill_tok_s"], figures["decode_tok_s"], figures["weight_mb"]


def peers(bench, model, threads):
    text = programs.output_of(bench, "-m", model, "-t", threads, "-p", PREFILL, "-n", DECODE, "-r", 1, "-o", "json")
    rows = json.loads(text)
    by_kind = {row["n_gen"] > 0: row["avg_ts"] for row in rows}
    return by_kind[False], by_kind[True]


def compare(bench, peer, model, threads, repeat, peer_model=None):
    """Medians of `repeat` runs of each, in turns: what slows the machine slows both."""
    limits, our_rows, peer_rows = [], [], []
    for _ in range(repeat):
        limits.append(json.loads(programs.output_of(bench / "machine_limits", threads)))
        our_rows.append(ours(bench, model, threads))
        peer_rows.append(peers(peer, peer_model or model, threads))
    median = lambda rows, i: statistics.median(row[i] for row in rows)
    result = {
        "date": datetime.date.today().isoformat(),
        "model": pathlib.Path(model).name,
        "threads": threads,
        "repeat": repeat,
        "cpu": programs.cpu_name(),
        "read_gb_s": statistics.median(row["read_gb_s"] for row in limits),
        "int8_gop_s": statistics.median(row["int8_gop_s"] for row in limits),
        "pagoda": {"prefill_tok_s": median(our_rows, 0), "decode_tok_s": median(our_rows, 1)},
        "llama.cpp": {"prefill_tok_s": median(peer_rows, 0), "decode_tok_s": median(peer_rows, 1)},
    }
    result["ratio"] = {k: round(result["pagoda"][k] / result["llama.cpp"][k], 2) for k in result["pagoda"]}
    weight_gb = our_rows[0][2] / 1000
    result["decode_share_of_read_limit"] = round(
        result["pagoda"]["decode_tok_s"] * weight_gb / result["read_gb_s"], 2)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--llama-bench", type=pathlib.Path)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=pathlib.Path)
    a = parser.parse_args()
    bench = programs.build_ours("machine_limits", "model_benchmark") / "bench"
    peer = a.llama_bench or programs.build_llama_cpp("llama-bench")
    result = compare(bench, peer, a.model, a.threads, a.repeat)
    print(f"{result['model']}, {result['cpu']}, {a.threads} threads; read {result['read_gb_s']:.1f} GB/s, "
          f"int8 {result['int8_gop_s']:.0f} Gop/s")
    print(f"{'':12}{'prefill ' + str(PREFILL):>14}{'decode ' + str(DECODE):>14}   tok/s")
    for name in ("pagoda", "llama.cpp"):
        print(f"{name:12}{result[name]['prefill_tok_s']:14.0f}{result[name]['decode_tok_s']:14.1f}")
    print(f"{'ratio':12}{result['ratio']['prefill_tok_s']:14.2f}{result['ratio']['decode_tok_s']:14.2f}   "
          f"decode at {100 * result['decode_share_of_read_limit']:.0f} % of the read limit")
    if a.out:
        a.out.parent.mkdir(parents=True, exist_ok=True)
        a.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
