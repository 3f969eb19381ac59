"""A simulated machine for doctor, whose state is its own and whose clock a test may set."""
import json
import os
import pathlib
import subprocess
import tempfile
import time

from doctor import EXIT


class SimulatedMachine:
    """`scenario`: a shipped name, or the text of a scenario file."""

    def __init__(self, program, scenario):
        self.program = program
        self.folder = tempfile.TemporaryDirectory()
        self.scenario = scenario
        if scenario.startswith("pagoda_scenario:"):
            path = pathlib.Path(self.folder.name) / "machine.yaml"
            path.write_text(scenario)
            self.scenario = str(path)
        self.environment = {**os.environ, "PAGODA_SIMULATE_DIR": self.folder.name}
        self.environment.pop("PAGODA_SIMULATE", None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def simulate(self, *words):
        done = subprocess.run([self.program, "simulate", self.scenario, *words], env=self.environment,
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def begin(self, seconds_ago):
        """The scenario began so long ago."""
        paths = dict(line.split(maxsplit=1) for line in self.simulate("--paths").splitlines())
        pathlib.Path(paths["state"]).write_text(f"epoch_us: {int((time.time() - seconds_ago) * 1e6)}\n")

    def command(self, *flags):
        return [self.program, "--simulate", self.scenario, "doctor", *flags]

    def examine(self, window="0.4"):
        done = subprocess.run(self.command("--json", "--window", window), env=self.environment, capture_output=True,
                              timeout=120)
        assert not done.stderr, done.stderr.decode()
        report = json.loads(done.stdout)
        assert done.returncode == EXIT[report["severity"]], (done.returncode, report["severity"])
        return report
