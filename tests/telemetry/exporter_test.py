"""`pagoda exporter` against what dcgm-exporter's users rely on: names, labels, flags, environment, counters files; and
what it does when a GPU, the driver, or a file is not as it should be. exporter_test.py PAGODA LIBRARY"""
import concurrent.futures
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from exporter_process import OPEN_METRICS, Exporter, free_port, samples

PAGODA, LIBRARY = sys.argv[1:3]
QUICK = ["-c", "200"]
DEFAULT_FIELDS = """SM_CLOCK MEM_CLOCK MEMORY_TEMP GPU_TEMP POWER_USAGE TOTAL_ENERGY_CONSUMPTION PCIE_REPLAY_COUNTER GPU_UTIL
MEM_COPY_UTIL ENC_UTIL DEC_UTIL XID_ERRORS FB_FREE FB_USED FB_RESERVED UNCORRECTABLE_REMAPPED_ROWS CORRECTABLE_REMAPPED_ROWS
ROW_REMAP_FAILURE NVLINK_BANDWIDTH_TOTAL""".split()
PROFILING = ["GR_ENGINE_ACTIVE", "PIPE_TENSOR_ACTIVE", "DRAM_ACTIVE", "PCIE_TX_BYTES", "PCIE_RX_BYTES"]


def exporter(scenario, *flags, **rest):
    return Exporter(PAGODA, LIBRARY, scenario, [*QUICK, *flags], **rest)


def run(*flags, scenario="h100", environment=None):
    """(exit status, standard error) of an exporter that ends by itself."""
    with tempfile.TemporaryDirectory() as folder:
        variables = {**os.environ, "PAGODA_SIMULATE": scenario, "PAGODA_SIMULATE_DIR": folder,
                     "PAGODA_NVML_LIBRARY": LIBRARY, **(environment or {})}
        done = subprocess.run([PAGODA, "exporter", *flags], env=variables, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stderr


def counters(text):
    file = tempfile.NamedTemporaryFile("w", suffix=".csv")
    file.write(text)
    file.flush()
    return file


class Page(unittest.TestCase):
    def test_default_fields_of_eight_gpus(self):
        with exporter("h100x8:training") as one:  # rates need two readings
            one.wait_for(lambda: one.value("pagoda_exporter_collections_total") >= 2, "a second reading")
            found = samples(one.page())
        for name in [f"DCGM_FI_DEV_{field}" for field in DEFAULT_FIELDS] + [f"DCGM_FI_PROF_{field}" for field in PROFILING]:
            self.assertEqual(sum(sample[0] == name for sample in found), 8, name)
        gpu, labels, value = next(sample for sample in found if sample[0] == "DCGM_FI_DEV_POWER_USAGE")
        self.assertEqual(list(labels), ["gpu", "UUID", "pci_bus_id", "device", "modelName", "Hostname", "DCGM_FI_DRIVER_VERSION"])
        self.assertEqual((labels["gpu"], labels["device"], labels["modelName"]), ("0", "nvidia0", "NVIDIA H100 80GB HBM3"))
        self.assertRegex(labels["UUID"], "^GPU-")
        self.assertEqual(labels["Hostname"], socket.gethostname())
        self.assertTrue(500 < value < 750, value)
        self.assertEqual([s[2] for s in found if s[0] == "pagoda_gpu_up"], [1] * 8)

    def test_ratios_are_of_one_and_rates_in_bytes(self):
        with exporter("h100:training") as one:
            one.wait_for(lambda: one.value("pagoda_exporter_collections_total") >= 2, "a second reading")
            self.assertTrue(0.9 < one.value("DCGM_FI_PROF_GR_ENGINE_ACTIVE") <= 1)
            self.assertTrue(1e8 < one.value("DCGM_FI_PROF_PCIE_TX_BYTES") < 1e10)

    def test_the_port_of_older_guides(self):
        try:
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(("127.0.0.1", 9835))
        except OSError:
            self.skipTest("port 9835 is in use on this machine")
        with exporter("rtx3080:inference", "--address", "127.0.0.1:9835", port=9835) as one:
            for name in ("DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_MEM_COPY_UTIL", "DCGM_FI_DEV_POWER_USAGE"):
                self.assertGreater(one.value(name), 0, name)

    def test_what_the_card_has_not_has_no_line(self):
        with exporter("rtx3080") as one:
            page = one.page()
            self.assertNotIn("DCGM_FI_PROF_", page)  # before Hopper
            self.assertNotIn("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", page)
            reasons = {labels["reason"]: value for labels, value in one.samples("pagoda_gpu_absent_fields")}
            self.assertGreater(reasons["not supported by this GPU"], 3)

    def test_both_forms_have_the_same_series(self):
        with exporter("h100x2:training", "-c", "600000") as one:
            status, kind, plain = one.get("/metrics")
            self.assertEqual((status, kind), (200, "text/plain; version=0.0.4; charset=utf-8"))
            status, kind, opened = one.get("/metrics", OPEN_METRICS)
            self.assertEqual((status, kind), (200, "application/openmetrics-text; version=1.0.0; charset=utf-8"))
            self.assertTrue(opened.endswith("# EOF\n"))
            self.assertEqual(samples(plain), samples(opened))
            self.assertEqual(one.get("/health")[::2], (200, "OK\n"))
            self.assertIn("/metrics", one.page() and one.get("/")[2])
            self.assertEqual(one.get("/nothing")[0], 404)

    def test_mig_instances(self):
        with exporter("h100-mig") as one:
            used = one.samples("DCGM_FI_DEV_FB_USED")
            self.assertTrue(used)
            for labels, _ in used:
                self.assertRegex(labels["GPU_I_PROFILE"], r"^\dg\.\d+gb")
                self.assertRegex(labels["GPU_I_ID"], r"^\d+$")
                self.assertRegex(labels["UUID"], "^GPU-")
            # The board's temperature is told of each of its instances, as dcgm-exporter does; whether it is up, once.
            self.assertEqual(len(one.samples("DCGM_FI_DEV_GPU_TEMP")), len(used))
            self.assertEqual(len(one.samples("pagoda_gpu_up")), 1)
        with exporter("h100-mig", "-d", "g") as one:
            self.assertEqual([labels.get("GPU_I_ID") for labels, _ in one.samples("DCGM_FI_DEV_GPU_TEMP")], [None])
        with exporter("h100-mig", "-d", "g+i:0") as one:
            self.assertEqual(len(one.samples("DCGM_FI_DEV_GPU_TEMP")), 2)


class Settings(unittest.TestCase):
    def test_flags_of_labels(self):
        with exporter("h100", "-n", "-o", "--replace-blanks-in-model-name") as one:
            labels = one.samples("DCGM_FI_DEV_GPU_TEMP")[0][0]
        self.assertNotIn("Hostname", labels)
        self.assertNotIn("UUID", labels)
        self.assertRegex(labels["uuid"], "^GPU-")
        self.assertEqual(labels["modelName"], "NVIDIA-H100-80GB-HBM3")

    def test_environment_and_the_command_line_wins(self):
        file = counters("DCGM_FI_DEV_GPU_TEMP, gauge, Heat.\n")
        variables = {"DCGM_EXPORTER_COLLECTORS": file.name, "DCGM_EXPORTER_LISTEN": "127.0.0.1:1",
                     "DCGM_EXPORTER_DEVICES_STR": "g:1", "NODE_NAME": "node-7", "DCGM_EXPORTER_KUBERNETES": "false"}
        with exporter("h100x2", environment=variables) as one:
            self.assertEqual([labels["gpu"] for labels, _ in one.samples("DCGM_FI_DEV_GPU_TEMP")], ["1"])
            self.assertEqual(one.samples("DCGM_FI_DEV_GPU_TEMP")[0][0]["Hostname"], "node-7")
            self.assertIn("# HELP DCGM_FI_DEV_GPU_TEMP Heat.\n", one.page())
            self.assertNotIn("DCGM_FI_DEV_POWER_USAGE", one.page())
        status, error = run(environment={"DCGM_EXPORTER_INTERVAL": "soon"})
        self.assertEqual(status, 2)
        self.assertIn("DCGM_EXPORTER_INTERVAL", error)

    def test_new_names_stay_new_and_a_reload_changes_the_fields(self):
        file = counters("DCGM_FI_DEV_GPU_TEMP_CELSIUS, gauge, Heat.\nDCGM_EXP_CLOCK_EVENTS_COUNT, gauge, Events.\n"
                        "DCGM_EXP_XID_ERRORS_COUNT, gauge, XIDs.\nDCGM_FI_DEV_NVSWITCH_TEMP, gauge, A switch.\n")
        with exporter("h100:thermal-throttle", "-f", file.name) as one:
            self.assertGreater(one.value("DCGM_FI_DEV_GPU_TEMP_CELSIUS"), 30)
            one.simulate("--set", "0.clocks.event_reasons=0x40")
            one.wait_for(lambda: one.samples("DCGM_EXP_CLOCK_EVENTS_COUNT", window_size_in_ms="300000", clock_event="hw_thermal"),
                         "the slowdown")
            self.assertEqual(one.value("DCGM_EXP_XID_ERRORS_COUNT"), 0)
            self.assertIn("NVSwitches, which are not read: left out", one.log_text())
            one.simulate("--xid", "0:31")
            one.wait_for(lambda: one.samples("DCGM_EXP_XID_ERRORS_COUNT", xid="31"), "the XID")
            pathlib.Path(file.name).write_text("DCGM_FI_DEV_FB_USED, gauge, Memory.\nDCGM_EXP_XID_ERRORS_TOTAL, counter, XIDs.\n")
            one.process.send_signal(signal.SIGHUP)
            one.wait_for(lambda: one.samples("DCGM_FI_DEV_FB_USED"), "the new field")
            self.assertEqual(one.value("DCGM_EXP_XID_ERRORS_TOTAL", xid="31"), 1)  # what came before is not forgotten
            pathlib.Path(file.name).write_text("DCGM_FI_DEV_NONSENSE, gauge, x\n")
            one.process.send_signal(signal.SIGHUP)
            one.wait_for(lambda: "the fields stay as they were" in one.log_text(), "the refusal")
            self.assertTrue(one.samples("DCGM_FI_DEV_FB_USED"))

    def test_health_status(self):
        file = counters("DCGM_EXP_GPU_HEALTH_STATUS, gauge, Health.\n")
        with exporter("h100x2", "-f", file.name) as one:
            self.assertEqual(sorted((labels["health_watch"], value) for labels, value in one.samples("DCGM_EXP_GPU_HEALTH_STATUS", gpu="0")),
                             [(system, 0) for system in ("DRIVER", "INFOROM", "MEM", "NVLINK", "PCIE", "POWER", "THERMAL")])
            one.simulate("--set", "1.remapped_rows.failure=1", "--set", "0.clocks.event_reasons=0x80")
            one.wait_for(lambda: one.value("DCGM_EXP_GPU_HEALTH_STATUS", gpu="1", health_watch="MEM") == 20, "the failure")
            self.assertEqual(one.value("DCGM_EXP_GPU_HEALTH_STATUS", gpu="0", health_watch="POWER"), 10)
            self.assertEqual(one.value("DCGM_EXP_GPU_HEALTH_STATUS", gpu="1", health_watch="PCIE", health_error_code="DCGM_FR_OK"), 0)
            one.simulate("--set", "1.lost=1")  # what cannot be read is not called well
            one.wait_for(lambda: {labels["health_watch"] for labels, _ in one.samples("DCGM_EXP_GPU_HEALTH_STATUS", gpu="1")} == {"DRIVER"},
                         "the loss")

    def test_jobs(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "1").write_text("4711\n4712\n")
            with exporter("h100x2", "--hpc-job-mapping-dir", folder) as one:
                self.assertEqual([labels["hpc_job"] for labels, _ in one.samples("DCGM_FI_DEV_GPU_UTIL", gpu="1")], ["4711", "4712"])
                self.assertEqual(["hpc_job" in labels for labels, _ in one.samples("DCGM_FI_DEV_GPU_UTIL", gpu="0")], [False])
                (pathlib.Path(folder) / "1").unlink()
                one.wait_for(lambda: not one.samples("DCGM_FI_DEV_GPU_UTIL", hpc_job="4711"), "the end of the job")

    def test_peers(self):
        file = counters("DCGM_EXP_P2P_STATUS, gauge, Peers.\n")
        with exporter("h100x2", "-f", file.name) as one:
            found = one.samples("DCGM_EXP_P2P_STATUS")
        self.assertEqual([(labels["gpu"], labels["peer_gpu"]) for labels, _ in found], [("0", "1"), ("1", "0")])
        self.assertEqual({labels["link_status"] for labels, _ in found}, {"OK"})

    def test_the_printed_counters_are_the_built_in_ones(self):
        printed = subprocess.run([PAGODA, "exporter", "--print-counters"], capture_output=True, text=True, check=True).stdout
        file = counters(printed)
        names = []
        for flags in ([], ["-f", file.name]):
            with exporter("h100", *flags) as one:
                names.append({sample[0] for sample in samples(one.page())})
        self.assertEqual(*names)


class Faults(unittest.TestCase):
    def test_a_lost_gpu_stays_and_comes_back(self):
        with exporter("h100x2:training") as one:
            one.simulate("--xid", "1:79")
            one.wait_for(lambda: one.value("DCGM_FI_DEV_XID_ERRORS", gpu="1") == 79, "the XID")
            one.simulate("--set", "1.lost=1")
            one.wait_for(lambda: one.value("pagoda_gpu_up", gpu="1") == 0, "the loss")
            labels = one.samples("pagoda_gpu_up", gpu="1")[0][0]
            self.assertRegex(labels["UUID"], "^GPU-")
            self.assertEqual(labels["modelName"], "NVIDIA H100 80GB HBM3")
            self.assertEqual(one.samples("DCGM_FI_DEV_GPU_TEMP", gpu="1"), [])
            self.assertTrue(one.samples("DCGM_FI_DEV_GPU_TEMP", gpu="0"))
            self.assertEqual(one.get("/health")[0], 200)
            self.assertIn("GPU 1 lost", one.log_text())
            one.simulate("--set", "1.lost=0")
            one.wait_for(lambda: one.value("pagoda_gpu_up", gpu="1") == 1, "the return")
            one.wait_for(lambda: one.samples("DCGM_FI_DEV_GPU_TEMP", gpu="1"), "its values")
            # The XID stays: an error does not undo itself.
            error = one.samples("DCGM_FI_DEV_XID_ERRORS", gpu="1")
            self.assertEqual([(found["err_code"], found["err_msg"], value) for found, value in error], [("79", "fell off the bus", 79)])
            self.assertEqual(one.value("pagoda_gpu_xid_errors_total", gpu="1", xid="79"), 1)
            self.assertLess(abs(one.value("pagoda_gpu_xid_last_timestamp_seconds", gpu="1", xid="79") - time.time()), 60)
            self.assertEqual(one.value("DCGM_FI_DEV_XID_ERRORS", gpu="0", err_msg="No Error"), 0)
            one.wait_for(lambda: one.samples("DCGM_FI_PROF_GR_ENGINE_ACTIVE", gpu="1"), "its profile")
            one.simulate("--xid", "1:43")  # it is listened to again
            one.wait_for(lambda: one.samples("pagoda_gpu_xid_errors_total", gpu="1", xid="43"), "another XID")

    def test_health_fails_when_no_gpu_answers(self):
        with exporter("h100", "-c", "100") as one:
            one.simulate("--set", "0.lost=1")
            one.wait_for(lambda: one.get("/health")[0] == 503, "the failure", 40)
            self.assertIn("no GPU answers", one.get("/health")[2])
            self.assertEqual(one.value("pagoda_gpu_up"), 0)

    def test_health_fails_when_data_is_stale(self):
        with exporter("h100x8", "-c", "100") as one, concurrent.futures.ThreadPoolExecutor() as asking:
            for _ in range(3):  # the reading that follows the stop may be quicker than the answer
                one.process.send_signal(signal.SIGSTOP)  # as if the machine had stood still
                time.sleep(11)
                answer = asking.submit(one.get, "/health")
                time.sleep(0.3)
                one.process.send_signal(signal.SIGCONT)
                if answer.result()[0] == 503:
                    break
            self.assertRegex(answer.result()[2], "^stale: the last reading of the GPUs ended 1[0-9] s ago")
            one.wait_for(lambda: one.get("/health")[0] == 200, "health after the stop")

    def test_a_gpu_that_hangs_hides_no_other(self):
        with exporter("h100x2", environment={}) as one:
            one.simulate("--set", "1.calls.*=300")
            one.wait_for(lambda: one.value("pagoda_gpu_up", gpu="1") == 0, "the hang is seen", 60)
            self.assertEqual(one.value("pagoda_gpu_up", gpu="0"), 1)
            before = one.value("pagoda_exporter_collections_total")
            one.wait_for(lambda: one.value("pagoda_exporter_collections_total") > before + 3, "readings go on", 60)
            self.assertTrue(one.samples("DCGM_FI_DEV_GPU_TEMP", gpu="0"))
            one.simulate("--clear")

    def test_sentences(self):
        wrong = counters("# c\nDCGM_FI_DEV_GPU_TEMP, gauge, Heat.\nDCGM_FI_DEV_GPU_TEMPP, gauge, Heat.\n")
        short = counters("DCGM_FI_DEV_GPU_TEMP, gauge\n")
        text = counters("DCGM_FI_DEV_NAME, gauge, A text.\n")
        for flags, rest, status, words in (
                (["-f", wrong.name], {}, 2, [wrong.name + ", line 3: DCGM_FI_DEV_GPU_TEMPP is not a field"]),
                (["-f", short.name], {}, 2, [short.name + ", line 1:", "three: NAME, type, help"]),
                (["-f", text.name], {}, 2, ["line 1: DCGM_FI_DEV_NAME is a text: its type is label"]),
                (["-f", "/nonexistent.csv"], {}, 1, ["/nonexistent.csv cannot be read: No such file"]),
                ([], {"scenario": "driver-not-loaded"}, 1, ["no GPU can be read", "--simulate h100x8 exporter"]),
                ([], {"scenario": "no-gpus"}, 1, ["the driver has no GPU"]),
                (["--kubernetes"], {}, 2, ["--kubernetes", "no kubelet client"]),
                (["-d", "x"], {}, 2, ["'x'", "none of f, g, i"]),
                (["--address", "9400"], {}, 2, ["'9400' is no HOST:PORT"]),
                (["--collect-intervall", "5"], {}, 2, ["--collect-interval"])):
            found, error = run(*flags, **rest)
            self.assertEqual(found, status, error)
            self.assertEqual(len(error.strip().splitlines()), 1, error)
            for word in words:
                self.assertIn(word, error)

    def test_a_port_in_use(self):
        with socket.socket() as held:
            port = free_port()
            held.bind(("127.0.0.1", port))
            held.listen()
            status, error = run("--address", f"127.0.0.1:{port}")
        self.assertEqual(status, 1)
        self.assertIn(str(port), error)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
