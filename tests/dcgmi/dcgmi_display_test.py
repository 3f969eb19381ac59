"""What `pagoda dcgmi` shows of simulated GPUs, and the groups that it remembers."""
import concurrent.futures
import os
import pathlib
import re
import signal
import subprocess
import sys
import unittest

from simulated_dcgmi import PAGODA, Machine


class TheGuide(unittest.TestCase):
    """The guide's two lines, as it writes them."""

    def test_group_c_all(self):
        machine = Machine("h100x2")
        done = machine.run("group", "-c", "all")
        self.assertEqual((done.returncode, done.stdout),
                         (0, 'Successfully created group "all" with a group ID of 2\n'))
        self.assertIn("The group is empty", done.stderr)

    def test_dmon_tells_activity_and_not_temperature(self):
        lines = Machine("h100x2:training").out("dmon", "-e", "1001,1002,1003,1004", "-c", "1").splitlines()
        self.assertEqual(lines[0].split(), ["#Entity", "GRACT", "SMACT", "SMOCC", "TENSO"])
        self.assertEqual(lines[1].split(), ["ID"])
        self.assertEqual([line[:10] for line in lines[2:]], ["GPU 0     ", "GPU 1     "])
        for line in lines[2:]:
            values = [float(word) for word in line.split()[2:]]
            self.assertEqual(len(values), 4)
            self.assertTrue(0.9 < values[0] <= 1 and 0.8 < values[1] < 0.95 and 0.3 < values[2] < 0.5, values)


class Discovery(unittest.TestCase):
    def test_list(self):
        text = Machine("h100x8").out("discovery", "-l")
        self.assertTrue(text.startswith("8 GPUs found.\n+--------+"))
        self.assertIn("| 7      | Name: NVIDIA H100 80GB HBM3 ", text)
        self.assertEqual(len(re.findall(r"Device UUID: GPU-[0-9a-f-]{36}", text)), 8)
        self.assertEqual({len(line) for line in text.splitlines()[1:]}, {81})

    def test_hierarchy(self):
        text = Machine("h100-mig").out("discovery", "-c")
        self.assertRegex(text, r"\| GPU 0 +\| GPU GPU-\S+ \(EntityID: 0\)")
        self.assertRegex(text, r"\| -> I 0/2 +\| GPU Instance \(EntityID: 0\)")
        self.assertRegex(text, r"\|    -> CI 0/10/0 +\| Compute Instance \(EntityID: 3\)")

    def test_information(self):
        machine = Machine("h100x2")
        text = machine.out("discovery", "-i", "apt")
        self.assertIn("| Group of 2 GPUs ", text)
        self.assertIn("| Device Name              | NVIDIA H100 80GB HBM3 ", text)
        self.assertRegex(text, r"\| UUID +\| \*\*\*\* ")
        self.assertRegex(text, r"\| Enforced Power Limit \(W\) \| 700 ")
        self.assertIn("GPU ID: 1", machine.out("discovery", "--gpuid", "1", "-i", "a"))
        self.assertIn("there is no GPU 5", machine.out("discovery", "--gpuid", "5", "-i", "a", status=255))
        self.assertIn("Invalid flags", machine.out("discovery", "-i", "z", status=255))

    def test_a_lost_gpu_stays_in_the_list(self):
        machine = Machine("h100x2")
        machine.simulate("--set", "1.lost=1")
        text = machine.out("discovery", "-l")
        self.assertIn("2 GPUs found.", text)
        self.assertIn("| 1      | Name: (", text)


class Groups(unittest.TestCase):
    def test_a_life(self):
        machine = Machine("h100-mig")
        self.assertIn("group ID of 2", machine.out("group", "-c", "mine", "-a", "0,instance:1"))
        self.assertEqual(machine.out("group", "-g", "2", "-a", "0/10/0"), "Add to group operation successful.\n")
        info = machine.json("group", "-g", "2", "-i")["body"]["2"]["children"]
        self.assertEqual(info["Entities"]["value"], "GPU 0, GPU-I 1, GPU-CI 3")
        self.assertEqual(machine.out("group", "-g", "2", "-r", "0"), "Remove from group operation successful.\n")
        listed = machine.out("group", "-l")
        self.assertIn("| 3 groups found. ", listed)
        self.assertRegex(listed, r"\|    -> Entities +\| GPU-I 1, GPU-CI 3 ")
        self.assertEqual(machine.out("group", "-d", "2"), "Successfully removed group 2\n")
        self.assertIn("The Group is not found", machine.out("group", "-d", "2", status=251))

    def test_default_and_what_is_refused(self):
        machine = Machine("h100x2")
        machine.out("group", "-c", "everything", "--default")
        self.assertIn("GPU 0, GPU 1", machine.out("group", "-g", "2", "-i"))
        self.assertIn("already in the group", machine.out("group", "-g", "2", "-a", "1", status=255))
        self.assertIn("There is no GPU 9", machine.out("group", "-g", "2", "-a", "9", status=251))
        self.assertIn("No action", machine.out("group", "-g", "2", status=255))
        self.assertIn("always", machine.out("group", "-d", "0", status=251))

    def test_groups_survive_and_writers_do_not_disturb_each_other(self):
        machine = Machine("h100x2")
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            made = list(pool.map(lambda i: machine.run("group", "-c", f"g{i}").returncode, range(8)))
        self.assertEqual(made, [0] * 8)
        self.assertIn("10 groups found.", machine.out("group", "-l"))

    def test_a_newer_state_file_is_refused_and_an_older_begun_anew(self):
        machine = Machine("h100x2")
        machine.out("group", "-c", "a")
        machine.state_file().write_text('{"format": 7}', encoding="utf-8")
        self.assertIn("newer pagoda", machine.out("group", "-l", status=253))
        machine.state_file().write_text('{"format": 0, "groups": []}', encoding="utf-8")
        done = machine.run("group", "-c", "b")
        self.assertEqual(done.returncode, 0)
        self.assertIn("older format", done.stderr)
        self.assertTrue(pathlib.Path(f"{machine.state_file()}.old").exists())

    def test_field_groups(self):
        machine = Machine("h100x2:training")
        self.assertIn("No field groups found", machine.out("fieldgroup", "-l"))
        self.assertEqual(machine.out("fieldgroup", "-c", "heat", "-f", "150,DCGM_FI_DEV_BOARD_POWER_WATTS"),
                         'Successfully created field group "heat" with a field group ID of 1\n')
        self.assertIn("Duplicate Key passed", machine.out("fieldgroup", "-c", "heat", "-f", "150", status=255))
        self.assertRegex(machine.out("fieldgroup", "-l"), r"1 field group found.\n(.*\n)+\| Field IDs +\| 150, 155 ")
        head = machine.out("dmon", "-f", "1", "-c", "1").splitlines()[0]
        self.assertEqual(head.split(), ["#Entity", "TMPTR", "POWER"])
        self.assertIn("The Field Group is not found", machine.out("dmon", "-f", "5", "-c", "1", status=255))
        self.assertEqual(machine.out("fieldgroup", "-d", "-g", "1"), "Successfully removed field group 1\n")


class Monitor(unittest.TestCase):
    def test_old_and_new_names_and_tags(self):
        machine = Machine("h100x1:training")
        words = "DCGM_FI_DEV_GPU_TEMP,DCGM_FI_DEV_GPU_TEMP_CELSIUS,gpu_temp,150"
        line = machine.out("dmon", "-e", words, "-c", "1").splitlines()[2].split()
        self.assertEqual(len(set(line[2:])), 1)
        self.assertEqual(len(line), 6)

    def test_what_is_absent_is_no_number_and_the_reason_is_told(self):
        done = Machine("a100x1:training").run("dmon", "-e", "1002,150,1004", "-c", "1")
        self.assertEqual(done.returncode, 0)
        values = done.stdout.splitlines()[2].split()
        self.assertEqual((values[2], values[4]), ("N/A", "N/A"))
        self.assertTrue(values[3].isdigit())
        self.assertIn("SMACT: DCGM_FI_PROF_SM_ACTIVE: profiling metrics come with Hopper", done.stderr)

    def test_mig_instances(self):
        machine = Machine("h100-mig")
        lines = machine.out("dmon", "-e", "1001,252,150", "-i", "0,instance:0,0/3/0", "-c", "1").splitlines()[2:]
        self.assertEqual([line[:10].strip() for line in lines], ["GPU 0", "GPU-I 0", "GPU-CI 1"])
        self.assertEqual(lines[1].split()[2:], ["0.120", "44", "N/A"])
        self.assertEqual(lines[2].split()[2:], ["0.000", "17", "N/A"])
        instances = machine.out("dmon", "-e", "252", "-g", "all_instances", "-c", "1").splitlines()[2:]
        self.assertEqual(len(instances), 4)

    def test_units_columns_and_several_lines(self):
        machine = Machine("h100x1:training")
        lines = machine.out("dmon", "-e", "155,252,203", "-c", "16", "-d", "1").splitlines()
        self.assertEqual(lines[1].split(), ["ID", "W", "MB", "%"])
        self.assertEqual([number for number, line in enumerate(lines) if line.startswith("#Entity")], [0, 17])
        self.assertEqual(sum(line.startswith("GPU 0") for line in lines), 16)

    def test_a_lost_gpu_has_a_line_and_no_values(self):
        machine = Machine("h100x2:training")
        machine.simulate("--set", "1.lost=1")
        lines = machine.out("dmon", "-e", "150,1001", "-c", "1").splitlines()[2:]
        self.assertEqual(lines[1].split(), ["GPU", "1", "N/A", "N/A"])
        self.assertNotIn("N/A", lines[0])

    def test_an_xid_is_seen_while_it_runs(self):
        machine = Machine("h100x2")
        running = machine.start("dmon", "-e", "230", "-d", "200")
        seen = []
        for line in running.stdout:
            if line.startswith("GPU 1"):
                seen.append(line.split()[2])
                if len(seen) == 1:
                    machine.simulate("--xid", "1:94")
                if seen[-1] == "94" or len(seen) > 60:
                    break
        running.send_signal(signal.SIGINT)
        self.assertIn("receiving a signal", running.stdout.read())
        self.assertEqual(running.wait(timeout=20), 0)
        running.stdout.close()
        self.assertEqual((seen[0], seen[-1]), ("0", "94"))

    def test_mistakes(self):
        machine = Machine("h100x1")
        self.assertIn("Did you mean gpu_temp?", machine.out("dmon", "-e", "gpu_tmp", "-c", "1", status=255))
        self.assertIn("Unknown field id: 99999", machine.out("dmon", "-e", "150,99999", status=255))
        self.assertIn("NVSwitches", machine.out("dmon", "-e", "780", status=255))
        self.assertIn("Either field group ID or a list", machine.out("dmon", status=255))
        self.assertIn("The Group is not found", machine.out("dmon", "-e", "150", "-g", "9", status=255))
        self.assertIn("Expected a numerical groupId", machine.out("dmon", "-e", "150", "-g", "x", status=255))
        done = machine.run("dmon", "-q")
        self.assertEqual(done.returncode, 254)
        self.assertIn("An error occurred trying to parse the command line.", done.stderr)
        self.assertEqual(machine.run("dmon", "-e", "150", "--host", "10.0.0.1").returncode, 254)

    def test_list(self):
        text = Machine("h100x1").out("dmon", "-l")
        self.assertRegex(text, r"(?m)^Long Name +Short Name +Field ID")
        self.assertRegex(text, r"(?m)^gr_engine_active +GRACT +1001$")


class Links(unittest.TestCase):
    def test_topology(self):
        machine = Machine("h100x2")
        text = machine.out("topo", "--gpuid", "0")
        self.assertRegex(text, r"\| CPU Core Affinity +\| 0 - 31 ")
        self.assertRegex(text, r"\| To GPU 1 +\| Connected via ")
        self.assertIn("Connected via eighteen NVLINKs (Links: 0, 1, 2, ", text)
        self.assertRegex(machine.out("topo", "-g", "0"), r"\| NUMA Optimal +\| True ")
        self.assertIn("There is no GPU 8", machine.out("topo", "--gpuid", "8", status=255))

    def test_nvlink(self):
        machine = Machine("nvlink-down")
        states = machine.out("nvlink", "-s")
        self.assertIn(" D", states)
        self.assertIn("Key: Up=U, Down=D, Disabled=X, Not Supported=_", states)
        self.assertRegex(machine.out("nvlink", "-e", "-g", "0"), r"\| Link 0 +\| +\|\n\| -> CRC FLIT Error +\| \d+ ")
        self.assertIn("not supported", Machine("t4x1").out("nvlink", "-e", "-g", "0", status=250))

    def test_profile(self):
        text = Machine("h100x2").out("profile", "-l")
        self.assertRegex(text, r"\| A\.1 +\| 1004 +\| tensor_active ")
        self.assertIn("come with Hopper", Machine("a100x2").out("profile", "-l", status=250))


class WithoutGpus(unittest.TestCase):
    def test_no_driver_is_one_sentence_and_a_hint(self):
        environment = {**os.environ, "PAGODA_NVML_LIBRARY": "/nowhere/libnvidia-ml.so.1"}
        environment.pop("PAGODA_SIMULATE", None)
        done = subprocess.run([PAGODA, "dcgmi", "discovery", "-l"], env=environment, capture_output=True, text=True,
                              check=False, timeout=60)
        self.assertEqual(done.returncode, 231)
        self.assertTrue(done.stdout.startswith("Error: "))
        self.assertIn("pagoda --simulate h100x8 dcgmi", done.stdout)

    def test_no_gpus(self):
        self.assertIn("0 GPUs found.", Machine("no-gpus").out("discovery", "-l"))
        self.assertEqual(Machine("no-gpus").run("dmon", "-e", "150").returncode, 242)

    def test_parts_of_the_daemon(self):
        self.assertIn("there is none here", Machine("h100x1").out("modules", status=250))
        self.assertIn("Did you mean `pagoda dcgmi health`?", Machine("h100x1").out("helath", status=255))
        self.assertEqual(Machine("h100x1").run("--help").returncode, 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
