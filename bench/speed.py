#!/usr/bin/env python3
"""All the speeds that we claim, beside llama.cpp's in the same run: one table, one picture.

    bench/speed.py [--repeat 5] [--llama-cpp FOLDER] [--threads N] [--only forward,serving,prefix,context]

The model is SmolLM2-135M-Instruct in the types of weights that people serve. Writes bench/results/speed.json (the
figures), docs/speed.md (the table) and docs/speed.svg (the picture). FOLDER holds llama-bench, llama-server and
llama-quantize; without it they are built from the pinned sources into the cache directory. About 40 minutes on two
cores that do nothing else.
"""
import argparse
import datetime
import json
import os
import pathlib
import statistics
import sys

import forward
import programs
import serving
import speed_report

FILES = ("Q4_1", "Q4_0", "Q8_0", "BF16")
STREAMS = (1, 8, 32, 128)
PREFIX_STREAMS, PREFIX_WORDS = 32, 512
CONTEXTS = (0, 1000, 2000, 4000, 8000)
CONTEXT_KV = ("bfloat16", "int8")
BATCHES = (1, 2, 4, 8, 16, 32, 64)
OUT = programs.ROOT / "bench" / "results" / "speed.json"


def middle(values):
    return round(statistics.median(values), 2)


def measure_forward(tools, options):
    return {kind: forward.compare(tools.bench, tools.peer("llama-bench"), str(tools.file(kind)), options.threads,
                                  options.repeat) for kind in FILES}


def commands(tools, options, streams):
    """Ours serves the shipped file, the peer the one that is its fastest."""
    ours = lambda port: [tools.build / "pagoda", "serve", tools.file("Q4_1"), "--port", port, "--threads",
                         options.threads, "--served-model-name", "m"]
    theirs = lambda port: [tools.peer("llama-server"), "-m", tools.file("Q4_0"), "--port", port, "-t", options.threads,
                           "-tb", options.threads, "-c", serving.CONTEXT_PER_STREAM * streams, "--parallel", streams,
                           "--cont-batching"]
    return {"pagoda": ours, "llama.cpp": theirs}


def measure_serving(tools, options):
    result = {}
    for streams in STREAMS:  # a server for each: the peer divides its context by the most streams
        rows = {"pagoda": [], "llama.cpp": []}
        for repeat in range(options.repeat):
            for name, command in commands(tools, options, streams).items():
                rows[name].append(serving.measure(command, "m", [streams], repeat, rounds=1 if streams > 32 else 2))
        result[streams] = {name: serving.medians(its, [streams]) for name, its in rows.items()}
        for figures in result[streams].values():
            figures |= figures.pop(streams)
        print(f"{streams} streams measured", file=sys.stderr)
    return result


def with_prefix(command, seed):
    """Everybody asks with the same 512 words in front: first when nobody has asked so, then again."""
    port = serving.free_port()
    server = serving.Server(command(port), port, "m")
    try:
        asked = {"requests": PREFIX_STREAMS, "shared_words": PREFIX_WORDS, "prompt_words": 16, "max_tokens": 32}
        cold, primed = (server.under_load(PREFIX_STREAMS, seed, **asked) for _ in range(2))
        return {"cold_ttft_p50_ms": cold["ttft_p50_ms"], "primed_ttft_p50_ms": primed["ttft_p50_ms"]}
    finally:
        server.stop()


def measure_prefix(tools, options):
    rows = {"pagoda": [], "llama.cpp": []}
    for repeat in range(options.repeat):
        for name, command in commands(tools, options, PREFIX_STREAMS).items():
            rows[name].append(with_prefix(command, repeat))
    return {name: {key: middle([row[key] for row in its]) for key in its[0]} for name, its in rows.items()}


def decode_rate(tools, options, **flags):
    words = [word for key, value in flags.items() for word in (f"--{key}", value)]
    text = programs.output_of(tools.bench / "model_benchmark", tools.file("Q4_1"), "--prefill", 0, "--decode", 32,
                              "--repeat", options.repeat, "--threads", options.threads, *words)
    return json.loads(text)["decode_tok_s"]


def measure_context(tools, options):
    """How a step's time grows with what it has to read, and with how many it serves."""
    limits = json.loads(programs.output_of(tools.bench / "machine_limits", options.threads))
    return limits | {
        "context": {kv: {n: decode_rate(tools, options, context=n, kv=kv) for n in CONTEXTS} for kv in CONTEXT_KV},
        "batch": {n: decode_rate(tools, options, batch=n, context=256) for n in BATCHES},
    }


class Tools:
    def __init__(self, folder):
        self.folder = folder
        self.build = programs.build_ours("pagoda", "machine_limits", "model_benchmark")
        self.bench = self.build / "bench"
        fetched = programs.output_of(sys.executable, programs.ROOT / "tools" / "fetch.py", "model-smollm2").strip()
        self.shipped = pathlib.Path(fetched)

    def peer(self, name):
        return self.folder / name if self.folder else programs.build_llama_cpp(name)

    def file(self, kind):
        path = self.shipped if kind == "Q4_1" else programs.requantised(self.shipped, self.peer("llama-quantize"), kind)
        path.read_bytes()  # into the page cache
        return path


PARTS = {"forward": measure_forward, "serving": measure_serving, "prefix": measure_prefix, "context": measure_context}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--llama-cpp", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--only", default=",".join(PARTS), help="parts to measure; the others keep their figures")
    options = parser.parse_args()
    tools = Tools(options.llama_cpp)
    results = json.loads(OUT.read_text()) if OUT.exists() else {}
    for part in options.only.split(","):
        stamp = {"date": datetime.date.today().isoformat(), "cpu": programs.cpu_name(), "threads": options.threads,
                 "repeat": options.repeat}
        # JSON's keys are texts: what is measured now looks like what is read again.
        results[part] = json.loads(json.dumps({"of": stamp, "figures": PARTS[part](tools, options)}))
        OUT.write_text(json.dumps(results, indent=1) + "\n")
        print(f"{part} measured", file=sys.stderr)
    table = speed_report.table(results)
    print(table)
    (programs.ROOT / "docs" / "speed.md").write_text(table)
    (programs.ROOT / "docs" / "speed.svg").write_text(speed_report.picture(results))


if __name__ == "__main__":
    main()
