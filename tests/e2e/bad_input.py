#!/usr/bin/env python3
"""What strangers send: bad_input.py --url http://127.0.0.1:8000 [--slow]

Raw sockets and the standard library. After every attempt the server must answer an honest request. --slow also
waits for the server's time-outs (minutes).
"""
import argparse
import json
import re
import socket
import threading
import time

from plain_client import PlainClient
from report import Report, expect

CHAT = "/v1/chat/completions"
POST_HEAD = "POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"


def raw(client, data, wait=30):
    """Sends bytes, returns what comes back until the server closes or a whole answer is here."""
    with socket.create_connection((client.host, client.port), timeout=wait) as sock:
        try:
            sock.sendall(data)
        except OSError:
            pass  # it may answer and close before it has read all
        return read_answer(sock)


def read_answer(sock):
    seen = b""
    try:
        while True:
            part = sock.recv(65536)
            if not part:
                break
            seen += part
            head, found, body = seen.partition(b"\r\n\r\n")
            lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
            if found and lengths and len(body) >= int(lengths[0].split(b":")[1]):
                break
    except OSError:
        pass  # a reset after the answer
    return seen


def status_of(answer):
    expect(answer.startswith(b"HTTP/1."), f"no answer: {answer[:100]!r}")
    return int(answer.split(b" ", 2)[1])


def error_of(answer, status):
    expect(status_of(answer) == status, f"status {status_of(answer)} instead of {status}: {answer[:300]!r}")
    error = json.loads(answer.partition(b"\r\n\r\n")[2])["error"]
    expect(error["code"] == status and error["message"], f"{error}")
    return error


def post(client, body, path=CHAT):
    return raw(client, POST_HEAD.format(path=path).encode() + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)


def chat_of(content):
    return b'{"messages":[{"role":"user","content":' + content + b"}]}"


def malformed_json(client):
    error = error_of(post(client, b'{"messages": [\n  {"role": }\n]}'), 400)
    expect("line 2, column 12" in error["message"], error["message"])
    for body in (b"", b"{", b"nonsense", b"[]", b"\x00", b'{"a":1}}', b"NaN", b'{"messages":[],}'):
        error_of(post(client, body), 400)


def deep_json(client):
    for opening in (b"[", b'{"a":', b'{"messages":[{"role":"user","content":' + b"["):
        error = error_of(post(client, opening * 100_000), 400)
        expect("levels" in error["message"], error["message"])
    deep = b"[" * 100_000 + b"]" * 100_000
    error_of(post(client, b'{"prompt":' + deep + b"}", "/v1/completions"), 400)
    error_of(post(client, b'{"prompt":' + deep + b"}", "/tokenize"), 400)


def wrong_types(client):
    for fields, name in [
        ({"max_tokens": "ten"}, "max_tokens"), ({"max_tokens": 1.5}, "max_tokens"), ({"max_tokens": 1e300}, "max_tokens"),
        ({"temperature": "hot"}, "temperature"), ({"stop": 5}, "stop"), ({"stop": [None]}, "stop"),
        ({"stream": 1}, "stream"), ({"logit_bias": {"x": 1}}, "logit_bias"), ({"seed": 1e30}, "seed"),
        ({"messages": "hi"}, "messages"), ({"messages": [[]]}, "messages"), ({"n": 10**9}, "n"),
        ({"messages": [{"role": "user", "content": {"a": 1}}]}, "messages"), ({"model": 7}, "model"),
        ({"chat_template_kwargs": 1}, "chat_template_kwargs"), ({"tools": "x"}, "tools"),
        ({"stream_options": [], "stream": True}, "stream_options"),
    ]:
        body = {"messages": [{"role": "user", "content": "x"}], "max_tokens": 1, **fields}
        answer = client.post(CHAT, body)
        expect(answer.status == 400, f"{fields}: {answer.status} {answer.body[:200]}")
        expect(name in answer.error["message"], f"{fields}: {answer.error}")


def broken_text(client):
    for content in (b'"\xff\xfe"', b'"\xc0\xaf"', b'"\xed\xa0\x80"', b'"\xf0\x9f\x98"', rb'"\ud83d"', rb'"\ude00\ud83d"'):
        error_of(post(client, chat_of(content)), 400)
    for content in (b'"\\u0000 \\u001b[31m"', '"\u202e\ufeff\u200d"'.encode(), rb'"\ud83d\ude00"'):
        body = b'{"max_tokens":1,' + chat_of(content)[1:]
        expect(status_of(post(client, body)) == 200, f"{content!r} was refused")


def wrong_content_type(client):
    answer = client.request("POST", CHAT, b"{}", {"Content-Type": "text/plain"})
    expect(answer.status == 400 and "application/json" in answer.error["message"], f"{answer.body[:200]}")


def over_the_context(client):
    """Both sizes are named: what the model holds, and what was asked for."""
    most = client.max_model_len()
    for path, fields in [(CHAT, {"messages": [{"role": "user", "content": "a " * (most + 50)}]}),
                         ("/v1/completions", {"prompt": "a " * (most + 50)}), ("/v1/completions", {"prompt": [1] * most}),
                         ("/v1/completions", {"prompt": [1] * (most - 10), "max_tokens": 11})]:
        answer = client.post(path, fields)
        sizes = [int(number) for number in re.findall(r"\d+", answer.error["message"])]
        expect(answer.status == 400 and sizes[0] == most, f"{answer.status} {answer.body[:300]}")
        expect(sizes[1] >= most - 10 and len(sizes) >= 2, f"{answer.error}")
    expect(client.post("/v1/completions", {"prompt": [1] * (most - 1)}).status == 200, "a prompt that just fits")


def absurd_sampling(client):
    for name, values in {
        "temperature": (-1, 1e308, 101), "top_p": (0, 1.01, -1), "top_k": (-2, 10**12), "min_p": (-0.1, 1.1),
        "repetition_penalty": (0, -1, 1e300), "presence_penalty": (2.1, -1e9), "frequency_penalty": (-2.1, 1e9),
        "logit_bias": ({"1": 101}, {"1": -1e9}, {"99999999": 1}, {"-1": 1}), "n": (0, -1, 10**5), "max_tokens": (-1,),
        "min_tokens": (-1, 10**6), "logprobs": (-1, 10**9), "seed": (2**63, 2**64), "stop_token_ids": ([-1], [10**8]),
        "stop": ([""], ["a"] * 1000), "allowed_token_ids": ([], [10**8]), "bad_words": ([""],), "best_of": (5,),
        "priority": (10**10,), "truncate_prompt_tokens": (-5, 0), "prompt_logprobs": (-2, 10**6),
    }.items():
        for value in values:
            answer = client.post("/v1/completions", {"prompt": "a", "max_tokens": 2, name: value})
            expect(answer.status == 400, f"{name} {value}: {answer.status} {answer.body[:200]}")
            expect(name in answer.error["message"] and answer.error["param"] == name, f"{name} {value}: {answer.error}")


def unknown_routes(client):
    expect(client.get("/v1/nothing").status == 404, "unknown path")
    expect(client.get("/v1/nothing").error["code"] == 404, "unknown path's error")
    answer = client.get(CHAT)
    expect(answer.status == 405 and "POST" in (answer.headers.get("Allow") or ""), f"{answer.status} {answer.headers}")
    answer = client.post(CHAT, {"model": "no-such-model", "messages": [{"role": "user", "content": "x"}]})
    expect(answer.status == 404 and client.served_model() in answer.error["message"], f"{answer.body[:300]}")


def huge_body_announced(client):
    head = POST_HEAD.format(path=CHAT) + "Content-Length: 1000000000\r\n\r\n"
    error_of(raw(client, head.encode() + b"{"), 413)


def huge_body_streamed(client):
    """A gigabyte in chunks, for as long as the server takes it."""
    with socket.create_connection((client.host, client.port), timeout=60) as sock:
        sock.sendall((POST_HEAD.format(path=CHAT) + "Transfer-Encoding: chunked\r\n\r\n").encode())
        block = b"a" * 0x100000
        chunk = b"100000\r\n" + block + b"\r\n"
        sent = 0
        try:
            while sent < 1 << 30:
                sock.sendall(chunk)
                sent += len(block)
        except OSError:
            pass
        answer = read_answer(sock)
    # It may read on for a while so that the client sees the answer, or close at once.
    expect(answer or sent < 1 << 30, "a whole gigabyte was taken, and not answered")
    if answer:
        error_of(answer, 413)
    return f"{sent >> 20} MiB went out" + ("" if answer else ", then it closed")


def many_values(client):
    ids = b",".join([b"1"] * 3_000_000)
    error_of(post(client, b'{"prompt":[' + ids + b"]}", "/v1/completions"), 400)
    keys = b",".join(b'"k%d":1' % i for i in range(200_000))
    began = time.monotonic()
    error_of(post(client, b'{"logit_bias":{' + keys + b'},"prompt":"x"}', "/v1/completions"), 400)
    expect(time.monotonic() - began < 5, f"{time.monotonic() - began:.1f} s for an object of many keys")


def bad_http(client):
    for data in (b"\x16\x03\x01\x02\x00\x01\x00", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
                 b"POST / HTTP/1.1\r\nContent-Length: -5\r\n\r\n", b"A" * 100_000,
                 b"GET / HTTP/1.1\r\n" + b"X: " + b"y" * 200_000 + b"\r\n\r\n",
                 b"POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"):
        answer = raw(client, data, wait=40)
        if answer:
            expect(400 <= status_of(answer) < 600, f"{data[:40]!r}: {answer[:100]!r}")


def half_requests(client):
    """Clients that begin and go away, at every stage."""
    body = b'{"messages":[{"role":"user","content":"Tell a long story."}],"max_tokens":500,"stream":true}'
    whole = POST_HEAD.format(path=CHAT).encode() + f"Content-Length: {len(body)}\r\n\r\n".encode() + body
    for size in (0, 1, 20, len(whole) - len(body), len(whole) - 1, len(whole)):
        for _ in range(5):
            with socket.create_connection((client.host, client.port), timeout=10) as sock:
                sock.sendall(whole[:size])
    client.wait_for_metric("vllm:num_requests_running", 0, 5)
    client.wait_for_metric("vllm:num_requests_waiting", 0, 5)


def disconnect_mid_stream(client):
    body = json.dumps({"messages": [{"role": "user", "content": "Tell a long story."}], "max_tokens": 1000,
                       "ignore_eos": True, "stream": True, "n": 2}).encode()
    with socket.create_connection((client.host, client.port), timeout=60) as sock:
        sock.sendall(POST_HEAD.format(path=CHAT).encode() + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        seen = b""
        while seen.count(b"data: ") < 5:
            part = sock.recv(65536)
            expect(part, f"closed early: {seen[:200]!r}")
            seen += part
            expect(seen.startswith(b"HTTP/1.1 200"), f"no stream: {seen[:300]!r}")
    waited = client.wait_for_metric("vllm:num_requests_running", 0, 1)
    return f"0 running after {waited * 1000:.0f} ms"


def disconnect_before_the_answer(client):
    body = json.dumps({"messages": [{"role": "user", "content": "Tell a long story."}], "max_tokens": 1000,
                       "ignore_eos": True}).encode()
    with socket.create_connection((client.host, client.port), timeout=60) as sock:
        sock.sendall(POST_HEAD.format(path=CHAT).encode() + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        client.wait_for_metric("vllm:num_requests_running", 1, 10)
    waited = client.wait_for_metric("vllm:num_requests_running", 0, 1)
    return f"0 running after {waited * 1000:.0f} ms"


def slow_reader(client):
    """Asks for a stream and does not read it: others must not wait."""
    body = json.dumps({"prompt": "1, 2, 3,", "max_tokens": 200, "ignore_eos": True, "stream": True, "logprobs": 20}).encode()
    with socket.create_connection((client.host, client.port), timeout=60) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.sendall(POST_HEAD.format(path="/v1/completions").encode() + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        client.assert_alive()
    client.wait_for_metric("vllm:num_requests_running", 0, 5)


def slow_writer(client):
    """A byte now and then: others must not wait."""
    with socket.create_connection((client.host, client.port), timeout=60) as sock:
        for byte in POST_HEAD.format(path=CHAT).encode()[:20]:
            sock.sendall(bytes([byte]))
            time.sleep(0.02)
        client.assert_alive()


def slow_crowd(client):
    """300 clients that drip, in heads and in bodies: an honest one is served between them."""
    head = POST_HEAD.format(path=CHAT).encode() + b"Content-Length: 5000\r\n\r\n"
    sockets = [socket.create_connection((client.host, client.port), timeout=60) for _ in range(300)]
    try:
        for i, sock in enumerate(sockets):
            sock.sendall(head if i % 2 else head[:30])
        for drop in range(5):
            for i, sock in enumerate(sockets):
                sock.sendall(b" " if i % 2 else head[30 + drop : 31 + drop])
            client.assert_alive()
    finally:
        for sock in sockets:
            sock.close()


def never_ending_body(client):
    with socket.create_connection((client.host, client.port), timeout=200) as sock:
        sock.sendall(POST_HEAD.format(path=CHAT).encode() + b"Content-Length: 100\r\n\r\n{")
        began = time.monotonic()
        answer = read_answer(sock)
    expect(status_of(answer) == 408, f"{answer[:100]!r}")
    return f"closed after {time.monotonic() - began:.0f} s"


def never_ending_head(client):
    with socket.create_connection((client.host, client.port), timeout=200) as sock:
        sock.sendall(b"POST / HTTP/1.1\r\n")
        began = time.monotonic()
        answer = read_answer(sock)
    expect(status_of(answer) == 408, f"{answer[:100]!r}")
    return f"closed after {time.monotonic() - began:.0f} s"


def many_connections(client):
    """500 at once, each with a small request; none may be lost."""
    sockets = [socket.create_connection((client.host, client.port), timeout=60) for _ in range(500)]
    request = b"GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n"
    try:
        for sock in sockets:
            sock.sendall(request)
        statuses = [status_of(read_answer(sock)) for sock in sockets]
    finally:
        for sock in sockets:
            sock.close()
    expect(statuses == [200] * len(sockets), f"{[s for s in statuses if s != 200][:10]}")


def many_streams(client):
    """64 streams at once, half of them cut off: the others are whole."""
    results = {}

    def stream(i):
        body = {"prompt": f"{i}, {i + 1},", "max_tokens": 24, "temperature": 0, "ignore_eos": True, "stream": True}
        if i % 2:
            data = json.dumps(body).encode()
            with socket.create_connection((client.host, client.port), timeout=60) as sock:
                sock.sendall(POST_HEAD.format(path="/v1/completions").encode()
                             + f"Content-Length: {len(data)}\r\n\r\n".encode() + data)
                sock.recv(300)
            results[i] = "cut"
            return
        answer = client.post("/v1/completions", body)
        results[i] = answer.events[-1] if answer.status == 200 else answer.status

    threads = [threading.Thread(target=stream, args=(i,)) for i in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wrong = {i: result for i, result in results.items() if result not in ("cut", "[DONE]")}
    expect(len(results) == 64 and not wrong, f"{wrong}")
    client.wait_for_metric("vllm:num_requests_running", 0, 5)
    expect(client.metric("pagoda:kv_cache_used_bytes") == 0, "KV is still held")


CHECKS = [
    malformed_json, deep_json, wrong_types, over_the_context, absurd_sampling, broken_text, wrong_content_type,
    unknown_routes, huge_body_announced, huge_body_streamed, many_values, bad_http, half_requests, disconnect_mid_stream,
    disconnect_before_the_answer, slow_reader, slow_writer, slow_crowd, many_connections, many_streams,
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", required=True)
    parser.add_argument("--slow", action="store_true", help="wait for time-outs too")
    options = parser.parse_args()
    client = PlainClient(options.url)
    report = Report()
    for test in CHECKS + ([never_ending_head, never_ending_body] if options.slow else []):
        report.check(test.__name__, test, client)
        report.check(f"{test.__name__}, then an honest request", lambda: client.assert_alive())
    report.finish()


if __name__ == "__main__":
    main()
