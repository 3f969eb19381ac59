"""pagoda --simulate and pagoda simulate as a person uses them.

usage: command_test.py PAGODA LIBNVIDIA_ML
"""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PAGODA, LIBRARY = "", ""

READ = """
import ctypes
library = ctypes.CDLL("libnvidia-ml.so.1")
print(library.nvmlInit_v2(), end=" ")
device, value = ctypes.c_void_p(), ctypes.c_uint()
library.nvmlDeviceGetHandleByIndex_v2(1, ctypes.byref(device))
print(library.nvmlDeviceGetTemperature(device, 0, ctypes.byref(value)), value.value)
"""


class Simulate(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_pagoda(self, *arguments):
        environment = {"PATH": os.environ["PATH"], "PAGODA_SIMULATE_DIR": self.folder.name, "HOME": self.folder.name}
        return subprocess.run([PAGODA, *arguments], capture_output=True, text=True, env=environment, timeout=30)

    def assert_refused(self, words, *arguments):
        done = self.run_pagoda(*arguments)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done.stderr)
        self.assertIn(words, done.stderr)

    def temperature(self):
        done = self.run_pagoda("simulate", "h100x2", "--", sys.executable, "-c", READ)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def test_lists_what_there_is(self):
        done = self.run_pagoda("simulate")
        self.assertEqual(done.returncode, 0)
        for name in ("lost-gpu", "driver-mismatch", "t4", "a100-mig", "gb200", "training"):
            self.assertIn(name, done.stdout)
        self.assertNotIn("_hopper", done.stdout)
        self.assertIn("clocks.{current,max", self.run_pagoda("simulate", "--keys").stdout)

    def test_another_program_finds_the_library(self):
        self.assertEqual(self.temperature(), "0 0 31")

    def test_values_are_laid_over_and_taken_back(self):
        self.assertEqual(self.run_pagoda("simulate", "h100x2", "--set", "1.temperature.gpu=95").returncode, 0)
        self.assertEqual(self.temperature(), "0 0 95")
        self.assertEqual(self.run_pagoda("simulate", "h100x2", "--set", "all.temperature.gpu=UNKNOWN", "--set", "1.temperature.gpu=NO_DATA").returncode, 0)
        self.assertEqual(self.temperature(), "0 21 0")
        self.assertEqual(self.run_pagoda("simulate", "h100x2", "--clear").returncode, 0)
        self.assertEqual(self.temperature(), "0 0 31")

    def test_a_scenario_of_ones_own(self):
        scenario = Path(self.folder.name) / "own.yaml"
        scenario.write_text("pagoda_scenario: 1\ngpus: [{model: h100, count: 2, temperature: {gpu: 12}}]\n")
        self.assertEqual(self.run_pagoda("simulate", str(scenario), "--check").stdout, f"{scenario} is in order\n")
        scenario.write_text("pagoda_scenario: 1\ngpus:\n- modell: h100\n")
        self.assert_refused(f"{scenario}:3: there is no value 'modell'", "simulate", str(scenario), "--check")

    def test_mistakes_get_one_line(self):
        self.assert_refused("no scenario or model 'h1000'", "--simulate", "h1000", "smi")
        self.assert_refused("--simulate wants a scenario", "--simulate")
        self.assert_refused("did you mean 'temperature.gpu'?", "simulate", "h100", "--set", "0.temperatur.gpu=5")
        self.assert_refused("not of the form", "simulate", "h100", "--set", "temperature")
        self.assert_refused("has no GPU 5", "simulate", "h100", "--set", "5.temperature.gpu=50")
        self.assert_refused("has no GPU 5", "simulate", "h100", "--xid", "5:79")
        self.assert_refused("not of the form GPU:XID", "simulate", "h100", "--xid", "79")
        self.assert_refused("which scenario?", "simulate", "--", "true")
        self.assert_refused("cannot run", "simulate", "h100", "--", "no-such-program-here")


if __name__ == "__main__":
    LIBRARY, PAGODA = sys.argv.pop(), sys.argv.pop()
    unittest.main()
