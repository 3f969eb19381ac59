"""Choices, loops, settings, faults: what `pagoda smi` does, by exit status and by the fields that matter."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

from simulated_smi import SimulatedMachine

PAGODA, LIBRARY = sys.argv[1:3]


def machine(scenario):
    return SimulatedMachine(PAGODA, LIBRARY, scenario)


class Choices(unittest.TestCase):
    def test_one_gpu_of_two_by_index_and_uuid(self):
        two = machine("h100x2")
        uuids = [line.split("UUID: ")[1].rstrip(")") for line in two.smi("-L")[1].splitlines()]
        self.assertEqual(len(uuids), 2)
        for name in ("1", uuids[1]):
            self.assertEqual(two.smi("-i", name, "--query-gpu=index", "--format=csv,noheader"), (0, "1\n"))

    def test_an_index_that_is_not_there(self):
        self.assertEqual(machine("h100x2").smi("-i", "7"), (6, "No devices were found\n"))

    def test_no_units_and_no_header(self):
        code, text = machine("hopper").smi("--query-gpu=power.limit,memory.total", "--format=csv,noheader,nounits")
        self.assertEqual((code, text), (0, "700.00, 81559\n"))

    def test_an_alias_prints_the_canonical_name(self):
        self.assertEqual(machine("hopper").smi("--query-gpu=clocks.sm", "--format=csv")[1].splitlines()[0],
                         "clocks.current.sm [MHz]")

    def test_an_unknown_field(self):
        self.assertEqual(machine("hopper").smi("--query-gpu=pwer", "--format=csv"),
                         (2, 'Field "pwer" is not a valid field to query.\n'))

    def test_an_unknown_display(self):
        code, text = machine("hopper").smi("-q", "-d", "HEAT")
        self.assertEqual(code, 2)
        self.assertIn("TEMPERATURE", text)

    def test_into_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "list.txt"
            self.assertEqual(machine("hopper").smi("-L", "-f", str(path)), (0, ""))
            self.assertIn("H100", path.read_text(encoding="utf-8"))

    def test_a_loop_repeats_until_it_is_ended(self):
        one = machine("hopper")
        running = subprocess.Popen([PAGODA, "smi", "-lms", "50", "--query-gpu=index", "--format=csv,noheader"],
                                   env=one.environment, stdout=subprocess.PIPE, text=True)
        lines = [running.stdout.readline() for _ in range(3)]
        running.terminate()
        self.assertEqual(lines, ["0\n"] * 3)
        self.assertEqual(running.wait(timeout=10), 0)
        running.stdout.close()


class Forms(unittest.TestCase):
    def test_json_has_numbers_and_reasons(self):
        report = json.loads(machine("turing").smi("-q", "--json")[1])["gpus"][0]
        self.assertEqual(report["fb_memory_usage"]["total_mib"], 8192)
        self.assertIsNone(report["gpu_power_readings"]["average_power_draw"])
        self.assertEqual(report["gpu_power_readings"]["average_power_draw_absent"], "not supported by this GPU")
        self.assertEqual([process["pid"] for process in report["processes"]], [1720, 4556, 28511, 28512])

    def test_xml_is_well_formed(self):
        root = ElementTree.fromstring(machine("hopper-mig").smi("-q", "-x")[1])
        self.assertEqual(root.find("gpu/fb_memory_usage/total").text, "81559 MiB")
        self.assertEqual(len(root.findall("gpu/mig_devices/mig_device")), 4)

    def test_every_query_in_json(self):
        for words in (["-L"], ["topo", "-m"], ["nvlink", "-s"], ["--explain"], ["mig", "-lgi"],
                      ["--query-gpu=name"], ["--query-compute-apps=pid"], ["dmon", "-c", "1"], ["pmon", "-c", "1"]):
            code, text = machine("h100").smi(*words, "--json")
            self.assertEqual(code, 0, text)
            for document in text.splitlines() if "mon" in words[0] else [text]:
                json.loads(document)

    def test_mig_lists(self):
        split = machine("h100-mig")
        self.assertIn("MIG 3g.40gb", split.smi("mig", "-lgi")[1])
        self.assertIn("MIG 1g.10gb", split.smi("mig", "-lgip")[1])
        self.assertIn("Compute instances", split.smi("mig", "-lci")[1])

    def test_lists_where_there_is_no_mig(self):
        self.assertEqual(machine("turing").smi("mig", "-lgi"), (6, "No GPU instances found: Not Found\n"))


class Settings(unittest.TestCase):
    def test_a_power_limit_is_seen_by_the_next_client(self):
        one = machine("h100")
        code, text = one.smi("-pl", "250")
        self.assertEqual(code, 0, text)
        self.assertRegex(text, r"^Power limit for GPU 0000\S+ was set to 250.00 W from 700.00 W.\nAll done.\n$")
        self.assertEqual(one.smi("--query-gpu=power.limit,enforced.power.limit", "--format=csv,noheader")[1],
                         "250.00 W, 250.00 W\n")

    def test_a_power_limit_out_of_range(self):
        code, text = machine("h100").smi("-pl", "10")
        self.assertEqual(code, 2)
        self.assertRegex(text, r"Provided power limit 10.00 W is not a valid power limit which should be between "
                               r"200.00 W and 700.00 W for GPU 0000")
        self.assertTrue(text.endswith("Terminating early due to previous errors.\n"))

    def test_persistence_mode_twice(self):
        one = machine("rtx4090")
        self.assertIn("Enabled persistence mode for GPU", one.smi("-pm", "1")[1])
        self.assertIn("is already Enabled for GPU", one.smi("-pm", "1")[1])

    def test_without_permission(self):
        code, text = machine("no-permission").smi("-pm", "0")
        self.assertEqual(code, 4)
        self.assertRegex(text, r"^Unable to set persistence mode for GPU \S+: Insufficient Permissions\n")

    def test_locked_clocks(self):
        one = machine("h100:training")
        self.assertRegex(one.smi("-lgc", "600,900")[1], r'GPU clocks set to "\(gpuClkMin 600, gpuClkMax 900\)" for GPU')
        clock = int(one.smi("--query-gpu=clocks.sm", "--format=csv,noheader,nounits")[1])
        self.assertLessEqual(clock, 900)
        self.assertEqual(one.smi("-rgc"), (0, "All done.\n"))

    def test_ecc_is_pending_until_a_reset(self):
        one = machine("h100")
        self.assertIn("Reboot required.", one.smi("-e", "0")[1])
        modes = ["--query-gpu=ecc.mode.current,ecc.mode.pending", "--format=csv,noheader"]
        self.assertEqual(one.smi(*modes)[1], "Enabled, Disabled\n")
        code, text = one.smi("-r")
        self.assertEqual(code, 0, text)
        self.assertIn("was successfully reset.", text)
        self.assertEqual(one.smi(*modes)[1], "Disabled, Disabled\n")


    def test_application_clocks(self):
        one = machine("turing")
        code, text = one.smi("-ac", "7000,1500")
        self.assertIn(code, (0, 3))
        self.assertRegex(text, r'Applications clocks set to "\(MEM 7000, SM 1500\)" for GPU|not supported')
        self.assertEqual(one.smi("-ac", "7000")[0], 2)


class MigChanges(unittest.TestCase):
    def test_from_the_whole_gpu_to_instances_and_back(self):
        one = machine("h100x1")
        self.assertEqual(one.smi("-mig", "1")[0], 0)
        code, text = one.smi("mig", "-cgi", "9,2g.20gb", "-C")
        self.assertEqual(code, 0, text)
        lines = text.splitlines()
        self.assertRegex(lines[0], r"^Successfully created GPU instance ID +\d+ on GPU  0 using profile MIG 3g.40gb \(ID  9\)$")
        self.assertRegex(lines[1], r"^Successfully created compute instance ID  0 on GPU  0 GPU instance ID +\d+ using")
        self.assertEqual(len(lines), 4)
        self.assertEqual(one.smi("-L")[1].count("MIG "), 2)
        code, text = one.smi("mig", "-dgi")
        self.assertEqual((code, "Unable to destroy GPU instance ID" in text), (19, True), text)
        code, text = one.smi("mig", "-dci")
        self.assertEqual((code, text.count("Successfully destroyed compute instance ID  0 from GPU  0")), (0, 2), text)
        self.assertEqual(one.smi("mig", "-cci", "default")[0], 0)
        self.assertEqual(one.smi("mig", "-dci")[0], 0)
        code, text = one.smi("mig", "-dgi")
        self.assertEqual((code, text.count("Successfully destroyed GPU instance ID")), (0, 2), text)
        self.assertEqual(one.smi("mig", "-dgi")[0], 6)

    def test_a_profile_that_is_not_there(self):
        one = machine("h100x1")
        one.smi("-mig", "1")
        code, text = one.smi("mig", "-cgi", "8g.1gb")
        self.assertEqual(code, 2)
        self.assertIn("no GPU instance profile '8g.1gb'", text)


class Faults(unittest.TestCase):
    def test_no_driver(self):
        environment = {**os.environ, "PAGODA_NVML_LIBRARY": "/nowhere/libnvidia-ml.so.1"}
        environment.pop("PAGODA_SIMULATE", None)
        done = subprocess.run([PAGODA, "smi"], env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 9)
        self.assertIn("couldn't communicate with the NVIDIA driver", done.stdout)
        self.assertIn("--simulate", done.stdout)

    def test_kernel_module_not_loaded(self):
        self.assertEqual(machine("driver-not-loaded").smi()[0], 9)

    def test_driver_and_library_differ(self):
        code, text = machine("driver-mismatch").smi()
        self.assertEqual(code, 18)
        self.assertTrue(text.startswith("Failed to initialize NVML: Driver/library version mismatch\n"), text)
        self.assertIn("NVML library version: 595.71\n", text)

    def test_no_gpus(self):
        self.assertEqual(machine("no-gpus").smi(), (6, "No devices were found\n"))

    def test_a_gpu_that_hangs_does_not_hide_the_others(self):
        code, text = machine("hanging-gpu").smi("--query-gpu=index,temperature.gpu", "--format=csv,noheader")
        rows = dict(line.split(", ") for line in text.splitlines())
        self.assertEqual(code, 0)
        self.assertEqual(rows.pop("1"), "[Timeout]")
        self.assertTrue(all(value.isdigit() for value in rows.values()), rows)
        self.assertEqual(len(rows), 3)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
