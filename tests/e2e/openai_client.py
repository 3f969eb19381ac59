#!/usr/bin/env python3
"""The official openai client against a running server: openai_client.py --url http://127.0.0.1:8000

Needs the package openai. Greedy requests, so that answers can be compared with one another.
"""
import argparse
import asyncio
import math
import sys

from report import Report, expect

try:
    import openai
except ImportError:
    print("skipped: the Python package openai is not installed (tests/requirements.txt)")
    sys.exit(77)

MESSAGES = [{"role": "user", "content": "Name the capital of France."}]


class ClientTests:
    def __init__(self, url, key):
        self.client = openai.OpenAI(base_url=url + "/v1", api_key=key, max_retries=0)
        self.async_client = openai.AsyncOpenAI(base_url=url + "/v1", api_key=key, max_retries=0)
        self.model = self.client.models.list().data[0].id

    def chat(self, **fields):
        fields = {"model": self.model, "messages": MESSAGES, "max_tokens": 24, "temperature": 0, **fields}
        return self.client.chat.completions.create(**fields)

    def complete(self, **fields):
        fields = {"model": self.model, "prompt": "1, 2, 3, 4,", "max_tokens": 12, "temperature": 0, **fields}
        return self.client.completions.create(**fields)

    def models(self):
        card = self.client.models.retrieve(self.model)
        expect(card.id == self.model and card.object == "model", f"{card}")

    def chat_whole(self):
        answer = self.chat()
        choice = answer.choices[0]
        expect(answer.id.startswith("chatcmpl-") and answer.object == "chat.completion", f"{answer}")
        expect(choice.message.role == "assistant" and choice.message.content, f"{choice}")
        expect(choice.finish_reason in ("stop", "length"), f"{choice.finish_reason}")
        usage = answer.usage
        expect(usage.total_tokens == usage.prompt_tokens + usage.completion_tokens, f"{usage}")

    def chat_stream_equals_whole(self):
        whole = self.chat().choices[0]
        text, reason, roles = "", None, 0
        for chunk in self.chat(stream=True):
            delta = chunk.choices[0].delta
            roles += delta.role is not None
            text += delta.content or ""
            reason = chunk.choices[0].finish_reason or reason
        expect(roles == 1, f"{roles} chunks with a role")
        expect((text, reason) == (whole.message.content, whole.finish_reason), f"{text!r} {whole}")

    def chat_stream_usage(self):
        chunks = list(self.chat(stream=True, stream_options={"include_usage": True}))
        expect([bool(chunk.usage) for chunk in chunks[:-1]] == [False] * (len(chunks) - 1), "usage before the end")
        expect(chunks[-1].choices == [] and chunks[-1].usage.completion_tokens > 0, f"{chunks[-1]}")

    def chat_stream_helper(self):
        # This part of the client takes an answer that was cut off for an error.
        with self.client.chat.completions.stream(
            model=self.model, messages=MESSAGES, stop="a", temperature=0
        ) as stream:
            for _ in stream:
                pass
            final = stream.get_final_completion()
        expect(final.choices[0].message.content == self.chat(stop="a").choices[0].message.content, f"{final}")

    def chat_logprobs(self):
        choice = self.chat(logprobs=True, top_logprobs=3, max_tokens=6).choices[0]
        content = choice.logprobs.content
        joined = b"".join(bytes(entry.bytes) for entry in content).decode()
        expect(joined.startswith(choice.message.content), f"{joined!r} {choice.message.content!r}")
        for entry in content:
            expect(len(entry.top_logprobs) == 3, f"{entry}")
            values = [top.logprob for top in entry.top_logprobs]
            expect(values == sorted(values, reverse=True) and entry.logprob == values[0], f"greedy: {entry}")
            expect(sum(map(math.exp, values)) <= 1.0001, f"{values}")

    def chat_logprobs_stream(self):
        whole = self.chat(logprobs=True, top_logprobs=1, max_tokens=6).choices[0].logprobs.content
        streamed = []
        for chunk in self.chat(logprobs=True, top_logprobs=1, max_tokens=6, stream=True):
            if chunk.choices[0].logprobs:
                streamed += chunk.choices[0].logprobs.content
        expect([entry.token for entry in streamed] == [entry.token for entry in whole], f"{streamed}")
        # Logprobs do not depend on what else was in the batch, nor on a prefix found in the cache.
        expect([entry.logprob for entry in streamed] == [entry.logprob for entry in whole], f"{streamed} {whole}")

    def chat_n(self):
        answer = self.chat(n=3, temperature=1.5, seed=7, max_tokens=16)
        expect([choice.index for choice in answer.choices] == [0, 1, 2], f"{answer}")
        again = self.chat(n=3, temperature=1.5, seed=7, max_tokens=16)
        texts = [[choice.message.content for choice in one.choices] for one in (answer, again)]
        expect(texts[0] == texts[1], f"the same seed gave {texts}")
        expect(len(set(texts[0])) > 1, f"three equal choices: {texts[0]}")

    def chat_stop(self):
        whole = self.chat(max_tokens=24).choices[0].message.content
        word = whole.split()[1]
        choice = self.chat(stop=[word]).choices[0]
        expect(choice.finish_reason == "stop" and choice.model_extra["stop_reason"] == word, f"{choice}")
        expect(choice.message.content == whole[: whole.index(word)], f"{choice.message.content!r} of {whole!r}")

    def chat_extras(self):
        choice = self.chat(extra_body={"top_k": 1, "min_p": 0.1, "ignore_eos": True, "return_token_ids": True,
                                       "repetition_penalty": 1.1}, max_tokens=5).choices[0]
        expect(len(choice.model_extra["token_ids"]) == 5 and choice.finish_reason == "length", f"{choice}")

    def completion_whole(self):
        answer = self.complete()
        expect(answer.object == "text_completion" and answer.choices[0].text, f"{answer}")
        expect(answer.usage.completion_tokens <= 12, f"{answer.usage}")

    def completion_stream_equals_whole(self):
        text = "".join(chunk.choices[0].text for chunk in self.complete(stream=True))
        expect(text == self.complete().choices[0].text, text)

    def completion_many_prompts(self):
        answer = self.complete(prompt=["1, 2, 3, 4,", "a, b, c, d,"], n=2)
        expect([choice.index for choice in answer.choices] == [0, 1, 2, 3], f"{answer}")
        alone = self.complete(prompt="a, b, c, d,").choices[0].text
        expect(answer.choices[2].text == answer.choices[3].text == alone, f"{answer} {alone!r}")

    def completion_echo_logprobs(self):
        choice = self.complete(echo=True, logprobs=2, max_tokens=3).choices[0]
        expect(choice.text.startswith("1, 2, 3, 4,"), choice.text)
        logprobs = choice.logprobs
        lengths = {len(getattr(logprobs, name)) for name in ("tokens", "token_logprobs", "top_logprobs", "text_offset")}
        expect(len(lengths) == 1, f"{lengths}")
        expect(logprobs.token_logprobs[0] is None and logprobs.token_logprobs[-1] <= 0, f"{logprobs}")
        expect(all(2 <= len(top) <= 3 for top in logprobs.top_logprobs[1:]), f"{logprobs.top_logprobs}")
        for token, offset in zip(logprobs.tokens, logprobs.text_offset):
            if not token.startswith(("<", "bytes:")):
                expect(choice.text[offset:].startswith(token) or token.startswith(" "), f"{token!r} at {offset}")

    def completion_ids(self):
        answer = self.complete(prompt="Hello world", max_tokens=4, extra_body={"return_token_ids": True}).choices[0]
        ids = answer.model_extra["prompt_token_ids"]
        same = self.complete(prompt=ids, max_tokens=4).choices[0]
        expect(same.text == answer.text, f"{same.text!r} {answer.text!r}")

    def errors(self):
        for expected, fields in [
            (openai.NotFoundError, {"model": "no-such-model"}),
            (openai.BadRequestError, {"temperature": -1}),
            (openai.BadRequestError, {"messages": []}),
            (openai.BadRequestError, {"max_tokens": 10**8}),
            (openai.BadRequestError, {"response_format": {"type": "json_object"}}),
        ]:
            try:
                self.chat(**fields)
            except expected as error:
                expect(error.body["code"] == error.status_code and error.body["message"], f"{error.body}")
                continue
            raise AssertionError(f"{fields} was accepted")

    def async_many(self):
        async def run():
            async def one(i):
                text = ""
                stream = await self.async_client.chat.completions.create(
                    model=self.model, messages=[{"role": "user", "content": f"Count from {i}."}], max_tokens=12,
                    temperature=0, stream=True)
                async for chunk in stream:
                    text += chunk.choices[0].delta.content or ""
                return text

            together = await asyncio.gather(*(one(i) for i in range(8)))
            alone = [await one(i) for i in range(8)]
            await self.async_client.close()
            return together, alone

        together, alone = asyncio.run(run())
        expect(together == alone, f"together {together}, alone {alone}")


CHECKS = [
    "models", "chat_whole", "chat_stream_equals_whole", "chat_stream_usage", "chat_stream_helper", "chat_logprobs",
    "chat_logprobs_stream", "chat_n", "chat_stop", "chat_extras", "completion_whole", "completion_stream_equals_whole",
    "completion_many_prompts", "completion_echo_logprobs", "completion_ids", "errors", "async_many",
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", required=True)
    parser.add_argument("--key", default="none", help="the server's API key")
    options = parser.parse_args()
    tests = ClientTests(options.url, options.key)
    report = Report()
    for name in CHECKS:
        report.check(name, getattr(tests, name))
    report.finish()


if __name__ == "__main__":
    main()
