"""Which pod has which device: pagoda-grpc against a kubelet's pod-resources socket.

usage: pod_resources_test.py PAGODA_GRPC
"""
import json
import os
import pathlib
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
import wire

PROGRAM = ""


class PodResources(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.socket = pathlib.Path(folder.name) / "kubelet.sock"

    def kubelet(self, answer):
        server = fake_kubelet.serve(self.socket, "v1.PodResourcesLister", {"List": answer})
        self.addCleanup(lambda: server.stop(0).wait())

    def ask(self, milliseconds=5000):
        return subprocess.run([PROGRAM, "pod-resources", str(self.socket), str(milliseconds)], capture_output=True, text=True, timeout=30,
                              env={"PATH": os.environ["PATH"]})

    def test_devices_of_pods(self):
        pods = [{"name": "serve-0", "namespace": "llm", "containers": [
                    {"name": "serve", "devices": [{"resource_name": "nvidia.com/gpu", "device_ids": ["GPU-a", "GPU-b::1"],
                                                   "topology": {"nodes": [{"ID": 1}]}}], "memory": [{}]},
                    {"name": "sidecar", "devices": []}]},
                {"name": "train", "namespace": "default", "containers": [
                    {"name": "main", "devices": [{"resource_name": "nvidia.com/mig-1g.10gb", "device_ids": ["MIG-c"]},
                                                 {"resource_name": "example.com/nic", "device_ids": ["eth1"]}]}]}]
        self.kubelet(lambda data, context: wire.encode(wire.LIST_PODS_RESPONSE, {"pod_resources": pods}))
        done = self.ask()
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [(row["namespace"], row["pod"], row["container"], row["resource"], row["device"]) for row in json.loads(done.stdout)]
        self.assertEqual(rows, [("llm", "serve-0", "serve", "nvidia.com/gpu", "GPU-a"), ("llm", "serve-0", "serve", "nvidia.com/gpu", "GPU-b::1"),
                                ("default", "train", "main", "nvidia.com/mig-1g.10gb", "MIG-c"),
                                ("default", "train", "main", "example.com/nic", "eth1")])

    def test_a_node_with_many_pods(self):
        """Above gRPC's own limit of 4 MiB for a message."""
        pods = [{"name": f"pod-{n}-{'x' * 200}", "namespace": "n", "containers": [
            {"name": "c", "devices": [{"resource_name": "nvidia.com/gpu", "device_ids": ["GPU-a"]}]}]} for n in range(20000)]
        message = wire.encode(wire.LIST_PODS_RESPONSE, {"pod_resources": pods})
        self.assertGreater(len(message), 4 << 20)
        self.kubelet(lambda data, context: message)
        self.assertEqual(len(json.loads(self.ask().stdout)), 20000)

    def test_no_pods(self):
        self.kubelet(lambda data, context: b"")
        self.assertEqual(self.ask().stdout, "[]\n")

    def assert_fault(self, done, words):
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn(words, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_a_kubelet_that_hangs(self):
        self.kubelet(lambda data, context: time.sleep(2) or b"")
        begin = time.monotonic()
        self.assert_fault(self.ask(300), "no answer within 300 ms")
        self.assertLess(time.monotonic() - begin, 2)

    def test_a_kubelet_that_refuses_and_none(self):
        self.assert_fault(self.ask(), f"the kubelet at {self.socket}:")
        self.kubelet(lambda data, context: context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "rejected by rate limit"))
        self.assert_fault(self.ask(), "rejected by rate limit")

    def test_rubbish(self):
        self.kubelet(lambda data, context: b"\xff\xff\xff")
        self.assertEqual(self.ask().returncode, 1)

    def test_called_wrongly(self):
        for words in ([], ["pod-resources"], ["pod-resources", "x", "y"], ["frobnicate"]):
            done = subprocess.run([PROGRAM, *words], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), words)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv[1])
    unittest.main(argv=sys.argv[:1])
