"""`pagoda device-plugin` on simulated GPUs against a kubelet that speaks the real protocol.

usage: device_plugin_test.py PAGODA
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import grpc
except ImportError:
    print("skipped: the Python package grpcio is not installed (tests/requirements.txt)")
    sys.exit(77)

import fake_kubelet

PAGODA = ""


class DevicePlugin(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.sockets = self.folder / "device-plugins"
        self.sockets.mkdir()
        self.specs = self.folder / "cdi"
        self.specs.mkdir()
        self.log = open(self.folder / "log", "w+")
        self.addCleanup(self.log.close)
        # A simulated machine of this test's own: faults that it injects are told to nobody else.
        self.environment = {"PATH": os.environ["PATH"], "PAGODA_SIMULATE_DIR": str(self.folder / "simulated")}

    def kubelet(self, **rest):
        kubelet = fake_kubelet.Kubelet(self.sockets, **rest)
        self.addCleanup(kubelet.stop)
        return kubelet

    def start(self, scenario, *flags):
        self.scenario = scenario
        plugin = subprocess.Popen([PAGODA, "--simulate", scenario, "device-plugin", "--device-plugin-path", str(self.sockets), "--spec-dir",
                                   str(self.specs), *flags], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env=self.environment)
        self.addCleanup(self.end, plugin)
        return plugin

    def end(self, plugin):
        if plugin.poll() is None:
            plugin.terminate()
        return plugin.wait(10)

    def said(self):
        self.log.flush()
        return (self.folder / "log").read_text()

    def inject(self, *words):
        subprocess.run([PAGODA, "simulate", self.scenario, *words], check=True, capture_output=True, env=self.environment)

    def uuids(self):
        done = subprocess.run([PAGODA, "--simulate", self.scenario, "smi", "--query-gpu=uuid", "--format=csv,noheader"], capture_output=True, text=True,
                              check=True, env=self.environment)
        return done.stdout.split()

    def assert_status(self, code, words, call, *arguments):
        with self.assertRaises(grpc.RpcError) as caught:
            call(*arguments)
        self.assertEqual(caught.exception.code(), code)
        self.assertIn(words, caught.exception.details())

    def test_from_registration_to_a_container(self):
        kubelet = self.kubelet()
        plugin_process = self.start("h100x8")
        plugin = kubelet.plugin()
        self.assertEqual(plugin.request, {"version": "v1beta1", "endpoint": "pagoda-gpu.sock", "resource_name": "nvidia.com/gpu",
                                          "options": {"pre_start_required": None, "get_preferred_allocation_available": 1}})
        self.assertEqual(plugin.options, {"pre_start_required": None, "get_preferred_allocation_available": 1})
        uuids = self.uuids()
        devices = plugin.devices()
        self.assertEqual(list(devices), uuids)
        self.assertEqual({health for health, _ in devices.values()}, {"Healthy"})
        self.assertEqual(plugin.allocate([uuids[3]], [uuids[0], uuids[1]]),
                         [{"cdi": [f"nvidia.com/gpu={uuids[3]}"], "envs": {}, "annotations": {}},
                          {"cdi": [f"nvidia.com/gpu={uuids[0]}", f"nvidia.com/gpu={uuids[1]}"], "envs": {}, "annotations": {}}])
        chosen = plugin.preferred(uuids[2:], [uuids[5]], 3)
        self.assertEqual((len(set(chosen)), uuids[5] in chosen, set(chosen) <= set(uuids[2:])), (3, True, True))
        self.assert_status(grpc.StatusCode.INVALID_ARGUMENT, "has no device 'GPU-absent'", plugin.allocate, ["GPU-absent"])
        self.assert_status(grpc.StatusCode.INVALID_ARGUMENT, "are wanted", plugin.preferred, uuids[:1], [], 2)
        plugin_process.terminate()
        self.assertEqual(plugin_process.wait(10), 0)
        self.assertIsNone(plugin.devices(), "the stream ends")
        self.assertFalse((self.sockets / "pagoda-gpu.sock").exists())

    def test_mig_devices_are_resources_of_their_own(self):
        kubelet = self.kubelet()
        self.start("h100-mig")
        plugins = {plugin.request["resource_name"]: plugin for plugin in (kubelet.plugin() for _ in range(3))}
        self.assertEqual(sorted(plugins), ["nvidia.com/mig-1g.10gb", "nvidia.com/mig-2g.20gb", "nvidia.com/mig-3g.40gb"])
        self.assertEqual([len(plugins[name].devices()) for name in sorted(plugins)], [2, 1, 1])
        device = "MIG-b1000003-0001-5000-8000-000000000000"
        self.assertEqual(plugins["nvidia.com/mig-2g.20gb"].allocate([device])[0]["cdi"], [f"nvidia.com/gpu={device}"])

    def test_mig_strategies(self):
        kubelet = self.kubelet()
        plugin = self.start("h100-mig", "--mig-strategy", "single")
        self.assertEqual(plugin.wait(10), 1)
        self.assertIn("not all devices of this node are of one kind", self.said())
        self.assertTrue(kubelet.registered.empty())

    def test_replicas(self):
        kubelet = self.kubelet()
        self.start("h100x2", "--replicas", "3", "--fail-requests-greater-than-one", "--device-list-strategy", "envvar", "cdi-annotations")
        plugin = kubelet.plugin()
        first, second = self.uuids()
        self.assertEqual(list(plugin.devices()), [f"{uuid}::{n}" for uuid in (first, second) for n in range(3)])
        self.assertEqual(plugin.allocate([f"{second}::2"]), [{"cdi": [], "envs": {"NVIDIA_VISIBLE_DEVICES": second},
                                                              "annotations": {"cdi.k8s.io/pagoda_gpu": f"nvidia.com/gpu={second}"}}])
        # The first GPU has one turn left, the second two.
        self.assertEqual(plugin.preferred([f"{first}::2", f"{second}::0", f"{second}::1"], [], 1), [f"{second}::0"])
        self.assert_status(grpc.StatusCode.INVALID_ARGUMENT, "is shared", plugin.allocate, [f"{first}::0", f"{second}::0"])

    def test_an_xid_makes_unhealthy(self):
        kubelet = self.kubelet()
        self.start("h100x2", "--ignore-xid", "119")
        plugin = kubelet.plugin()
        first, second = self.uuids()
        self.assertEqual(plugin.devices(), {first: ("Healthy", []), second: ("Healthy", [])})
        time.sleep(1)  # until events are registered
        self.inject("--xid", "0:13")
        self.inject("--xid", "0:119")
        self.inject("--xid", "1:79")
        self.assertEqual(plugin.devices(), {first: ("Healthy", []), second: ("Unhealthy", [])})
        self.assertIn(f"{second} (GPU 1) is unhealthy: XID 79", self.said())
        self.assert_status(grpc.StatusCode.UNAVAILABLE, "XID 79", plugin.allocate, [second])
        self.assertEqual(plugin.allocate([first])[0]["cdi"], [f"nvidia.com/gpu={first}"])

    def test_a_gpu_that_does_not_answer_is_unhealthy_until_it_does(self):
        kubelet = self.kubelet()
        self.start("h100x2")
        plugin = kubelet.plugin()
        first, second = self.uuids()
        plugin.devices()
        self.inject("--set", "1.calls.nvmlDeviceGetMemoryInfo_v2=GPU_IS_LOST", "1.calls.nvmlDeviceGetMemoryInfo=GPU_IS_LOST")
        self.assertEqual(plugin.devices(), {first: ("Healthy", []), second: ("Unhealthy", [])})
        self.inject("--clear")
        self.assertEqual(plugin.devices(), {first: ("Healthy", []), second: ("Healthy", [])})

    def test_a_kubelet_that_comes_later_and_again(self):
        plugin_process = self.start("h100x2")
        for _ in range(50):
            if "waiting for the kubelet" in self.said():
                break
            time.sleep(0.1)
        self.assertIsNone(plugin_process.poll())
        for _ in range(3):
            kubelet = fake_kubelet.Kubelet(self.sockets)
            try:
                self.assertEqual(len(kubelet.plugin().devices()), 2)
            finally:
                kubelet.stop()
        # A kubelet that empties its folder and keeps its socket, as some do.
        kubelet = self.kubelet()
        self.assertEqual(len(kubelet.plugin().devices()), 2)
        (self.sockets / "pagoda-gpu.sock").unlink()
        self.assertEqual(len(kubelet.plugin().devices()), 2)

    def test_a_kubelet_that_refuses(self):
        self.kubelet(refuse="requested API version is not supported")
        self.assertEqual(self.start("h100x2").wait(15), 1)
        self.assertIn("the kubelet refuses nvidia.com/gpu: requested API version is not supported", self.said())

    def test_faults_in_one_sentence(self):
        for flags, code, words in ((["--replicas", "0"], 2, "--replicas"), (["--mig-strategy", "x"], 2, "'x' is none of none, single, mixed"),
                                   (["--device-list-strategy", "volume-mounts"], 2, "none of cdi-cri, cdi-annotations, envvar")):
            self.assertEqual(self.start("h100x2", *flags).wait(10), code)
            self.assertIn(words, self.said())
        self.assertEqual(self.start("no-gpus").wait(10), 1)
        self.assertIn("no GPU answers on this node", self.said())

    def test_no_driver(self):
        done = subprocess.run([PAGODA, "device-plugin", "--nvidia-driver-root", str(self.folder)], capture_output=True, text=True, timeout=30,
                              env=self.environment)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, f"pagoda-grpc: no libnvidia-ml.so.1 under {self.folder}\n")

    def test_a_device_that_no_spec_names_is_warned_of(self):
        kubelet = self.kubelet()
        self.start("h100x2")
        kubelet.plugin()
        self.assertIn("no CDI spec names nvidia.com/gpu=GPU-", self.said())

    def test_without_the_program_for_grpc(self):
        alone = self.folder / "alone"
        alone.mkdir()
        shutil.copy(PAGODA, alone / "pagoda")
        done = subprocess.run([alone / "pagoda", "device-plugin"], capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"})
        self.assertEqual(done.returncode, 1)
        self.assertIn("pagoda-grpc is neither at", done.stderr)
        self.assertIn("libgrpc++-dev", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)


if __name__ == "__main__":
    PAGODA = os.path.abspath(sys.argv[1])
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    unittest.main(argv=sys.argv[:1])
