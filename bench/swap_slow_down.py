#!/usr/bin/env python3
"""How much longer requests take when their KV does not fit and waits in swap space, beside what `pagoda plan` expects.

  swap_slow_down.py PAGODA MODEL [--streams 16] [--length 1024] [--held 0.5] [--repeats 3]

Half of each sequence is prompt, half answer. Runs alternate between a pool that holds every stream and one that holds
a share of them (--held); of each the best counts: other work on the machine only ever adds. Prints one JSON object; the
exit status is 1 when plan and measurement differ by more than a quarter.
"""
import argparse
import concurrent.futures
import json
import pathlib
import random
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "e2e"))

from plain_client import PlainClient  # noqa: E402
from server import Server, cached_model  # noqa: E402

TOLERANCE = 0.25


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("model")
    parser.add_argument("--streams", type=int, default=16)
    parser.add_argument("--length", type=int, default=1024)
    parser.add_argument("--held", type=float, default=0.5)
    parser.add_argument("--repeats", type=int, default=3)
    return parser.parse_args()


def plan(options, model, pool=None):
    command = [options.program, "plan", model, "--gpu", "cpu", "--json", "--max-model-len", str(options.length),
               "--max-num-seqs", str(options.streams)]
    if pool:
        command += ["--kv-cache-memory-bytes", str(pool)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return json.loads(done.stdout)


def run(options, model, pool, swap_gib, seed):
    """Seconds until all streams have ended, and the server's counters."""
    command = [options.program, "serve", model, "--max-model-len", str(options.length), "--max-num-seqs",
               str(options.streams), "--kv-cache-memory-bytes", str(pool), "--swap-space", str(swap_gib)]
    half = options.length // 2
    generator = random.Random(seed)
    prompts = [[generator.randrange(5, 300) for _ in range(half)] for _ in range(options.streams)]
    with Server(command) as server:
        name = server.client.get("/v1/models").json["data"][0]["id"]

        def send(prompt):
            body = {"model": name, "prompt": prompt, "max_tokens": options.length - half, "ignore_eos": True,
                    "temperature": 0}
            answer = PlainClient(server.url, timeout=1200).request("POST", "/v1/completions", body)
            assert answer.status == 200, answer.body[:300]

        begun = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(options.streams) as pool_of_threads:
            list(pool_of_threads.map(send, prompts))
        seconds = time.monotonic() - begun
        metrics = server.client.get("/metrics").body.decode()
    preemptions = next(float(line.split()[-1]) for line in metrics.splitlines()
                       if line.startswith("vllm:num_preemptions_total"))
    return seconds, preemptions


def main():
    options = parse()
    model = options.model if pathlib.Path(options.model).exists() else cached_model(options.model)
    whole = plan(options, model)
    of_one = whole["memory_per_device"]["kv_one_sequence_bytes"]
    room = int(of_one * (options.streams + 1))
    tight = int(of_one * options.streams * options.held)
    expected = plan(options, model, tight)
    swap = next(rung for rung in expected["ladder"] if rung["kind"] == "swap")
    times = {"room": [], "tight": []}
    preemptions = 0
    for repeat in range(options.repeats):
        times["room"].append(run(options, model, room, 0, repeat)[0])
        seconds, preemptions = run(options, model, tight, of_one * options.streams / (1 << 30) + 1, repeat)
        times["tight"].append(seconds)
    measured = min(times["tight"]) / min(times["room"])
    off = swap["slow_down"] / measured - 1
    print(json.dumps({"model": pathlib.Path(model).name, "streams": options.streams, "length": options.length,
                      "held": round(expected["sequences"], 2), "preemptions": preemptions, "seconds": times,
                      "measured_slow_down": round(measured, 3), "planned_slow_down": swap["slow_down"],
                      "off": round(off, 3)}))
    sys.exit(abs(off) > TOLERANCE)


if __name__ == "__main__":
    main()
