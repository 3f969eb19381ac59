#!/usr/bin/env python3
"""What stands around the endpoints: keys, CORS, request ids, the access log, a full queue, the way out.

  front_door.py --url http://127.0.0.1:8000

The server must run with --api-key key-1 --api-key key-2 --allowed-origins http://a --enable-request-id-headers
--max-num-seqs 1 --max-num-queued-reqs 1 --log-format json. SERVER_PID and SERVER_LOG name its process and its log; the
last check ends it.
"""
import argparse
import http.client
import json
import os
import pathlib
import signal
import threading
import time

from plain_client import PlainClient
from report import Report, expect

LONG = {"prompt": "1, 2, 3,", "max_tokens": 120, "ignore_eos": True, "temperature": 0}


def keys(client):
    for key, status in [(None, 401), ("wrong", 401), ("key-1", 200), ("key-2", 200), ("key-1x", 401)]:
        answer = PlainClient(client.url, key=key).get("/v1/models")
        expect(answer.status == status, f"{key}: {answer.status}")
        if status == 401:
            expect(answer.error["code"] == 401, f"{answer.body}")
            expect(answer.headers["WWW-Authenticate"] == "Bearer", f"{answer.headers}")
    expect(PlainClient(client.url).post("/v1/completions", LONG).status == 401, "a completion without a key")
    for path in ("/health", "/ping", "/version", "/load", "/metrics"):
        expect(PlainClient(client.url).get(path).status == 200, f"{path} wants a key")


def cors(client):
    for origin, allowed in [("http://a", "http://a"), ("http://b", None)]:
        answer = client.get("/v1/models", {"Origin": origin})
        expect(answer.headers["Access-Control-Allow-Origin"] == allowed, f"{origin}: {answer.headers}")
    asked = {"Origin": "http://a", "Access-Control-Request-Method": "POST",
             "Access-Control-Request-Headers": "authorization,content-type"}
    # A browser sends no key with a preflight.
    answer = PlainClient(client.url).request("OPTIONS", "/v1/chat/completions", headers=asked)
    expect(answer.status == 200 and "POST" in answer.headers["Access-Control-Allow-Methods"], f"{answer.headers}")
    answer = client.request("OPTIONS", "/v1/chat/completions", headers={**asked, "Origin": "http://b"})
    expect(answer.status == 400, f"a foreign origin's preflight: {answer.status}")
    # Errors carry the headers too, or a page could not read them.
    answer = client.get("/v1/nothing", {"Origin": "http://a"})
    expect(answer.status == 404 and answer.headers["Access-Control-Allow-Origin"] == "http://a", f"{answer.headers}")


def request_ids(client):
    answer = client.post("/v1/completions", {"prompt": "a", "max_tokens": 1}, {"X-Request-Id": "mine-7"})
    expect(answer.headers["X-Request-Id"] == "mine-7" and answer.json["id"] == "cmpl-mine-7", f"{answer.headers}")
    made = {client.get("/health").headers["X-Request-Id"] for _ in range(3)}
    expect(len(made) == 3 and None not in made, f"{made}")


def access_log(client):
    """One JSON object a line, found by its id; no text of the request, no key."""
    body = {"prompt": "a-secret-prompt", "max_tokens": 1}
    client.post("/v1/completions?q=a-secret-query", body, {"X-Request-Id": "logged-1"})
    log = pathlib.Path(os.environ["SERVER_LOG"])
    deadline = time.monotonic() + 5
    while '"logged-1"' not in log.read_text() and time.monotonic() < deadline:
        time.sleep(0.05)
    records = [json.loads(line) for line in log.read_text().splitlines()]
    mine = [record for record in records if record.get("request_id") == "logged-1"]
    expect(len(mine) == 1 and mine[0]["status"] == 200 and mine[0]["path"] == "/v1/completions", f"{mine}")
    expect(mine[0]["duration_ms"] > 0 and mine[0]["response_bytes"] > 0 and "time" in mine[0], f"{mine}")
    for secret in ("a-secret", "key-1"):
        expect(secret not in log.read_text(), f"the log holds {secret!r}")


def full_queue(client):
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(client.post("/v1/completions", LONG))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    statuses = sorted(answer.status for answer in answers)
    expect(set(statuses) == {200, 429}, f"{statuses}")
    for answer in answers:
        if answer.status == 429:
            expect(answer.headers["Retry-After"] and answer.error["type"] == "RateLimitError", f"{answer.body}")
        else:
            expect(answer.json["usage"]["completion_tokens"] == 120, f"{answer.body[:200]}")
    return f"{statuses.count(429)} of 8 were sent away"


def metrics_count(client):
    before = client.metric("http_requests_total")
    client.get("/v1/models")
    expect(client.metric("http_requests_total") == before + 1, "GET /v1/models was not counted once")
    expect(client.metric("vllm:generation_tokens_total") > 120, "no generated tokens are counted")
    expect(client.metric("vllm:request_success_total") > 0, "no request is counted as done")
    answer = client.get("/metrics", {"Accept": "application/openmetrics-text; version=1.0.0"})
    expect(answer.body.endswith(b"# EOF\n") and "openmetrics" in answer.headers["Content-Type"], "no OpenMetrics")


def way_out(client):
    """SIGTERM: what runs is finished, what comes is sent away, then the server ends."""
    connection = http.client.HTTPConnection(client.host, client.port, timeout=60)
    head = {"Content-Type": "application/json", "Authorization": "Bearer key-1"}
    connection.request("POST", "/v1/completions", json.dumps({**LONG, "max_tokens": 250, "stream": True}), head)
    stream = connection.getresponse()
    first = stream.readline()
    expect(first.startswith(b"data: "), f"{first}")
    os.kill(int(os.environ["SERVER_PID"]), signal.SIGTERM)
    deadline = time.monotonic() + 5
    late = None
    while late not in (503, "refused") and time.monotonic() < deadline:
        try:
            late = client.post("/v1/completions", {"prompt": "a", "max_tokens": 1}).status
        except OSError:
            late = "refused"
    expect(late in (503, "refused"), f"a late request got {late}")
    rest = stream.read().decode()
    expect(rest.endswith("data: [DONE]\n\n") and '"finish_reason":"length"' in rest, f"…{rest[-300:]}")
    expect('"error"' not in rest, f"{rest[-300:]}")
    return f"late requests: {late}"


CHECKS = [keys, cors, request_ids, access_log, full_queue, metrics_count, way_out]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", required=True)
    options = parser.parse_args()
    client = PlainClient(options.url, key="key-1")
    report = Report()
    for test in CHECKS:
        report.check(test.__name__, test, client)
    report.finish()


if __name__ == "__main__":
    main()
