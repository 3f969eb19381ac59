"""A server under test, spoken to with the standard library alone."""
import http.client
import json
import re
import time
import urllib.parse


class Answer:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def error(self):
        return self.json["error"]

    @property
    def events(self):
        """The data of each event; "[DONE]" stays text."""
        events = []
        for block in self.body.decode().split("\n\n"):
            if block:
                assert block.startswith("data: "), f"not an event: {block[:80]!r}"
                data = block[len("data: "):]
                events.append(data if data == "[DONE]" else json.loads(data))
        return events


class PlainClient:
    def __init__(self, url, timeout=120, key=None):
        self.url = url
        parts = urllib.parse.urlsplit(url)
        self.host, self.port = parts.hostname, parts.port or 80
        self.timeout = timeout
        self.key = key

    def connect(self):
        return http.client.HTTPConnection(self.host, self.port, timeout=self.timeout)

    def request(self, method, path, body=None, headers=None):
        headers = dict(headers or {})
        if self.key:
            headers.setdefault("Authorization", f"Bearer {self.key}")
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        if body is not None:
            headers.setdefault("Content-Type", "application/json")
        connection = self.connect()
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        finally:
            connection.close()

    def get(self, path, headers=None):
        return self.request("GET", path, headers=headers)

    def post(self, path, body, headers=None):
        return self.request("POST", path, body, headers)

    def served_model(self):
        return self.get("/v1/models").json["data"][0]["id"]

    def max_model_len(self):
        return self.get("/v1/models").json["data"][0]["max_model_len"]

    def metric(self, name):
        """The sum over a metric's series, labels aside."""
        text = self.get("/metrics").body.decode()
        values = re.findall(r"^" + re.escape(name) + r"(?:\{.*\})? (\S+)$", text, re.M)
        assert values, f"/metrics has no {name}"
        return sum(map(float, values))

    def wait_for_metric(self, name, value, seconds):
        """The seconds until the metric had the value; fails when it does not come."""
        begin = time.monotonic()
        while self.metric(name) != value:
            waited = time.monotonic() - begin
            assert waited < seconds, f"{name} is {self.metric(name)} after {seconds} s, not {value}"
            time.sleep(0.02)
        return time.monotonic() - begin

    def assert_alive(self):
        answer = self.post("/v1/completions", {"prompt": "Hello", "max_tokens": 1})
        assert answer.status == 200, f"the server no longer answers: {answer.status} {answer.body[:200]}"
