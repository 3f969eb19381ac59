#!/usr/bin/env python3
"""Starts `pagoda serve` on a free port, runs a test against it, ends it by SIGTERM.

  with_server.py [--flags="--api-key K …"] [--script-ends-server] PAGODA MODEL SCRIPT [SCRIPT'S ARGUMENTS]

MODEL is a file of the user's cache ($XDG_CACHE_HOME or ~/.cache, pagoda/models). SCRIPT gets --url, and the server's
process id and log as SERVER_PID and SERVER_LOG. The exit status is the script's, or 1 when the server does not start,
does not survive the script, or does not end in order; 77 (skipped) when the model is not in the cache. The server's
log is shown when something failed.
"""
import argparse
import os
import shlex
import subprocess
import sys

from server import Server, ServerFault, cached_model


class ScriptFailed(Exception):
    pass


def run_script(server, script, arguments):
    environment = dict(os.environ, SERVER_PID=str(server.process.pid), SERVER_LOG=server.log.name)
    status = subprocess.run([sys.executable, script, "--url", server.url, *arguments], env=environment).returncode
    if status not in (0, 77):
        raise ScriptFailed(status)
    return status


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flags", default="", help="more flags of pagoda serve")
    parser.add_argument("--script-ends-server", action="store_true")
    for name in ("program", "model", "script"):
        parser.add_argument(name)
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    model = cached_model(options.model)
    if model is None:
        return 77
    command = [options.program, "serve", model, "--max-model-len", "2048", *shlex.split(options.flags)]
    try:
        with Server(command, ended_by_script=options.script_ends_server) as server:
            return run_script(server, options.script, options.arguments)
    except ScriptFailed as failure:
        return failure.args[0]
    except ServerFault as fault:
        print(f"failed: {fault}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
