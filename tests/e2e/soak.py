#!/usr/bin/env python3
"""64 streams at once for two minutes, cancelled at random: soak.py PAGODA MODEL [--seconds N] [--seed N]

Two kinds of requests, mixed lengths and parameters. Known ones: their whole answer was taken beforehand, alone. Marked
ones: a bias forces one token, each request's own, so that every event of the answer says whose it is. Every request
must come back whole and as its own, or have been cancelled here. Afterwards nothing runs or waits, every KV block is
free, and the server is as large as it was after the warm-up. Few KV blocks and a little swap space: sequences are
preempted all the while.
"""
import argparse
import http.client
import json
import random
import statistics
import sys
import threading
import time

from report import Report, expect
from server import Server, ServerFault, cached_model

STREAMS = 64
WARM_UP_SECONDS = 30
MOST_GROWTH_MB = 16
FLAGS = (f"--max-model-len 1024 --max-num-seqs {STREAMS} --num-gpu-blocks-override 200 --swap-space 0.02 "
         "--enable-request-id-headers --disable-access-log").split()
WORDS = "amber basket cliff dolphin ember forest glacier hollow iris jungle kettle lagoon meadow nectar olive".split()
MARKER_TOKENS = range(1000, 30000)
SAMPLING = [{"temperature": 0}, {"temperature": 0.8, "seed": 5}, {"temperature": 1.2, "seed": 6, "top_p": 0.9, "top_k": 40},
            {"temperature": 0, "repetition_penalty": 1.1}, {"temperature": 0.9, "seed": 7, "min_p": 0.05}]


def text_of(randomness, words):
    return " ".join(randomness.choice(WORDS) for _ in range(words))


def known_request(randomness, number):
    """One of the requests whose answers are taken beforehand."""
    body = {"max_tokens": randomness.choice((8, 24, 60)), "return_token_ids": True, "ignore_eos": True,
            **SAMPLING[number % len(SAMPLING)]}
    text = text_of(randomness, randomness.choice((3, 12, 40, 120)))
    if number % 2:
        return "/v1/completions", body | {"prompt": text, "n": 1 + number % 3 // 2}
    return "/v1/chat/completions", body | {"messages": [{"role": "user", "content": text}]}


def marked_request(randomness):
    """(path, body, marker)"""
    marker = randomness.choice(MARKER_TOKENS)
    body = {"prompt": f"{marker} " + text_of(randomness, randomness.choice((2, 8, 30, 120))),
            "max_tokens": randomness.choice((1, 24, 64)), "ignore_eos": True, "return_token_ids": True,
            "logit_bias": {str(marker): 100}, **randomness.choice(SAMPLING)}
    return "/v1/completions", body, marker


def answer_of(events):
    """Token ids and finish reason by choice."""
    choices = {}
    for event in events:
        for delta in event["choices"]:
            choice = choices.setdefault(delta["index"], [[], None])
            choice[0] += delta.get("token_ids") or []
            choice[1] = delta.get("finish_reason") or choice[1]
    return choices


def ask(client, path, body, request_id, most_events=None):
    """The events of a streamed answer, or None where it was cancelled after `most_events`."""
    connection = http.client.HTTPConnection(client.host, client.port, timeout=120)
    try:
        connection.request("POST", path, json.dumps({**body, "stream": True}),
                           {"Content-Type": "application/json", "X-Request-Id": request_id})
        if most_events == 0:
            return None
        response = connection.getresponse()
        if response.status != 200:
            raise AssertionError(f"{response.status}: {response.read(300)}")
        events = []
        for line in response:
            if not line.startswith(b"data: "):
                continue
            if line == b"data: [DONE]\n":
                return events
            event = json.loads(line[len(b"data: "):])
            expect("error" not in event, f"{event}")
            expect(event["id"].endswith(request_id), f"{request_id} got an event of {event['id']}")
            events.append(event)
            if most_events is not None and len(events) >= most_events:
                return None
        raise AssertionError(f"{request_id}: the stream ended without [DONE] after {len(events)} events")
    finally:
        connection.close()


class Load:
    def __init__(self, client, known, seed, seconds):
        self.client, self.known, self.seed = client, known, seed
        self.until = time.monotonic() + seconds
        self.lock = threading.Lock()
        self.sent = self.whole = self.cancelled = 0
        self.problems = []

    def count(self, name):
        with self.lock:
            setattr(self, name, getattr(self, name) + 1)

    def one(self, randomness, request_id):
        most_events = randomness.choice((0, 1, 2, 5, 12, 30)) if randomness.random() < 0.35 else None
        if randomness.random() < 0.5:
            path, body, marker = marked_request(randomness)
            wanted = {0: [[marker] * body["max_tokens"], "length"]}
        else:
            (path, body), wanted = randomness.choice(self.known)
        self.count("sent")
        events = ask(self.client, path, body, request_id, most_events)
        if events is None:
            self.count("cancelled")
            return
        found = answer_of(events)
        expect(found == wanted, f"{request_id}: {str(found)[:200]} is not {str(wanted)[:200]}")
        self.count("whole")

    def stream(self, number):
        randomness = random.Random(self.seed * 1000 + number)
        turn = 0
        while time.monotonic() < self.until:
            try:
                self.one(randomness, f"soak-{number}-{turn}")
            except Exception as error:  # counted; the others go on
                with self.lock:
                    self.problems.append(f"{type(error).__name__}: {error}")
            turn += 1

    def run(self, watch):
        threads = [threading.Thread(target=self.stream, args=(number,)) for number in range(STREAMS)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            watch()
            time.sleep(0.5)


def resident_mb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        line = next(line for line in status if line.startswith("VmRSS:"))
    return int(line.split()[1]) / 1024


class Watch:
    """The server's size over time, and the most requests that it had at once."""

    def __init__(self, server):
        self.server, self.began = server, time.monotonic()
        self.sizes, self.most_at_once = [], 0

    def __call__(self):
        self.sizes.append((time.monotonic() - self.began, resident_mb(self.server.process.pid)))
        at_once = sum(self.server.client.metric(f"vllm:num_requests_{state}") for state in ("running", "waiting", "swapped"))
        self.most_at_once = max(self.most_at_once, at_once)

    def growth_mb(self, warm_up_s):
        """From the ten seconds after the warm-up to the last ten."""
        warm = [size for at, size in self.sizes if warm_up_s <= at < warm_up_s + 10]
        last = [size for at, size in self.sizes if at >= self.sizes[-1][0] - 10]
        return statistics.median(warm), statistics.median(last)


def nothing_left(client):
    for state in ("running", "waiting", "swapped"):
        client.wait_for_metric(f"vllm:num_requests_{state}", 0, 10)
    client.wait_for_metric("pagoda:kv_cache_used_bytes", 0, 5)
    free, blocks = client.metric("pagoda:kv_cache_free_blocks"), client.metric("pagoda:kv_cache_blocks")
    expect(free == blocks, f"{free:.0f} of {blocks:.0f} blocks are free")
    expect(client.get("/health").status == 200, "not healthy")
    return f"{blocks:.0f} blocks are free, nothing runs or waits"


def every_request_accounted(load):
    expect(not load.problems, f"{len(load.problems)} of {load.sent}: {load.problems[:3]}")
    expect(load.sent == load.whole + load.cancelled, f"{load.sent} sent, {load.whole} whole, {load.cancelled} cancelled")
    expect(load.whole > STREAMS and load.cancelled > STREAMS, f"too few: {load.whole} whole, {load.cancelled} cancelled")
    return f"{load.sent} sent, {load.whole} whole and their own, {load.cancelled} cancelled here"


def busy_enough(client, watch):
    expect(watch.most_at_once >= STREAMS * 0.8, f"at most {watch.most_at_once:.0f} at once")
    preemptions = client.metric("vllm:num_preemptions_total")
    swapped = client.metric("pagoda:kv_swapped_out_bytes_total")
    expect(preemptions > 0 and swapped > 0, f"{preemptions:.0f} preemptions, {swapped:.0f} bytes swapped")
    return (f"up to {watch.most_at_once:.0f} at once, {preemptions:.0f} preemptions, {swapped / 1e6:.0f} MB swapped out, "
            f"{client.metric('vllm:generation_tokens_total'):.0f} tokens")


def flat(watch, warm_up_s):
    warm, last = watch.growth_mb(warm_up_s)
    expect(last - warm <= MOST_GROWTH_MB, f"{warm:.0f} MB after the warm-up, {last:.0f} MB at the end")
    return f"{warm:.1f} MB after the warm-up, {last:.1f} MB at the end"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("model")
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    model = cached_model(options.model)
    if model is None:
        return 77
    warm_up_s = min(WARM_UP_SECONDS, options.seconds / 3)
    report = Report()
    try:
        with Server([options.program, "serve", model, *FLAGS]) as server:
            randomness = random.Random(options.seed)
            requests = [known_request(randomness, number) for number in range(24)]
            known = [(request, answer_of(ask(server.client, *request, f"alone-{i}"))) for i, request in enumerate(requests)]
            watch, load = Watch(server), Load(server.client, known, options.seed, options.seconds)
            load.run(watch)
            report.check("none lost, none mixed up", every_request_accounted, load)
            report.check("everything given back", nothing_left, server.client)
            report.check("busy enough", busy_enough, server.client, watch)
            report.check("resident memory", flat, watch, warm_up_s)
    except ServerFault as fault:
        print(f"failed: {fault}")
        return 1
    report.finish()


if __name__ == "__main__":
    sys.exit(main())
