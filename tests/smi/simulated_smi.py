"""Runs `pagoda smi` on a simulated machine whose state is its own."""
import atexit
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

HERE = pathlib.Path(__file__).parent
STAMPS = [re.compile(pattern) for pattern in (
    r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d{3}",
    r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}")]


def masked(text):
    """Without the times at which it was read."""
    for stamp in STAMPS:
        text = stamp.sub("<time>", text)
    return text


class SimulatedMachine:
    """`scenario`: a name that the simulation ships, or a file of scenarios/."""

    def __init__(self, pagoda, library, scenario):
        file = HERE / "scenarios" / f"{scenario}.yaml"
        self.pagoda = pagoda
        folder = tempfile.mkdtemp()
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        self.environment = {**os.environ, "PAGODA_SIMULATE": str(file) if file.exists() else scenario,
                            "PAGODA_SIMULATE_DIR": folder, "PAGODA_NVML_LIBRARY": library}

    def smi(self, *words, timeout=60):
        """(exit status, standard output)."""
        done = subprocess.run([self.pagoda, "smi", *words], env=self.environment, capture_output=True, text=True,
                              timeout=timeout, check=False)
        return done.returncode, done.stdout
