#!/usr/bin/env python3
"""The same requests give the same bytes, whatever else the server does: determinism.py PAGODA MODEL [--requests N] [--short]

Each request is first answered alone by a server that reuses nothing. Then the same requests go to servers that batch
them, cut their prompts into chunks, run out of KV blocks (and compute again, or swap), find prefixes, guess tokens,
and compute with one thread or two. Every answer (text, token ids, logprobs, finish reason) must be the one that was given alone; and
the metrics must say that what a case is about has happened.
"""
import argparse
import collections
import json
import sys
import threading
import time

from report import Report, expect
from server import Server, ServerFault, cached_model

WORDS = ("river stone lantern seven window garden 42 mountain silver bread winter question harbour yellow engine "
         "letter market island copper thunder").split()
SHARED = "Read these notes first. " + " ".join(WORDS[i * i % len(WORDS)] for i in range(180)) + "."


def notes(number, words):
    return " ".join(WORDS[(number * 7 + i * (1 + number % 3)) % len(WORDS)] for i in range(words))


# What sampling is asked for, by turns.
SAMPLING = [
    {"temperature": 0},
    {"temperature": 0.9, "seed": 11},
    {"temperature": 1.3, "seed": 12, "top_p": 0.9, "top_k": 50},
    {"temperature": 0, "repetition_penalty": 1.2},
    {"temperature": 0.7, "seed": 13, "min_p": 0.05, "presence_penalty": 0.5, "frequency_penalty": 0.3},
]


def requests_of(count, chat):
    """(path, body): chats (where the model has a template) and completions of 10 to 700 prompt tokens, half of them
    streamed, some with n = 2."""
    requests = []
    for i in range(count):
        body = {"max_tokens": 20 + 10 * (i % 5), "ignore_eos": i % 3 == 0, "return_token_ids": True,
                "stream": i % 2 == 1, **SAMPLING[i % len(SAMPLING)]}
        if i % 4 == 3:
            # A completion of two choices: they share their prompt's blocks until they part.
            text = notes(i, 20 + 40 * (i % 3)) + f" {i}:"
            body |= {"prompt": text, "logprobs": 2, "n": 2, "max_tokens": 32}
            requests.append(("/v1/completions", body))
            continue
        question = f"What follows after {notes(i, 3)}?"
        text = {0: question, 1: SHARED + " " + question, 2: notes(i, 60 + 420 * i // count) + ". " + question}[i % 4]
        if not chat:
            requests.append(("/v1/completions", body | {"prompt": text, "logprobs": 3}))
            continue
        body |= {"messages": [{"role": "user", "content": text}], "logprobs": True, "top_logprobs": 3}
        requests.append(("/v1/chat/completions", body))
    return requests


def joined(choice, delta):
    """A choice of a streamed answer, so far, with what one event adds."""
    message = delta.get("delta", {})
    choice["text"] += message.get("content") or delta.get("text") or ""
    choice["token_ids"] += delta.get("token_ids") or []
    choice["finish_reason"] = delta.get("finish_reason") or choice["finish_reason"]
    logprobs = delta.get("logprobs") or {}
    if "content" in logprobs:
        choice["logprobs"] += logprobs["content"]
    elif logprobs:
        choice["logprobs"] += list(zip(logprobs["tokens"], logprobs["token_logprobs"], logprobs["top_logprobs"]))


def answer(client, path, body):
    """What must not change, as JSON text."""
    got = client.post(path, body)
    expect(got.status == 200, f"{got.status}: {got.body[:300]}")
    choices = collections.defaultdict(lambda: {"text": "", "token_ids": [], "logprobs": [], "finish_reason": None})
    if body["stream"]:
        expect(got.events[-1] == "[DONE]", f"{got.body[-200:]}")
        for event in got.events[:-1]:
            expect("error" not in event, f"{event}")
            for delta in event["choices"]:
                joined(choices[delta["index"]], delta)
    else:
        for whole in got.json["choices"]:
            joined(choices[whole["index"]], {"delta": whole.get("message", {}), **whole})
    for choice in choices.values():
        expect(choice["token_ids"] and len(choice["token_ids"]) == len(choice["logprobs"]),
               f"{len(choice['token_ids'])} ids, {len(choice['logprobs'])} logprobs: {got.body[:300]}")
    return json.dumps(choices, sort_keys=True)


def ask_alone(client, requests):
    return [answer(client, *request) for request in requests]


def ask_together(client, requests):
    answers = [None] * len(requests)

    def ask(i):
        try:
            answers[i] = answer(client, *requests[i])
        except Exception as error:  # shown as this answer's difference
            answers[i] = f"{type(error).__name__}: {error}"

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(len(requests))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def compare(found, wanted, what):
    wrong = [i for i in range(len(wanted)) if found[i] != wanted[i]]
    if not wrong:
        return
    i = wrong[0]
    at = next((k for k, (a, b) in enumerate(zip(found[i], wanted[i])) if a != b), 0)
    begin = max(0, at - 60)
    expect(False, f"{what}: {len(wrong)} of {len(wanted)} answers differ; request {i}: "
                  f"…{found[i][begin:at + 60]!r} is not …{wanted[i][begin:at + 60]!r}")


MOST_TURNS = 4


class Case:
    """One server's flags, what it must have done, and what it must not. All requests are asked at once, in turn after
    turn: twice where the first turn only prepares, and again while what must happen has not (who is preempted depends
    on how they arrive).
    """

    def __init__(self, name, flags, happened=(), absent=(), turns=1):
        self.name, self.flags, self.happened, self.absent, self.turns = name, flags, happened, absent, turns


PREEMPTED = "vllm:num_preemptions_total"
SWAPPED = ("pagoda:kv_swapped_out_bytes_total", "pagoda:kv_swapped_in_bytes_total")
HITS = "vllm:prefix_cache_hits_total"
GUESSED = "vllm:spec_decode_num_accepted_tokens_total"
GUESSES = '--speculative-config {"method":"ngram","prompt_lookup_min":1,"disable_by_batch_size":0}'


def cases(few_blocks, model):
    by_model = json.dumps({"model": model, "num_speculative_tokens": 3}, separators=(",", ":"))
    tight = f"--num-gpu-blocks-override {few_blocks}"
    return [
        Case("among the others", "--no-enable-prefix-caching", absent=(PREEMPTED, HITS)),
        Case("one thread, among the others", "--no-enable-prefix-caching --threads 1"),
        Case("in chunks", "--no-enable-prefix-caching --max-num-batched-tokens 40", absent=(HITS,)),
        Case("prefix hits", "--enable-prefix-caching", happened=(HITS,), absent=(PREEMPTED,), turns=2),
        Case("tokens guessed by a model", f"--no-enable-prefix-caching --speculative-config {by_model}", happened=(GUESSED,)),
        Case("preempted, computed again", f"--no-enable-prefix-caching {tight}", happened=(PREEMPTED,),
             absent=(*SWAPPED, HITS)),
        Case("preempted, swapped", f"--no-enable-prefix-caching --swap-space 1 {tight}",
             happened=(PREEMPTED, *SWAPPED), absent=(HITS,)),
        Case("all at once: one thread, chunks, hits, little swap space",
             f"--threads 1 --max-num-batched-tokens 72 --swap-space 0.002 {tight}",
             happened=(PREEMPTED, *SWAPPED, HITS)),
        Case("several guessed tokens in a step", f"{GUESSES} --swap-space 1 {tight}",
             happened=(GUESSED, PREEMPTED, *SWAPPED)),
    ]


def run_case(case, command, requests, wanted):
    with Server([*command, *case.flags.split()]) as server:
        for turn in range(MOST_TURNS):
            compare(ask_together(server.client, requests), wanted, case.name)
            if turn + 1 >= case.turns and all(server.client.metric(name) > 0 for name in case.happened):
                break
        metrics = {name: server.client.metric(name) for name in (*case.happened, *case.absent, PREEMPTED, *SWAPPED, HITS)}
        for name in case.happened:
            expect(metrics[name] > 0, f"{name} is 0: the case did not happen")
        for name in case.absent:
            expect(metrics[name] == 0, f"{name} is {metrics[name]:.0f}")
        server.client.wait_for_metric("pagoda:kv_cache_used_bytes", 0, 5)
    preemptions, out, back, hits = (metrics[name] for name in (PREEMPTED, *SWAPPED, HITS))
    return f"{preemptions:.0f} preemptions, {out / 1e6:.1f} MB out, {back / 1e6:.1f} MB back, {hits:.0f} tokens found"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("model")
    parser.add_argument("--requests", type=int, default=32)
    parser.add_argument("--few-blocks", type=int, default=80, help="KV blocks that are too few for all")
    parser.add_argument("--short", action="store_true", help="only the last three cases: most happens in them")
    options = parser.parse_args()
    model = cached_model(options.model)
    if model is None:
        return 77
    command = [options.program, "serve", model, "--max-model-len", "1024"]
    began = time.monotonic()
    try:
        with Server([*command, "--no-enable-prefix-caching"]) as server:
            probe = {"messages": [{"role": "user", "content": "a"}], "max_tokens": 1}
            chat = server.client.post("/v1/chat/completions", probe).status == 200
            requests = requests_of(options.requests, chat)
            wanted = ask_alone(server.client, requests)
            expect(server.client.metric(PREEMPTED) == 0, "preempted while alone")
    except (AssertionError, ServerFault) as error:
        print(f"failed: {error}")
        return 1
    print(f"{len(wanted)} answers, each asked alone: {time.monotonic() - began:.1f} s", flush=True)
    report = Report()
    for case in cases(options.few_blocks, model)[-3 if options.short else 0 :]:
        began = time.monotonic()
        report.check(case.name, lambda: f"{run_case(case, command, requests, wanted)}, {time.monotonic() - began:.1f} s")
    report.finish()


if __name__ == "__main__":
    sys.exit(main())
