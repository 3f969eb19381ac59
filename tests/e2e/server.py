"""`pagoda serve` as a process of a test: started on a free port, spoken to, ended in order."""
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import time

from plain_client import PlainClient

START_SECONDS = 120
END_SECONDS = 30
DEFAULT_PORT = 8000


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def cached_model(name):
    """A model file of the user's cache, or None with the reason printed."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    path = cache / "pagoda" / "models" / name
    if path.exists():
        return str(path)
    print(f"skipped: {name} is not in the cache; tools/fetch.py gets it")
    return None


class ServerFault(Exception):
    """The server did not start, did not survive, or did not end as it should."""


class Server:
    """with Server([PROGRAM, "serve", MODEL]) as server: …; --port is added, unless `port` is its default.

    Leaving the block ends the server by SIGTERM (ended_by_script: the block has sent it) and raises ServerFault when it
    does not end with 0. Where anything was raised, the end of the server's log is printed.
    """

    def __init__(self, command, environment=None, port=None, ended_by_script=False):
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.client = PlainClient(self.url)
        self.command = [*command, "--port", str(self.port)] if self.port != DEFAULT_PORT else command
        self.environment = environment
        self.ended_by_script = ended_by_script
        self.log = tempfile.NamedTemporaryFile()
        self.process = None

    @property
    def log_text(self):
        return pathlib.Path(self.log.name).read_text(errors="replace")

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log, env=self.environment)
        try:
            self.wait_until_ready()
        except BaseException as error:
            self.__exit__(type(error), error, None)
            raise
        return self

    def __exit__(self, kind, error, trace):
        fault = None
        try:
            if kind is None:
                self.end()
        except ServerFault as ended_badly:
            fault = ended_badly
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
        if kind or fault:
            print("--- the server's log, its last lines")
            print("\n".join(self.log_text.splitlines()[-40:]), flush=True)
        self.log.close()
        if fault:
            raise fault

    def wait_until_ready(self):
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise ServerFault(f"the server ended with {self.process.returncode} before it was ready")
            try:
                if self.client.get("/health").status == 200:
                    return
            except OSError:
                pass
            time.sleep(0.05)
        raise ServerFault(f"the server was not ready within {START_SECONDS} s")

    def end(self):
        if not self.ended_by_script:
            if self.process.poll() is not None:
                raise ServerFault(f"the server ended by itself with {self.process.returncode}")
            self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            raise ServerFault(f"the server did not end within {END_SECONDS} s of SIGTERM") from None
        if status != 0:
            raise ServerFault(f"the server ended with {status} after SIGTERM")
