"""`pagoda exporter` on a simulated machine whose state is its own: started on a free port, scraped, ended in order."""
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

OPEN_METRICS = "application/openmetrics-text;version=1.0.0;q=0.75,text/plain;version=0.0.4;q=0.5"
SAMPLE = re.compile(r"([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)$")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def samples(text):
    """[(name, labels, value)] of a page."""
    found = []
    for line in text.splitlines():
        if line and not line.startswith("#"):
            match = SAMPLE.match(line)
            assert match, f"not a sample: {line}"
            found.append((match[1], dict(LABEL.findall(match[2] or "")), float(match[3])))
    return found


class Exporter:
    """with Exporter(PAGODA, LIBRARY, "h100x8:training", ["-c", "200"]) as exporter: …

    `port`: a fixed one, told by the flags themselves. Leaving the block ends it by SIGTERM, which must end it with 0.
    """

    def __init__(self, pagoda, library, scenario, flags=(), environment=None, port=None):
        self.pagoda, self.library, self.scenario = pagoda, library, scenario
        self.folder = tempfile.mkdtemp()
        self.environment = {**os.environ, "PAGODA_SIMULATE": scenario, "PAGODA_SIMULATE_DIR": self.folder,
                            "PAGODA_NVML_LIBRARY": library, **(environment or {})}
        self.port = port or free_port()
        self.command = [pagoda, "exporter", *flags] + ([] if port else ["--address", f"127.0.0.1:{self.port}"])
        self.log = tempfile.NamedTemporaryFile("w+")
        self.process, self.killed = None, False

    def kill(self):
        """Ends it without a word, as a crash would."""
        self.killed = True
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        self.process = subprocess.Popen(self.command, env=self.environment, stdout=self.log, stderr=self.log)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise RuntimeError(f"ended with {self.process.returncode}:\n{self.log_text()}")
            try:
                self.get("/metrics")
                return self
            except OSError:
                time.sleep(0.05)
        self.process.kill()
        raise RuntimeError("no answer within 60 s:\n" + self.log_text())

    def __exit__(self, kind, error, trace):
        if kind:
            print("--- the exporter's log, its last lines\n" + "\n".join(self.log_text().splitlines()[-20:]))
        if not self.killed:
            self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            status = "nothing within 30 s"
        shutil.rmtree(self.folder, ignore_errors=True)
        if kind is None and status != 0 and not self.killed:
            raise RuntimeError(f"SIGTERM ended it with {status}:\n{self.log_text()}")

    def log_text(self):
        with open(self.log.name, encoding="utf-8") as log:
            return log.read()

    def get(self, path, accept=None):
        """(status, content type, body)"""
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers={"Accept": accept} if accept else {})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, answer.headers["Content-Type"], answer.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.headers["Content-Type"], refused.read().decode()

    def page(self, accept=None):
        return self.get("/metrics", accept)[2]

    def samples(self, name, **labels):
        """[(labels, value)] of one name whose labels are at least these."""
        return [(found, value) for sample, found, value in samples(self.page())
                if sample == name and labels.items() <= found.items()]

    def value(self, name, **labels):
        """Of exactly one sample."""
        found = self.samples(name, **labels)
        assert len(found) == 1, f"{name}{labels}: {len(found)} samples"
        return found[0][1]

    def simulate(self, *words):
        """Changes the simulated machine while it runs: --set, --xid, --clear."""
        subprocess.run([self.pagoda, "simulate", self.scenario, *words], env=self.environment, check=True,
                       stdout=subprocess.DEVNULL, timeout=60)

    def wait_for(self, condition, what, seconds=30):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if condition():
                return
            time.sleep(0.1)
        raise AssertionError(f"not within {seconds} s: {what}")
