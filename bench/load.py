#!/usr/bin/env python3
"""A bounded load of streamed chat requests on one OpenAI-compatible server, and what its clients saw.

    bench/load.py --url http://127.0.0.1:8000 --model NAME --streams 32 --requests 64 [--prompt-words 256]
                  [--max-tokens 128] [--seed 1]

A closed loop: each stream sends its next request when the last one is answered. Prompts are common English words from a
seeded generator: each request's text is its own, and the same for every server. Tokens are counted by the server's own
`usage`. Prints one JSON object. Needs aiohttp.

  ttft   from the request's last byte to the first piece of content
  itl    between two pieces of content
"""
import argparse
import asyncio
import dataclasses
import json
import random
import sys
import time

import aiohttp

WORDS = (
    "time year people way day man thing woman life child world school state family student group country problem hand "
    "part place case week company system program question work government number night point home water room mother "
    "area money story fact month lot right study book eye job word business issue side kind head house service friend "
    "father power hour game line end member law car city community name president team minute idea body information "
    "back parent face others level office door health person art war history party result change morning reason "
    "research girl guy moment air teacher force education").split()


@dataclasses.dataclass
class Answer:
    sent: float
    arrivals: list = dataclasses.field(default_factory=list)
    prompt_tokens: int = 0
    completion_tokens: int = 0
    error: str = ""


def prompt(options, index):
    """The shared words, equal for all requests of a seed, then the request's own."""
    shared, own = random.Random(f"{options.seed}/shared"), random.Random(f"{options.seed}/{index}")
    words = [shared.choice(WORDS) for _ in range(options.shared_words)]
    return " ".join(words + [own.choice(WORDS) for _ in range(options.prompt_words)])


def take_event(event, answer, now):
    if "error" in event:
        answer.error = str(event["error"])[:200]
    usage = event.get("usage")
    if usage:
        answer.prompt_tokens, answer.completion_tokens = usage["prompt_tokens"], usage["completion_tokens"]
    for choice in event.get("choices") or ():
        if choice.get("delta", {}).get("content"):
            answer.arrivals.append(now)


async def ask(session, options, index):
    body = {
        "model": options.model, "stream": True, "stream_options": {"include_usage": True}, "temperature": 0,
        "max_tokens": options.max_tokens, "ignore_eos": True,
        "messages": [{"role": "user", "content": prompt(options, index)}],
    }
    answer = Answer(time.perf_counter())
    try:
        async with session.post(options.url + "/v1/chat/completions", json=body) as response:
            if response.status != 200:
                answer.error = f"HTTP {response.status}: {(await response.text())[:200]}"
                return answer
            async for line in response.content:
                if not line.startswith(b"data:"):
                    continue
                data = line[5:].strip()
                if data == b"[DONE]":
                    break
                take_event(json.loads(data), answer, time.perf_counter())
    except (aiohttp.ClientError, asyncio.TimeoutError, ValueError) as error:
        answer.error = f"{type(error).__name__}: {error}"[:200]
    if not answer.arrivals and not answer.error:
        answer.error = "no content"
    return answer


def percentile(values, percent):
    ordered = sorted(values)
    if not ordered:
        return None
    place = (len(ordered) - 1) * percent / 100
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def summary(answers, seconds):
    good = [answer for answer in answers if not answer.error]
    ttft = [answer.arrivals[0] - answer.sent for answer in good]
    gaps = [b - a for answer in good for a, b in zip(answer.arrivals, answer.arrivals[1:])]
    tokens = sum(answer.completion_tokens for answer in good)
    ms = lambda value: None if value is None else round(1000 * value, 2)
    result = {
        "requests": len(answers), "errors": len(answers) - len(good), "seconds": round(seconds, 3),
        "prompt_tokens": sum(answer.prompt_tokens for answer in good), "output_tokens": tokens,
        "output_tok_s": round(tokens / seconds, 2),
        "ttft_p50_ms": ms(percentile(ttft, 50)), "ttft_p99_ms": ms(percentile(ttft, 99)),
        "itl_p50_ms": ms(percentile(gaps, 50)), "itl_p99_ms": ms(percentile(gaps, 99)),
    }
    if result["errors"]:
        result["first_error"] = next(answer.error for answer in answers if answer.error)
    return result


async def load(options):
    # A connection per request: some servers close idle ones at a moment of their own.
    connector = aiohttp.TCPConnector(limit=0, force_close=True)
    timeout = aiohttp.ClientTimeout(total=900)
    answers, indexes = [], iter(range(options.requests))

    async def stream(session):
        for index in indexes:
            answers.append(await ask(session, options, index))

    async with aiohttp.ClientSession(connector=connector, timeout=timeout, read_bufsize=1 << 20) as session:
        start = time.perf_counter()
        await asyncio.gather(*(stream(session) for _ in range(options.streams)))
        return summary(answers, time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--streams", type=int, default=1)
    parser.add_argument("--requests", type=int, default=2)
    parser.add_argument("--prompt-words", type=int, default=256)
    parser.add_argument("--shared-words", type=int, default=0, help="equal in all requests, before their own")
    parser.add_argument("--max-tokens", type=int, default=128)
    parser.add_argument("--seed", type=int, default=1)
    result = asyncio.run(load(parser.parse_args()))
    print(json.dumps(result))
    return 1 if result["errors"] else 0


if __name__ == "__main__":
    sys.exit(main())
