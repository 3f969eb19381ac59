#!/usr/bin/env python3
"""Our server and llama.cpp's under the same load, in turns: tokens a second, waiting times, start, memory.

    bench/serving.py MODEL.gguf [--peer-model FILE.gguf] [--llama-server PATH] [--streams 1,8,32] [--repeat 5]
                     [--threads N] [--out FILE.json]

Each stream asks twice: 256 words in, 128 tokens out, greedy, end tokens ignored. Every repeat starts both servers anew;
"first answer" is from exec to the last byte of a one-token chat, with the model's file in the page cache. Medians of the
repeats. Without --llama-server the peer is built into the cache directory. Needs aiohttp, and a machine that does nothing
else.
"""
import argparse
import asyncio
import datetime
import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import time
import types
import urllib.request

import load
import programs

CONTEXT_PER_STREAM = 1024


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def answered(url, model):
    body = {"model": model, "max_tokens": 1, "messages": [{"role": "user", "content": "Hi"}]}
    request = urllib.request.Request(url + "/v1/chat/completions", json.dumps(body).encode(),
                                     {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status == 200 and response.read() != b""
    except OSError:
        return False


def resident_mb(pid):
    for line in open(f"/proc/{pid}/status"):
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("no VmRSS")


class Server:
    """A started server; `first_answer_s` counts from exec."""

    def __init__(self, command, port, model):
        self.url, self.model = f"http://127.0.0.1:{port}", model
        start = time.perf_counter()
        self.process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        while not answered(self.url, model):
            if self.process.poll() is not None or time.perf_counter() - start > 120:
                self.process.kill()
                raise RuntimeError(f"{command[0]} does not answer")
            time.sleep(0.005)
        self.first_answer_s = time.perf_counter() - start

    def under_load(self, streams, seed, **changed):
        usual = {"requests": 2 * streams, "prompt_words": 256, "shared_words": 0, "max_tokens": 128}
        options = types.SimpleNamespace(url=self.url, model=self.model, streams=streams, seed=seed, **usual | changed)
        figures = asyncio.run(load.load(options))
        if figures["errors"]:
            raise RuntimeError(figures["first_error"])
        return figures

    def stop(self):
        self.process.terminate()
        self.process.wait(60)


def measure(command_of, model, streams, seed, rounds=2):
    port = free_port()
    server = Server(command_of(port), port, model)
    try:
        result = {"first_answer_s": server.first_answer_s}
        for count in streams:
            result[count] = server.under_load(count, seed, requests=rounds * count)
        result["rss_mb"] = resident_mb(server.process.pid)
        return result
    finally:
        server.stop()


def medians(rows, streams):
    middle = lambda values: round(statistics.median(values), 3)
    result = {name: middle([row[name] for row in rows]) for name in ("first_answer_s", "rss_mb")}
    for count in streams:
        result[count] = {name: middle([row[count][name] for row in rows]) for name in
                         ("output_tok_s", "ttft_p50_ms", "ttft_p99_ms", "itl_p50_ms", "itl_p99_ms")}
    return result


def print_table(result, streams):
    print(f"{result['model']} (peer: {result['peer_model']}), {result['cpu']}, {result['threads']} threads; "
          f"read {result['read_gb_s']:.1f} GB/s, int8 {result['int8_gop_s']:.0f} Gop/s; medians of {result['repeat']}")
    for name in ("pagoda", "llama.cpp"):
        print(f"{name:10} first answer {result[name]['first_answer_s']:.2f} s, "
              f"RSS {result[name]['rss_mb']:.0f} MB after the load")
    print(f"{'streams':>8} {'':10}{'tok/s':>9}{'TTFT p50':>11}{'p99':>9}{'ITL p50':>10}{'p99':>9}  ms")
    for count in streams:
        for name in ("pagoda", "llama.cpp"):
            row = result[name][count]
            print(f"{count:8} {name:10}{row['output_tok_s']:9.1f}{row['ttft_p50_ms']:11.0f}{row['ttft_p99_ms']:9.0f}"
                  f"{row['itl_p50_ms']:10.1f}{row['itl_p99_ms']:9.1f}")
        print(f"{'':8} {'ratio':10}{result['ratio'][count]['output_tok_s']:9.2f}"
              f"{result['ratio'][count]['ttft_p50_ms']:11.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--peer-model", type=pathlib.Path, help="another file of the same model for the peer")
    parser.add_argument("--llama-server", type=pathlib.Path)
    parser.add_argument("--streams", default="1,8,32")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=pathlib.Path)
    a = parser.parse_args()
    streams = [int(word) for word in a.streams.split(",")]
    peer_model = a.peer_model or a.model
    build = programs.build_ours("pagoda", "machine_limits")
    peer = a.llama_server or programs.build_llama_cpp("llama-server")
    ours = lambda port: [build / "pagoda", "serve", a.model, "--port", port, "--threads", a.threads,
                         "--served-model-name", "m"]
    theirs = lambda port: [peer, "-m", peer_model, "--port", port, "-t", a.threads, "-tb", a.threads, "-c",
                           CONTEXT_PER_STREAM * max(streams), "--parallel", max(streams), "--cont-batching"]
    a.model.read_bytes(), peer_model.read_bytes()  # into the page cache
    limits, our_rows, peer_rows = [], [], []
    for repeat in range(a.repeat):
        limits.append(json.loads(programs.output_of(build / "bench" / "machine_limits", a.threads)))
        our_rows.append(measure(ours, "m", streams, repeat))
        peer_rows.append(measure(theirs, "m", streams, repeat))
        print(f"repeat {repeat + 1} of {a.repeat} done", file=sys.stderr)
    result = {
        "date": datetime.date.today().isoformat(), "model": a.model.name, "peer_model": peer_model.name,
        "file_mb": round(a.model.stat().st_size / 2**20, 1), "cpu": programs.cpu_name(), "threads": a.threads,
        "repeat": a.repeat,
        "read_gb_s": statistics.median(row["read_gb_s"] for row in limits),
        "int8_gop_s": statistics.median(row["int8_gop_s"] for row in limits),
        "pagoda": medians(our_rows, streams), "llama.cpp": medians(peer_rows, streams),
    }
    result["ratio"] = {
        count: {name: round(result["pagoda"][count][name] / result["llama.cpp"][count][name], 3)
                for name in ("output_tok_s", "ttft_p50_ms")} for count in streams
    }
    print_table(result, streams)
    if a.out:
        a.out.parent.mkdir(parents=True, exist_ok=True)
        a.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
