#!/usr/bin/env python3
"""Reported faults of other servers, each a case that must not happen here.

  openai_cases.py --url http://127.0.0.1:8000 [--cases FILE]

A case is a request and what must come back, in words; CHECKS holds those words as code. The model "default" stands
for the served one. Structured output and forced tool calls must be refused by name as long as they are not built.
"""
import argparse
import copy
import json
import pathlib
import socket

from plain_client import PlainClient
from report import Report, expect


def expanded(value):
    """{"$repeat": [text, times]} → the text: long prompts do not stand in the file."""
    if isinstance(value, dict):
        if set(value) == {"$repeat"}:
            text, times = value["$repeat"]
            return text * times
        return {key: expanded(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [expanded(entry) for entry in value]
    return value


def changed(body, **fields):
    body = copy.deepcopy(body)
    body.update(fields)
    return body


def ok(answer):
    expect(answer.status == 200, f"status {answer.status}: {answer.body[:300]}")
    return answer


def refused(answer, *words):
    expect(answer.status == 400, f"status {answer.status} instead of 400: {answer.body[:300]}")
    error = answer.error
    expect(set(error) == {"message", "type", "param", "code"}, f"the error has the fields {sorted(error)}")
    expect(error["code"] == 400 and error["type"] == "BadRequestError", f"{error}")
    for word in words:
        expect(word in error["message"], f"the message does not say {word!r}: {error['message'][:300]}")
    return error


def streamed_text(answer):
    events = ok(answer).events
    expect(events[-1] == "[DONE]", "the stream does not end with [DONE]")
    pieces, reason = [], None
    for event in events[:-1]:
        expect("error" not in event, f"an error event: {event}")
        for choice in event["choices"]:
            pieces.append(choice["text"] if "text" in choice else choice["delta"].get("content") or "")
            reason = choice["finish_reason"] or reason
    return pieces, reason


def whole_text(answer):
    choice = ok(answer).json["choices"][0]
    return choice["text"] if "text" in choice else choice["message"]["content"]


def not_built_yet(client, case, field):
    """Refused by name, or None when the server has learned it."""
    answer = client.post(case["path"], case["body"])
    if answer.status != 400:
        return None
    refused(answer, field, "not supported in this build yet")
    client.assert_alive()
    return f"refused by name: {field} is not built yet"


def utf8_stream(client, case):
    pieces, _ = streamed_text(client.post(case["path"], case["body"]))
    for piece in pieces:
        expect("\ufffd" not in piece, f"U+FFFD in the chunk {piece!r}")
    whole = whole_text(client.post(case["path"], changed(case["body"], stream=False)))
    expect("".join(pieces) == whole, f"streamed {''.join(pieces)!r}, whole {whole!r}")


def stop_spanning_tokens(client, case):
    stop = case["body"]["stop"][0]
    pieces, reason = streamed_text(client.post(case["path"], case["body"]))
    free = whole_text(client.post(case["path"], changed(case["body"], stream=False, stop=None)))
    expect(stop in free, f"the model never says {stop!r}: the case tests nothing ({free!r})")
    expect("".join(pieces) == free[: free.index(stop)], f"{''.join(pieces)!r} is not what stands before {stop!r} in {free!r}")
    expect(reason == "stop", f"finish_reason {reason}")


def logit_bias_out_of_range(client, case):
    error = refused(client.post(case["path"], case["body"]), "logit_bias")
    expect(error["param"] == "logit_bias", f"param {error['param']}")
    client.assert_alive()


def max_tokens_zero(client, case):
    choice = ok(client.post(case["path"], case["body"])).json["choices"][0]
    expect(choice["text"] == case["body"]["prompt"], f"the text is {choice['text']!r}")
    logprobs = choice["logprobs"]
    expect(logprobs["tokens"] and logprobs["token_logprobs"][0] is None, f"{logprobs}")
    expect(all(value < 0 for value in logprobs["token_logprobs"][1:]), f"{logprobs['token_logprobs']}")
    default = ok(client.post(case["path"], changed(case["body"], max_tokens=None, echo=False, ignore_eos=True))).json
    expect(default["usage"]["completion_tokens"] == 16, f"null gave {default['usage']}")
    plain = client.post(case["path"], changed(case["body"], echo=False))
    expect(plain.status in (200, 400), f"without echo: {plain.status}")


def bad_regex(client, case):
    remark = not_built_yet(client, case, "structured_outputs")
    expect(remark, "a regex that is none was accepted")
    return remark


def recursive_schema(client, case):
    remark = not_built_yet(client, case, "response_format")
    if remark:
        return remark
    choice = ok(client.post(case["path"], case["body"])).json["choices"][0]
    if choice["finish_reason"] != "length":
        node = json.loads(choice["message"]["content"])
        while node is not None:
            expect(isinstance(node["v"], int) and set(node) == {"v", "next"}, f"{node}")
            node = node["next"]
    return None


def context_overflow(client, case):
    content = case["body"]["messages"][0]["content"]
    limit = client.max_model_len()
    for path, body in [
        (case["path"], case["body"]),
        (case["path"], changed(case["body"], stream=True)),
        ("/v1/completions", {"prompt": content}),
        ("/v1/completions", {"prompt": content, "stream": True}),
    ]:
        error = refused(client.post(path, body), f"maximum context length is {limit} tokens", "the prompt has")
        expect(any(char.isdigit() for char in error["message"].split("the prompt has")[1]), error["message"])


def disconnect_mid_stream(client, case):
    body = json.dumps(changed(case["body"], max_tokens=1000)).encode()
    with socket.create_connection((client.host, client.port), timeout=60) as sock:
        sock.sendall(
            f"POST {case['path']} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n".encode() + body
        )
        seen = b""
        while seen.count(b"data: ") < 3:
            part = sock.recv(65536)
            expect(part, f"the server closed: {seen[:200]}")
            seen += part
            expect(seen.startswith(b"HTTP/1.1 200"), f"no stream: {seen[:300]}")
    waited = client.wait_for_metric("vllm:num_requests_running", 0, 1)
    expect(client.metric("pagoda:kv_cache_used_bytes") == 0, "KV is still held")
    return f"0 running after {waited * 1000:.0f} ms"


def image_to_text_model(client, case):
    refused(client.post(case["path"], case["body"]), "image_url", "messages[0].content[1]", client.served_model())


def empty_messages(client, case):
    refused(client.post(case["path"], case["body"]), "messages")
    refused(client.post(case["path"], changed(case["body"], messages=[{"role": "king", "content": "x"}])), "role", "king")
    system = changed(case["body"], messages=[{"role": "system", "content": "Be brief."}], max_tokens=4)
    answer = client.post(case["path"], system)
    expect(answer.status in (200, 400), f"system only: {answer.status}")


def absurd_sampling(client, case):
    values = [("top_p", -1, "0"), ("temperature", 999999, "from 0"), ("repetition_penalty", 0, "greater than 0"),
              ("n", 0, "from 1"), ("top_k", -5, "-1"), ("presence_penalty", 9, "-2 to 2")]
    for field, value, span in values:
        error = refused(client.post(case["path"], changed(case["body"], top_p=1, **{field: value})
                                    if field != "top_p" else case["body"]), field, span)
        expect(error["param"] == field, f"param {error['param']} for {field}")


def stream_options_empty(client, case):
    for event in ok(client.post(case["path"], case["body"])).events[:-1]:
        expect("usage" not in event, f"a usage without being asked: {event}")
    with_usage = changed(case["body"], stream_options={"include_usage": True})
    events = ok(client.post(case["path"], with_usage)).events
    carrying = [index for index, event in enumerate(events[:-1]) if event.get("usage")]
    expect(carrying == [len(events) - 2], f"usage in the events {carrying} of {len(events)}")
    expect(events[-2]["choices"] == [], f"{events[-2]}")


def min_tokens_and_stop(client, case):
    least = case["body"]["min_tokens"]
    body = changed(case["body"], max_tokens=64, ignore_eos=True)
    free = ok(client.post(case["path"], changed(body, stop=None, logprobs=True))).json["choices"][0]
    tokens = [entry["token"] for entry in free["logprobs"]["content"]]
    # The case's own stop string; each early token as one; and the token with which it begins to count.
    for stop in {*case["body"]["stop"], *(token for token in tokens[:least] if token.strip())}:
        choice = ok(client.post(case["path"], changed(body, stop=[stop], return_token_ids=True))).json["choices"][0]
        used = len(choice["token_ids"])
        expect(used >= least, f"{used} tokens with stop {stop!r}, fewer than min_tokens")
        counting = [i + 1 for i in range(least - 1, len(tokens)) if stop in tokens[i]]
        if counting:
            expect(used <= counting[0], f"stop {stop!r} came with token {counting[0]} and ended after {used}: {tokens}")
        if used < len(tokens):
            expect(choice["finish_reason"] == "stop" and choice["stop_reason"] == stop, f"{choice}")


def tool_choice_required(client, case):
    remark = not_built_yet(client, case, "tool_choice")
    expect(remark, "forced tool calls are answered, but not checked here yet")
    return remark


CHECKS = {
    "utf8-stream": utf8_stream,
    "stop-spanning-tokens": stop_spanning_tokens,
    "logit-bias-out-of-range": logit_bias_out_of_range,
    "max-tokens-zero": max_tokens_zero,
    "bad-regex": bad_regex,
    "recursive-schema": recursive_schema,
    "context-overflow": context_overflow,
    "disconnect-mid-stream": disconnect_mid_stream,
    "image-to-text-model": image_to_text_model,
    "empty-messages": empty_messages,
    "absurd-sampling": absurd_sampling,
    "stream-options-empty": stream_options_empty,
    "min-tokens-and-stop": min_tokens_and_stop,
    "tool-choice-required": tool_choice_required,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", required=True)
    parser.add_argument("--cases", default=str(pathlib.Path(__file__).with_name("openai_cases.jsonl")))
    options = parser.parse_args()
    client = PlainClient(options.url)
    model = client.served_model()
    report = Report()
    for line in pathlib.Path(options.cases).read_text().splitlines():
        case = expanded(json.loads(line))
        if case["body"].get("model") == "default":
            case["body"]["model"] = model
        # A case that nobody has written as code yet fails: it must not pass unseen.
        report.check(case["id"], CHECKS[case["id"]] if case["id"] in CHECKS else unknown_case, client, case)
        report.check(case["id"] + ", then the next request", lambda *_: client.assert_alive())
    report.finish()


def unknown_case(_client, case):
    raise AssertionError(f"no check is written for: {case['expect']}")


if __name__ == "__main__":
    main()
