"""Watches, policies and diagnostics of `pagoda dcgmi`: what goes wrong is found, told and acted upon."""
import json
import re
import sys
import time
import unittest

from simulated_dcgmi import PAGODA, Machine

FAKE_CUDA = sys.argv[3]


class Health(unittest.TestCase):
    def test_a_watch(self):
        machine = Machine("h100x2")
        self.assertIn("Health watches not enabled", machine.out("health", "-c", status=253))
        self.assertEqual(machine.out("health", "-s", "a"), "Health monitor systems set successfully.\n")
        self.assertRegex(machine.out("health", "-f"), r"\| Thermal +\| On ")
        self.assertRegex(machine.out("health", "-c"), r"\| Overall Health +\| Healthy ")
        machine.simulate("--set", "1.remapped_rows.failure=1", "--set", "0.pcie.replays=400")
        report = machine.json("health", "-c")["body"]
        self.assertEqual(report["Overall Health"]["value"], "Failure")
        gpus = report["GPU"]["children"]
        memory = gpus["1"]["children"]["Errors"]["children"]["Memory system"]
        self.assertEqual(memory["value"], "Failure")
        self.assertIn("could not be remapped", memory["overflow"][0])
        self.assertEqual(gpus["0"]["children"]["Errors"]["children"]["PCIe system"]["value"], "Warning")
        self.assertIn("replace the card", " ".join(machine.out("health", "-c").replace("|", " ").split()))
        machine.out("health", "--clear")
        self.assertRegex(machine.out("health", "-f"), r"\| Memory +\| Off ")

    def test_letters(self):
        machine = Machine("h100x1")
        machine.out("health", "-s", "pm")
        systems = {name: row["value"] for name, row in machine.json("health", "-f")["body"].items()}
        self.assertEqual([name for name, value in systems.items() if value == "On"], ["PCIe", "Memory"])
        self.assertIn("Invalid flags", machine.out("health", "-s", "z", status=255))

    def test_a_lost_gpu_is_a_failure(self):
        machine = Machine("h100x2")
        machine.out("health", "-s", "a")
        machine.simulate("--set", "1.lost=1")
        gpus = machine.json("health", "-c")["body"]["GPU"]["children"]
        self.assertEqual(list(gpus), ["1"])
        self.assertIn("does not answer", gpus["1"]["children"]["Errors"]["children"]["Driver"]["overflow"][0])

    def test_shipped_faults(self):
        for scenario, system, more in (("nvlink-down", "NVLINK system", ()), ("remap-failure", "Memory system", ()),
                                       ("power-brake", "Power system", ("--set", "0.clocks.event_reasons=0x88"))):
            machine = Machine(scenario)
            machine.out("health", "-s", "a")
            machine.simulate(*more)
            self.assertIn(system, machine.out("health", "-c"), scenario)

    def test_injected_values(self):
        machine = Machine("h100x2")
        machine.out("health", "-s", "a")
        self.assertEqual(machine.out("test", "--inject", "--gpuid", "1", "-f", "230", "-v", "79"),
                         "Successfully injected field info.\n")
        done = machine.run("health", "-c")
        self.assertIn("fell off the bus", " ".join(done.stdout.replace("|", " ").split()))
        self.assertIn("Injected: GPU 1 DCGM_FI_DEV_XID_ERRORS stands as 79", done.stderr)
        machine.out("test", "--inject", "--gpuid", "0", "-f", "inforom_config_valid", "-v", "0")
        self.assertIn("InfoROM system", machine.out("health", "-c"))
        self.assertIn("no number", machine.out("test", "--inject", "-f", "150", "-v", "hot", status=255))
        self.assertIn("no GPU 7", machine.out("test", "--inject", "--gpuid", "7", "-f", "150", "-v", "1", status=255))


class Policies(unittest.TestCase):
    def test_set_get_clear(self):
        machine = Machine("h100x2")
        self.assertEqual(machine.out("policy", "--set", "1,2", "-x", "-T", "85", "-P", "600"),
                         "Policy successfully set.\n")
        text = machine.out("policy", "--get")
        for words in ("Max temperature threshold - 85", "Max power threshold - 600", "XID error detected.", "Reset GPU",
                      "System Validation (Medium)", "DCGM_ALL_SUPPORTED_GPUS"):
            self.assertIn(words, text)
        machine.out("group", "-c", "first", "-a", "0")
        machine.out("policy", "--clear", "-g", "2")
        self.assertIn("****", machine.out("policy", "--get"))
        self.assertRegex(machine.out("policy", "--get", "-v"), r"GPU ID: 0 [^+]*\n(.*\n)\| Violation conditions +\| None ")
        for words in (("--set", "0,0"), ("--set", "2,0", "-x"), ("--set", "0,9", "-x"), ("--set", "x", "-x")):
            self.assertEqual(machine.run("policy", *words).returncode, 255, words)

    def listen(self, machine, do, until, seconds=30):
        """What --reg tells from `do` on, up to a line with `until`."""
        running = machine.start("policy", "--reg")
        self.assertEqual(running.stdout.readline(), "Listening for violations.\n")
        do()
        lines, end = [], time.monotonic() + seconds
        for line in running.stdout:
            lines.append(line.rstrip("\n"))
            if until in line or time.monotonic() > end:
                break
        running.terminate()
        running.wait(timeout=20)
        running.stdout.close()
        return lines

    def test_an_xid_is_told_and_the_gpu_reset(self):
        machine = Machine("h100x2")
        machine.out("policy", "--set", "1,1", "-x")
        lines = self.listen(machine, lambda: machine.simulate("--xid", "1:94"), "Validation:")
        self.assertEqual(lines[1:4], ["GPU ID: 1", "XID error 94 detected.", "Action: GPU 1 was reset."])
        self.assertEqual(lines[4], "Validation: System Validation (Short): Pass (3 tests were not run)")

    def test_heat_is_told_once_it_crosses(self):
        machine = Machine("h100x2")
        machine.out("policy", "--set", "0,0", "-T", "85")
        lines = self.listen(machine, lambda: machine.simulate("--set", "0.temperature.gpu=91"), "Temperature:")
        self.assertEqual(lines[1:], ["GPU ID: 0", "The maximum thermal limit has violated policy manager values.",
                                     "Temperature: 91"])

    def test_an_injected_counter(self):
        machine = Machine("h100x2")
        machine.out("policy", "--set", "0,0", "-p", "-e")
        lines = self.listen(machine, lambda: machine.out("test", "--inject", "--gpuid", "1", "-f", "202", "-v", "12"),
                            "replay count")
        self.assertEqual(lines[-1], "PCIe replay count: 12")

    def test_without_a_policy_there_is_nothing_to_listen_for(self):
        self.assertIn("no policy is set", Machine("h100x1").out("policy", "--reg", status=251))


class Diagnostics(unittest.TestCase):
    def results(self, report):
        return {test["name"]: [result["status"] for result in test["results"]]
                for category in report["DCGM Diagnostic"]["test_categories"] for test in category["tests"]}

    def cuda(self, fault=""):
        machine = Machine("h100x1", PAGODA_CUDA_LIBRARY=FAKE_CUDA, FAKE_CUDA_FAULT=fault)
        uuid = re.search(r"GPU-([0-9a-f-]{36})", machine.out("discovery", "-l")).group(1)
        machine.environment["FAKE_CUDA_UUID"] = uuid.replace("-", "")
        return machine

    def test_level_1(self):
        machine = Machine("h100x2")
        machine.simulate("--set", "all.persistence_mode=0")
        text = machine.out("diag", "-r", "1")
        self.assertTrue(text.startswith("Successfully ran diagnostic for group.\n+"))
        self.assertIn("|-----  Metadata  ----------+", text)
        self.assertRegex(text, r"\| Persistence Mode +\| Warn - All ")
        self.assertRegex(text, r"\| Inforom +\| Pass - All ")
        self.assertRegex(text, r"\| CUDA Main Library +\| Skip ")
        self.assertEqual({len(line) for line in text.splitlines()[1:]}, {78})

    def test_a_fault_is_exit_status_226(self):
        machine = Machine("h100x2")
        machine.simulate("--set", "1.inforom.valid=0")
        text = machine.out("diag", "-r", "short", status=226)
        self.assertRegex(text, r"\| Inforom +\| Fail - GPU: 1 ")
        self.assertRegex(text, r"\| +\| Pass - GPU: 0 ")
        self.assertEqual(machine.run("diag", "-r", "1", "-i", "0").returncode, 0)

    def test_level_2_without_cuda_does_not_pass(self):
        report = Machine("h100x1").json("diag", "-r", "2")
        results = self.results(report)
        self.assertEqual((results["PCIe"], results["GPU Memory"]), (["Skip"], ["Skip"]))
        memory = report["DCGM Diagnostic"]["test_categories"][-1]["tests"][0]["results"][0]
        self.assertEqual(memory["info"], "not run: simulated GPUs compute nothing")

    def test_level_3_without_cuda_is_refused(self):
        self.assertIn("Level 3 needs a CUDA device: simulated GPUs compute nothing.",
                      Machine("h100x1").out("diag", "-r", "3", status=250))
        self.assertIn("Level 4", Machine("h100x1").out("diag", "-r", "4", status=255))

    def test_level_3_on_a_device(self):
        report = self.cuda().json("diag", "-r", "3", "-p", "targeted_stress.test_duration=1")
        results = self.results(report)
        for name in ("PCIe", "GPU Memory", "Memory Bandwidth", "Targeted Stress"):
            self.assertEqual(results[name], ["Pass"], name)
        self.assertIn("GB/s to the GPU", json.dumps(report))

    def test_what_goes_wrong_on_a_device(self):
        for fault, level, name, verdict, words in (
                ("memory", "2", "GPU Memory", "Fail", "did not hold 0x"),
                ("pcie", "2", "PCIe", "Fail", "came back over PCIe changed"),
                ("full", "2", "GPU Memory", "Skip", "not run: "),
                ("init", "2", "GPU Memory", "Skip", "CUDA_ERROR_NO_DEVICE"),
                ("stress", "3", "Targeted Stress", "Fail", "1 threads came to a wrong sum")):
            done = self.cuda(fault).run("diag", "-r", level, "-j", "-p", "targeted_stress.test_duration=1")
            self.assertEqual(done.returncode, 226 if verdict == "Fail" else 0, fault)
            self.assertEqual(self.results(json.loads(done.stdout))[name], [verdict], fault)
            self.assertIn(words, done.stdout, fault)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
