#!/usr/bin/env python3
"""Starts `pagoda serve` on a free port, runs a test against it, ends it by SIGTERM.

  with_server.py [--flags="--api-key K …"] [--script-ends-server] PAGODA MODEL SCRIPT

MODEL is a file of the user's cache ($XDG_CACHE_HOME or ~/.cache, pagoda/models). SCRIPT gets --url, and the server's
process id and log as SERVER_PID and SERVER_LOG. The exit status is the script's, or 1 when the server does not start,
does not survive the script, or does not end in order; 77 (skipped) when the model is not in the cache. The server's
log is shown when something failed.
"""
import argparse
import os
import pathlib
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time

from plain_client import PlainClient

START_SECONDS = 120
END_SECONDS = 30


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_ready(server, client):
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if server.poll() is not None:
            return f"the server ended with {server.returncode} before it was ready"
        try:
            if client.get("/health").status == 200:
                return None
        except OSError:
            pass
        time.sleep(0.05)
    return f"the server was not ready within {START_SECONDS} s"


def end(server, ended_by_script):
    if not ended_by_script:
        if server.poll() is not None:
            return f"the server ended by itself with {server.returncode}"
        server.send_signal(signal.SIGTERM)
    try:
        status = server.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        return f"the server did not end within {END_SECONDS} s of SIGTERM"
    return None if status == 0 else f"the server ended with {status} after SIGTERM"


def run(server, options, port, log):
    """The script's exit status, and what was wrong with the server."""
    fault = wait_until_ready(server, PlainClient(f"http://127.0.0.1:{port}"))
    if fault:
        return 1, fault
    environment = dict(os.environ, SERVER_PID=str(server.pid), SERVER_LOG=log)
    command = [sys.executable, options.script, "--url", f"http://127.0.0.1:{port}"]
    status = subprocess.run(command, env=environment).returncode
    return status, end(server, options.script_ends_server)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flags", default="", help="more flags of pagoda serve")
    parser.add_argument("--script-ends-server", action="store_true")
    for name in ("program", "model", "script"):
        parser.add_argument(name)
    options = parser.parse_args()
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    path = cache / "pagoda" / "models" / options.model
    if not path.exists():
        print(f"skipped: {options.model} is not in the cache; tools/fetch.py gets it")
        return 77
    port = free_port()
    command = [options.program, "serve", str(path), "--port", str(port), "--max-model-len", "2048"]
    with tempfile.NamedTemporaryFile() as log:
        server = subprocess.Popen(command + shlex.split(options.flags), stdout=log, stderr=log)
        try:
            status, fault = run(server, options, port, log.name)
        finally:
            if server.poll() is None:
                server.kill()
                server.wait()
        if fault or status not in (0, 77):
            print("--- the server's log, its last lines")
            print("\n".join(pathlib.Path(log.name).read_text(errors="replace").splitlines()[-40:]))
        if fault:
            print(f"failed: {fault}")
            return 1
        return status


if __name__ == "__main__":
    sys.exit(main())
