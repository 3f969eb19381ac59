#!/usr/bin/env python3
"""The lines that a beginner copies from a guide to `vllm`, and the mistakes that follow them: guide.py PAGODA MODEL

Those lines listen on all addresses, on port 8000: where the system lets it, the test runs in a network of its own,
else on a free port.
"""
import fcntl
import json
import os
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile

from report import Report, expect
from server import DEFAULT_PORT, Server, cached_model, free_port

OWN_NETWORK = ["unshare", "--user", "--map-root-user", "--net"]
INSIDE = "PAGODA_GUIDE_OWN_NETWORK"
FOLDER = "SmolLM2-135M-Instruct"
QUESTION = "用文言文写一段 Linux 的简介"


def bring_loopback_up():
    """ip link set lo up, by SIOCSIFFLAGS (netdevice(7)): IFF_UP and IFF_RUNNING."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh14x", b"lo", 0x1 | 0x40))


def enter_own_network():
    """Runs this script again in a network of its own; returns where that is not allowed, or already so."""
    if os.environ.get(INSIDE):
        bring_loopback_up()
    elif shutil.which("unshare") and subprocess.run([*OWN_NETWORK, "true"], capture_output=True).returncode == 0:
        os.environ[INSIDE] = "1"
        os.execvp("unshare", [*OWN_NETWORK, sys.executable, *sys.argv])


def listening_addresses(port):
    """In dotted form, from /proc/net/tcp (proc(5)): local_address is little-endian hexadecimal, state 0A listens."""
    rows = pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]
    found = [row.split()[1].split(":") for row in rows if row.split()[3] == "0A"]
    return [socket.inet_ntoa(struct.pack("<I", int(address, 16))) for address, at in found if int(at, 16) == port]


class Guide:
    """A folder as the guide's `-v /path/to/models:/models` makes it, and the links that people call."""

    def __init__(self, program, model, home):
        self.program = os.path.abspath(program)
        self.home = pathlib.Path(home)
        self.models = self.home / "models"
        self.folder = self.models / FOLDER
        self.folder.mkdir(parents=True)
        self.file = self.folder / pathlib.Path(model).name
        self.file.symlink_to(model)
        for name in ("vllm", "tritonserver"):
            (self.home / name).symlink_to(self.program)
        self.port = DEFAULT_PORT if os.environ.get(INSIDE) else free_port()

    def link(self, name):
        return str(self.home / name)

    def server(self, *command):
        return Server([*command], port=self.port)

    def complaint(self, *command, status=2):
        """The lines that a command that must not serve says."""
        environment = {"PATH": os.environ["PATH"], "XDG_CACHE_HOME": str(self.home / "empty")}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
        expect(done.returncode == status, f"{command}: ended with {done.returncode}: {done.stderr[-500:]}")
        return [line for line in done.stderr.splitlines() if not re.match(r"I \d", line)]  # no information

    def refused(self, *command, status=2):
        lines = self.complaint(*command, status=status)
        expect(len(lines) == 1, f"{command}: {len(lines)} lines: {lines}")
        return lines[0]

    # ---- What must serve

    def the_images_arguments(self):
        """docker run … vllm/vllm-openai --model /models/… --tensor-parallel-size 1 …: no word `serve`."""
        arguments = (f"--model {self.folder} --tensor-parallel-size 1 --gpu-memory-utilization 0.9 "
                     "--max-model-len 8192").split()
        with self.server(self.link("vllm"), *arguments) as server:
            expect(listening_addresses(self.port) == ["0.0.0.0"], f"{listening_addresses(self.port)}")
            expect(server.client.max_model_len() == 8192, f"{server.client.max_model_len()}")
            return self.curl_line(server) + ", " + self.names(server)

    def curl_line(self, server):
        body = json.dumps({"model": FOLDER, "messages": [{"role": "user", "content": QUESTION}], "temperature": 0.7,
                           "max_tokens": 512}, ensure_ascii=False)
        if not shutil.which("curl"):
            answer = server.client.post("/v1/chat/completions", body.encode()).json
        else:
            command = ["curl", "-sS", f"http://localhost:{self.port}/v1/chat/completions", "-H",
                       "Content-Type: application/json", "-d", body]
            done = subprocess.run(command, capture_output=True, check=True, env={"PATH": os.environ["PATH"]})
            answer = json.loads(done.stdout)
        expect("choices" in answer, f"{answer}")
        content = answer["choices"][0]["message"]["content"]
        expect(content.strip() and answer["usage"]["completion_tokens"] <= 512, f"{answer}")
        return f"{answer['usage']['completion_tokens']} tokens"

    def names(self, server):
        """The folder's name, the file's, and the paths of both."""
        known = [FOLDER, self.file.stem, str(self.folder), f"{self.folder}/"]
        for name in known:
            answer = server.client.post("/v1/completions", {"model": name, "prompt": "Linux", "max_tokens": 1})
            expect(answer.status == 200, f"{name}: {answer.status} {answer.body[:200]}")
        answer = server.client.post("/v1/completions", {"model": "Qwen2.5-7B-Instruct", "prompt": "Linux"})
        expect(answer.status == 404 and server.client.served_model() in answer.error["message"], f"{answer.body[:300]}")
        return f"{len(known)} names"

    def vllm_serve(self):
        """Today's form, with the file's path, and the older flags that such lines carry."""
        older = ("--dtype auto --enforce-eager --trust-remote-code --disable-log-requests --swap-space 0.25 "
                 "--enable-chunked-prefill --block-size 16 --max-num-seqs 8").split()
        with self.server(self.link("vllm"), "serve", str(self.file), "--max_model_len", "2k", *older) as server:
            expect(listening_addresses(self.port) == ["0.0.0.0"], f"{listening_addresses(self.port)}")
            for name in (self.file.name, self.file.stem, str(self.file)):
                answer = server.client.post("/v1/completions", {"model": name, "prompt": "Linux", "max_tokens": 1})
                expect(answer.status == 200, f"{name}: {answer.status} {answer.body[:200]}")
            swap = re.search(r"KV .*?([\d.]+ [KMG]i?B) of swap space", server.log_text)
            expect(swap, f"the log tells no swap space: {server.log_text}")
            return f"{swap.group(1)} of swap space"

    def pagoda_serve(self):
        with self.server(self.program, "serve", str(self.folder), "--max-model-len", "1024") as server:
            expect(listening_addresses(self.port) == ["127.0.0.1"], f"{listening_addresses(self.port)}")
            line = self.refused(self.link("vllm"), "serve", str(self.folder), "--port", str(self.port), status=1)
            expect(f":{self.port} is in use" in line and str(server.process.pid) in line and "--port" in line, line)
            server.client.assert_alive()
            return line

    # ---- What must be refused, in one line that names the cause and the remedy

    def two_gpus(self):
        for flags in (["--tensor-parallel-size", "2"], ["-tp", "2"], ["--tensor_parallel_size=2"]):
            line = self.refused(self.link("vllm"), "--model", str(self.folder), *flags)
            expect("--tensor-parallel-size 2" in line and "give 1" in line, line)
        return line

    def tritonserver(self):
        arguments = f"--model-repository={self.models} --http-port=8000 --grpc-port=8001".split()
        line = self.refused(self.link("tritonserver"), *arguments)
        expect("--model-repository" in line and "not in this version yet" in line, line)
        return line

    def no_such_model(self):
        path = str(self.models / "Qwen2.5-7B-Instruct")
        line = self.refused(self.link("vllm"), "--model", path, status=1)
        expect(path in line and "no such file or folder" in line, line)
        return line

    def folders_that_hold_no_model(self):
        empty, other = self.models / "empty", self.models / "hugging"
        empty.mkdir()
        other.mkdir()
        (other / "config.json").write_text("{}")
        line = self.refused(self.link("vllm"), "--model", str(empty), status=1)
        expect("without a .gguf file" in line, line)
        line = self.refused(self.link("vllm"), "--model", str(other), status=1)
        expect(str(other) in line and "tokenizer.json" in line or "model_type" in line, line)
        line = self.refused(self.link("vllm"), "--model", "Qwen/Qwen2.5-7B-Instruct", status=1)
        expect("no such folder" in line and "pagoda serve FOLDER" in line, line)
        return line

    def longer_than_the_cache(self):
        """The table of `pagoda plan`; vLLM's sentence, with both sizes, and what fits."""
        *table, line = self.complaint(self.link("vllm"), "--model", str(self.folder), "--max-model-len", "8192",
                                      "--kv-cache-memory-bytes", "64M", "--port", str(self.port), status=1)
        expect(any("a shorter --max-model-len" in row for row in table), f"{table}")
        sizes = re.search(r"The model's max seq len \(8192\) is larger than the maximum number of tokens that can be "
                          r"stored in KV cache \((\d+)\)", line)
        expect(sizes and f"What fits: --max-model-len {sizes.group(1)}" in line, line)
        fits = sizes.group(1)
        with self.server(self.program, "serve", str(self.folder), "--kv-cache-memory-bytes", "64M", "--max-model-len",
                         fits) as server:
            expect(server.client.max_model_len() == int(fits), f"{server.client.max_model_len()}")
        return f"{fits} fit, and {fits} are served"

    def longer_than_the_model(self):
        line = self.refused(self.link("vllm"), "--model", str(self.folder), "--max-model-len", "32768", "--port",
                            str(self.port), status=1)
        expect("32768" in line and "8192" in line, line)
        return line


CHECKS = ["the_images_arguments", "vllm_serve", "pagoda_serve", "two_gpus", "tritonserver", "no_such_model",
          "folders_that_hold_no_model", "longer_than_the_cache", "longer_than_the_model"]


def main():
    program, model = sys.argv[1], cached_model(sys.argv[2])
    if model is None:
        return 77
    enter_own_network()
    report = Report()
    for name in CHECKS:
        with tempfile.TemporaryDirectory() as home:
            guide = Guide(program, model, home)
            report.check(name, getattr(guide, name))
    report.finish()


if __name__ == "__main__":
    sys.exit(main())
