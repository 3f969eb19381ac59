"""Runs `pagoda dcgmi` on a simulated machine whose state is its own."""
import atexit
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

PAGODA, LIBRARY = sys.argv[1:3]


class Machine:
    """A simulated machine whose state is its own."""

    def __init__(self, scenario, **environment):
        self.scenario = scenario
        self.folder = tempfile.mkdtemp()
        atexit.register(shutil.rmtree, self.folder, ignore_errors=True)
        self.environment = {**os.environ, "PAGODA_SIMULATE": scenario, "PAGODA_SIMULATE_DIR": self.folder,
                            "PAGODA_NVML_LIBRARY": LIBRARY, **environment}

    def run(self, *words):
        return subprocess.run([PAGODA, "dcgmi", *words], env=self.environment, capture_output=True, text=True,
                              timeout=120, check=False)

    def out(self, *words, status=0):
        done = self.run(*words)
        assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
        return done.stdout

    def json(self, *words):
        return json.loads(self.out(*words, "-j"))

    def simulate(self, *words):
        environment = {name: value for name, value in self.environment.items() if name != "PAGODA_SIMULATE"}
        subprocess.run([PAGODA, "simulate", self.scenario, *words], env=environment, check=True, timeout=60,
                       capture_output=True)

    def start(self, *words):
        return subprocess.Popen([PAGODA, "dcgmi", *words], env=self.environment, stdout=subprocess.PIPE, text=True)

    def state_file(self):
        return next(pathlib.Path(self.folder).glob("*.dcgmi.json"))
