"""`pagoda chat` against a small OpenAI-compatible server that plays good and bad answers.

usage: chat_test.py PAGODA
"""
import http.server
import json
import os
import pty
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

PAGODA = ""


class FakeServer(http.server.ThreadingHTTPServer):
    """Answers according to the last word of the question; remembers the requests."""
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), FakeHandler)
        self.requests = []
        self.hung_up = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class FakeHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.server.requests.append((self.path, dict(self.headers), None))
        self.answer(200, {"object": "list", "data": [{"id": "fake-model"}]})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, dict(self.headers), body))
        kind = body["messages"][-1]["content"].split()[-1]
        if kind == "refuse":
            return self.answer(400, {"error": {"message": "no such luck", "type": "BadRequestError", "code": 400}})
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            self.stream(kind)
        except OSError:
            self.server.hung_up.set()

    def event(self, event):
        data = (event if isinstance(event, str) else f"data: {json.dumps(event)}\n\n").encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def delta(self, text):
        self.event({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]})

    def stream(self, kind):
        self.event({"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]})
        for word in ("Hello", " wörld", " 🙂\x1b[31m"):
            self.delta(word)
        if kind == "fail":
            self.event({"error": {"message": "engine on fire", "code": 500}})
        while kind == "forever":
            self.delta(" more")
            time.sleep(0.02)
        if kind == "break":
            self.close_connection = True
            return self.connection.shutdown(socket.SHUT_RDWR)
        self.event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        self.event({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 3}})
        self.event("data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")


class Chat(unittest.TestCase):
    def setUp(self):
        self.server = FakeServer()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)

    def chat(self, *arguments, question="", environment=()):
        return subprocess.run([PAGODA, "chat", "--url", self.server.url, *arguments], input=question,
                              capture_output=True, text=True, timeout=20,
                              env={"PATH": os.environ["PATH"], **dict(environment)})

    def test_once_prints_the_answer_alone(self):
        done = self.chat("--once", "hi", "--system", "Be brief.", "--max-tokens", "9", "--temperature", "0")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, "Hello wörld 🙂\x1b[31m\n", "into a pipe goes what the model said")
        path, _, body = self.server.requests[-1]
        self.assertEqual(path, "/v1/chat/completions")
        self.assertEqual(body["model"], "fake-model")
        self.assertEqual([message["role"] for message in body["messages"]], ["system", "user"])
        self.assertEqual((body["max_tokens"], body["temperature"], body["stream"]), (9, 0, True))

    def test_a_pipe_is_one_question(self):
        done = self.chat(question="line one\nline two\n")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(self.server.requests[-1][2]["messages"][-1]["content"], "line one\nline two\n")
        self.assertEqual(self.chat(question=" \n").returncode, 2)

    def test_keys_are_sent(self):
        self.chat("--once", "hi", "--api-key", "secret")
        self.assertEqual(self.server.requests[-1][1]["Authorization"], "Bearer secret")
        self.chat("--once", "hi", environment={"PAGODA_API_KEY": "other"}.items())
        self.assertEqual(self.server.requests[-1][1]["Authorization"], "Bearer other")

    def test_errors_are_one_line(self):
        for kind, words in (("refuse", "no such luck (HTTP 400)"), ("fail", "engine on fire"), ("break", "pagoda chat:")):
            done = self.chat("--once", kind)
            self.assertEqual(done.returncode, 1, kind)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn(words, done.stderr)

    def test_nobody_listens(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        done = subprocess.run([PAGODA, "chat", "--url", f"127.0.0.1:{port}", "--once", "x"], capture_output=True,
                              text=True, timeout=20)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"127.0.0.1:{port}", done.stderr)
        self.assertIn("pagoda serve", done.stderr)

    def test_a_person_at_a_terminal(self):
        """Ctrl-C stops the answer and not the program; commands work; control characters do not reach the screen."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(PAGODA, [PAGODA, "chat", "--url", self.server.url], {"TERM": "dumb"})
        screen = b""

        def wait_for(words):
            nonlocal screen
            end = time.monotonic() + 15
            while words.encode() not in screen:
                self.assertLess(time.monotonic(), end, screen.decode(errors="replace"))
                screen += os.read(terminal, 4096)
            screen = screen.split(words.encode(), 1)[1]

        def type_line(text):
            os.write(terminal, text.encode() + b"\n")

        wait_for("> ")
        type_line("/system Be brief.")
        wait_for("system: Be brief.")
        type_line("talk forever")
        wait_for("more more")
        os.write(terminal, b"\x03")
        wait_for("(stopped, ")
        self.assertTrue(self.server.hung_up.wait(10), "the server does not learn that nobody listens")
        type_line("hi again")
        wait_for("Hello wörld 🙂[31m")
        wait_for("3 tokens")
        roles = [message["role"] for message in self.server.requests[-1][2]["messages"]]
        self.assertEqual(roles, ["system", "user", "assistant", "user"])
        type_line("/sytem")
        wait_for("did you mean /system?")
        type_line("/exit")
        _, status = os.waitpid(pid, 0)
        self.assertEqual(os.waitstatus_to_exitcode(status), 0)
        os.close(terminal)


if __name__ == "__main__":
    PAGODA = sys.argv.pop(1)
    unittest.main()
