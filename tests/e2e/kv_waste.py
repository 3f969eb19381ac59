#!/usr/bin/env python3
"""KV memory that is allocated and holds no token: kv_waste.py PAGODA MODEL

32 mixed requests of at least 256 tokens on average; /metrics is read all the while. In every reading the waste is at
most one block for each running sequence, and under 4 % while all 32 run.
"""
import re
import sys
import threading
import time

from report import Report, expect
from server import Server, ServerFault, cached_model

REQUESTS = 32
MOST_WASTED = 0.04
GAUGES = {
    "running": "vllm:num_requests_running", "used": "pagoda:kv_cache_used_bytes", "waste": "pagoda:kv_cache_waste_bytes",
    "blocks": "pagoda:kv_cache_blocks", "free": "pagoda:kv_cache_free_blocks",
}


def reading(client):
    """The gauges of one /metrics answer: they are of one moment."""
    text = client.get("/metrics").body.decode()
    values = {}
    for key, name in GAUGES.items():
        found = re.findall(rf"^{name}{{.*}} (\S+)$", text, re.M)
        expect(len(found) == 1, f"{name}: {found}")
        values[key] = float(found[0])
    return values


def prompts_of(client):
    """32 token lists: short ones, middling and long, 270 tokens on average. Their first tokens differ, so that they share
    no block: a shared one would be counted as used once."""
    words = client.post("/tokenize", {"prompt": "one two three four five six seven eight nine ten " * 60}).json["tokens"]
    lengths = [(40, 130, 330, 580)[i % 4] + 3 * (i % 7 - 3) for i in range(REQUESTS)]
    return [[1000 + i, *words[: length - 1]] for i, length in enumerate(lengths)]


def ask(client, prompt, problems):
    body = {"prompt": prompt, "max_tokens": 48, "ignore_eos": True, "temperature": 0}
    answer = client.post("/v1/completions", body)
    if answer.status != 200 or answer.json["usage"]["completion_tokens"] != 48:
        problems.append(answer.body[:200])


def observe(client):
    """All readings from before the first request until the last one is done."""
    prompts = prompts_of(client)
    expect(sum(map(len, prompts)) >= 256 * REQUESTS, f"{sum(map(len, prompts)) / REQUESTS:.0f} tokens on average")
    problems, readings = [], [reading(client)]
    threads = [threading.Thread(target=ask, args=(client, prompt, problems)) for prompt in prompts]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        readings.append(reading(client))
        time.sleep(0.02)
    expect(not problems, f"{problems}")
    client.wait_for_metric(GAUGES["running"], 0, 5)
    readings.append(reading(client))
    return readings


def waste(client):
    readings = observe(client)
    for one in readings:
        if one["running"] == 0:
            expect(one["used"] == one["waste"] == 0 and one["free"] == one["blocks"], f"held by nobody: {one}")
            continue
        block_bytes = one["used"] / (one["blocks"] - one["free"])
        expect(one["waste"] <= one["running"] * block_bytes, f"more than a block per sequence: {one}")
    full = [one["waste"] / one["used"] for one in readings if one["running"] == REQUESTS]
    expect(len(full) >= 20, f"only {len(full)} of {len(readings)} readings with all {REQUESTS} running")
    expect(max(full) < MOST_WASTED, f"{max(full):.2%} wasted with all {REQUESTS} running")
    return f"{len(full)} readings with {REQUESTS} running: waste {min(full):.2%} to {max(full):.2%} of the used KV"


def main():
    program, model = sys.argv[1], cached_model(sys.argv[2])
    if model is None:
        return 77
    report = Report()
    try:
        with Server([program, "serve", model, "--max-model-len", "1024"]) as server:
            report.check("waste", waste, server.client)
    except ServerFault as fault:
        print(f"failed: {fault}")
        return 1
    report.finish()


if __name__ == "__main__":
    sys.exit(main())
