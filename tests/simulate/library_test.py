"""The simulated libnvidia-ml as any C client meets it: every function is there, nonsense is refused and never crashes, two
processes see one machine, a scenario with a mistake is told in one line.

usage: library_test.py LIBNVIDIA_ML NVML_H
"""
import ctypes
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

LIBRARY, HEADER = "", ""
UNINITIALIZED, INVALID_ARGUMENT, NOT_SUPPORTED, UNKNOWN = 1, 2, 3, 999

# Run in a process of its own: a library that was told a scenario keeps it.
EXPLORE = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
"""


def functions(first_parameter=""):
    text = Path(HEADER).read_text()
    text = re.sub(r"//[^\n]*", "", re.sub(r"/\*.*?\*/", "", text, flags=re.S))
    return sorted(set(re.findall(r"nvmlReturn_t\s+DECLDIR\s+(nvml\w+)\s*\(\s*" + first_parameter, text)))


class Library(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_code(self, code, scenario="h100x2", *arguments):
        environment = {"PATH": os.environ["PATH"], "PAGODA_SIMULATE": str(scenario), "PAGODA_SIMULATE_DIR": self.folder.name}
        return subprocess.run([sys.executable, "-c", EXPLORE + code, LIBRARY, *arguments], env=environment, text=True,
                              capture_output=True, timeout=60)

    def output_of(self, code, scenario="h100x2", *arguments):
        done = self.run_code(code, scenario, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def test_every_function_of_the_header_is_there(self):
        library = ctypes.CDLL(LIBRARY)
        names = functions()
        self.assertGreater(len(names), 400)
        self.assertEqual([name for name in names + ["nvmlErrorString"] if not hasattr(library, name)], [])

    def test_nothing_works_before_initialisation(self):
        without = {"nvmlInit", "nvmlInit_v2", "nvmlInitWithFlags", "nvmlSystemGetNVMLVersion", "nvmlGpmSampleFree"}
        answers = self.output_of("for name in sys.argv[2:]: print(name, getattr(library, name)(*[ctypes.c_void_p(0)] * 6), flush=True)",
                                 "h100x2", *[name for name in functions() if name not in without])
        for line in answers.splitlines():
            name, code = line.split()
            self.assertEqual(int(code), UNINITIALIZED, name)

    def test_null_arguments_and_foreign_handles_are_refused(self):
        # With a handle that is ours and nothing else; with nothing at all; with a handle that is not ours.
        code = """
library.nvmlInit_v2()
device = ctypes.c_void_p()
library.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device))
zeros = [ctypes.c_void_p(0)] * 6
stranger = ctypes.create_string_buffer(64)
for name in sys.argv[2:]:
    function = getattr(library, name)
    print(name, function(*zeros), function(device, *zeros), function(ctypes.byref(stranger), *zeros), flush=True)
"""
        # These take no output, or set something to zero: success is right.
        may_succeed = re.compile("Reset|Clear|Set|ValidateInforom")
        names = functions("nvmlDevice_t ")
        self.assertGreater(len(names), 250)
        lines = self.output_of(code, "mixed-fleet", *names).splitlines()
        self.assertEqual([line.split()[0] for line in lines], names)
        for line in lines:
            name, *codes = line.split()
            if not may_succeed.search(name):
                self.assertNotIn("0", codes, name)

    def test_a_setting_is_seen_by_another_process(self):
        head = """
library.nvmlInit_v2()
device, value = ctypes.c_void_p(), ctypes.c_uint()
library.nvmlDeviceGetHandleByIndex_v2(1, ctypes.byref(device))
"""
        read = head + "print(library.nvmlDeviceGetPowerManagementLimit(device, ctypes.byref(value)), value.value)"
        self.assertEqual(self.output_of(read), "0 700000")
        self.assertEqual(self.output_of(head + "print(library.nvmlDeviceSetPowerManagementLimit(device, 250000))"), "0")
        self.assertEqual(self.output_of(read), "0 250000")
        self.assertEqual(self.output_of(read, "h200x2"), "0 700000")  # another machine

    def test_many_processes_set_at_once_and_none_is_lost(self):
        code = """
library.nvmlInit_v2()
device = ctypes.c_void_p()
library.nvmlDeviceGetHandleByIndex_v2(int(sys.argv[2]), ctypes.byref(device))
for limit in range(200000, 300000, 5000): library.nvmlDeviceSetPowerManagementLimit(device, limit + int(sys.argv[2]))
"""
        environment = {"PATH": os.environ["PATH"], "PAGODA_SIMULATE": "h100x4", "PAGODA_SIMULATE_DIR": self.folder.name}
        running = [subprocess.Popen([sys.executable, "-c", EXPLORE + code, LIBRARY, str(gpu)], env=environment) for gpu in range(4)]
        self.assertEqual([process.wait(timeout=60) for process in running], [0] * 4)
        state = next(Path(self.folder.name).glob("*.state.yaml")).read_text()
        for gpu in range(4):
            self.assertIn(f"power.limit_mw: {295000 + gpu}", state)

    def test_the_clock_is_shared(self):
        code = """
import time
library.nvmlInit_v2()
device = ctypes.c_void_p()
print(library.nvmlDeviceGetHandleByIndex_v2(3, ctypes.byref(device)))
"""
        scenario = Path(self.folder.name) / "falls.yaml"
        scenario.write_text("pagoda_scenario: 1\ngpus: [{model: h100, count: 3}, {model: h100, falls_off_bus_after_s: 0.5}]\n")
        self.assertEqual(self.output_of(code, scenario), "0")
        time.sleep(0.6)
        self.assertEqual(self.output_of(code, scenario), "15")

    def test_a_mistake_is_one_line_with_its_number(self):
        scenario = Path(self.folder.name) / "typo.yaml"
        scenario.write_text("pagoda_scenario: 1\ngpus:\n  - model: h100\n    power:\n      drawmw: 3\n")
        done = self.run_code("print(library.nvmlInit_v2())", scenario)
        self.assertEqual(done.stdout.strip(), str(UNKNOWN))
        self.assertEqual(done.stderr, f"simulated GPUs: {scenario}:5: there is no value 'power.drawmw'; did you mean 'power.draw_mw'?\n")


if __name__ == "__main__":
    HEADER, LIBRARY = sys.argv.pop(), sys.argv.pop()
    unittest.main()
