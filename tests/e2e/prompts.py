#!/usr/bin/env python3
"""Ten questions to a running server through the official openai client: prompts.py --url http://127.0.0.1:8000

prompts.json holds the f32 reference's answers and the words that must stand in any sound one
(tools/make_e2e_prompts.py). Each question is asked by the synchronous client, by the asynchronous one (all ten at
once) and as a stream: the words must be there, and the three answers must be the same.
"""
import argparse
import asyncio
import json
import pathlib
import sys

from plain_client import PlainClient
from report import Report, expect

try:
    import openai
except ImportError:
    print("skipped: the Python package openai is not installed (tests/requirements.txt)")
    sys.exit(77)

FILE = json.loads((pathlib.Path(__file__).parent / "prompts.json").read_text(encoding="utf-8"))


def fields_of(model, prompt):
    return {"model": model, "messages": [{"role": "user", "content": prompt["question"]}],
            "temperature": FILE["temperature"], "max_tokens": FILE["max_tokens"]}


def whole(client, fields):
    return client.chat.completions.create(**fields).choices[0].message.content


def streamed(client, fields):
    return "".join(chunk.choices[0].delta.content or "" for chunk in client.chat.completions.create(**fields, stream=True))


async def ask_all(url, all_fields):
    async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
        answers = await asyncio.gather(*(client.chat.completions.create(**fields) for fields in all_fields))
    return [answer.choices[0].message.content for answer in answers]


def check(prompt, answers):
    expect(prompt["expected"] in prompt["reference"], f"the reference's answer lacks {prompt['expected']!r}")
    for way, answer in answers.items():
        expect(prompt["expected"] in answer, f"{way}: {prompt['expected']!r} is not in {answer!r}")
    expect(len(set(answers.values())) == 1, f"{answers}")
    return "as the reference" if answers["sync"] == prompt["reference"] else repr(answers["sync"][:60])


def all_arrived(url):
    """The client closes a stream's connection on its last event: the server must not take that for a client lost."""
    text = PlainClient(url).get("/metrics").body.decode()
    counts = [line for line in text.splitlines() if line.startswith("http_requests_total") and '"4xx"' in line]
    expect(counts and all(line.endswith(" 0") for line in counts), f"{counts}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", required=True)
    server = parser.parse_args().url
    url = server + "/v1"
    client = openai.OpenAI(base_url=url, api_key="none", max_retries=0)
    all_fields = [fields_of(client.models.list().data[0].id, prompt) for prompt in FILE["prompts"]]
    together = asyncio.run(ask_all(url, all_fields))
    report = Report()
    for prompt, fields, at_once in zip(FILE["prompts"], all_fields, together, strict=True):
        answers = {"sync": whole(client, fields), "stream": streamed(client, fields), "async": at_once}
        report.check(prompt["question"], check, prompt, answers)
    expect(report.passed + report.failed == 10, "ten questions")
    report.check("every answer arrived", all_arrived, server)
    report.finish()


if __name__ == "__main__":
    main()
