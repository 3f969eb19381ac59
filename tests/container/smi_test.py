"""nvidia-smi inside a container and outside: the program itself, linked under that name, on a simulated machine whose
library is the driver's libnvidia-ml.so.1. As with the real one, GPUs whose device nodes are not there are not seen.

usage: smi_test.py PAGODA LIBNVIDIA_ML
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import bundle as bundles
import small_root

PAGODA = LIBRARY = ""
SMI = "/usr/bin/nvidia-smi"
MACHINE = """pagoda_scenario: 1
system: {driver_version: 580.95.05, cuda_version: 13000}
gpus:
  - {model: %s, count: 2}
"""
# gi, ci → minors of their capability nodes; the instances of the model h100-mig.
CAPABILITIES = {(2, 0): (21, 22), (3, 0): (30, 31), (9, 0): (84, 85), (10, 0): (93, 94)}


class Smi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.base = pathlib.Path(cls.temporary.name)
        cls.driver = cls.driver_with_migs(cls.base / "driver")
        cls.pristine = small_root.glibc_root(cls.base / "glibc")
        small_root.copy_program(cls.pristine, "/lib/x86_64-linux-gnu/libm.so.6")  # glibc's, as in every image that has a glibc

    @classmethod
    def driver_with_migs(cls, root):
        small_root.driver_with_smi(root, PAGODA, LIBRARY)
        for gpu in (0, 1):
            for (gi, ci), minors in CAPABILITIES.items():
                places = (f"gi{gi}", f"gi{gi}/ci{ci}")
                for place, minor in zip(places, minors):
                    access = root / f"proc/driver/nvidia/capabilities/gpu{gpu}/mig/{place}/access"
                    access.parent.mkdir(parents=True, exist_ok=True)
                    access.write_text(f"DeviceFileMinor: {minor + 135 * gpu}\n")
                    node = root / f"dev/nvidia-caps/nvidia-cap{minor + 135 * gpu}"
                    node.parent.mkdir(exist_ok=True)
                    os.mknod(node, 0o020444, os.makedev(237, minor + 135 * gpu))
        return root

    def machine(self, model="h100"):
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.base))
        (folder / "machine.yaml").write_text(MACHINE % model)
        self.outside_environment = {"PATH": os.environ["PATH"], "PAGODA_SIMULATE": str(folder / "machine.yaml"),
                                    "PAGODA_NVML_LIBRARY": str(self.driver / "usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1"),
                                    "PAGODA_SIMULATE_DIR": str(folder)}
        root = folder / "rootfs"
        shutil.copytree(self.pristine, root, symlinks=True)
        # At the same path inside: UUIDs follow from the scenario's name.
        (root / str(folder)[1:]).mkdir(parents=True)
        shutil.copy(folder / "machine.yaml", root / str(folder)[1:])
        container = bundles.Bundle(folder / "bundle", root, PAGODA, self.driver)
        container.environment = self.outside_environment
        # What makes the machine a simulated one; a real driver's library needs none of it.
        container.set_environment(PAGODA_SIMULATE=str(folder / "machine.yaml"), PAGODA_NVML_LIBRARY="libnvidia-ml.so.1", PAGODA_SIMULATE_NODES="/dev")
        return container

    def outside(self, *words):
        done = subprocess.run([str(self.driver / SMI[1:]), *words], capture_output=True, text=True, env=self.outside_environment, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def inside(self, visible, *words, code=0):
        container = self.machine_now
        container.config["process"]["env"] = [v for v in container.config["process"]["env"] if not v.startswith("NVIDIA_VISIBLE_DEVICES=")]
        container.set_environment(NVIDIA_VISIBLE_DEVICES=visible)
        done = container.run(SMI, *words)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def test_all_gpus_are_the_same_inside_and_outside(self):
        self.machine_now = self.machine()
        fields = ("--query-gpu=index,name,uuid,pci.bus_id,driver_version,memory.total,ecc.errors.uncorrected.volatile.total", "--format=csv")
        outside = self.outside(*fields)
        self.assertEqual(outside.count("NVIDIA H100"), 2)
        self.assertEqual(self.inside("all", *fields), outside)
        self.assertEqual(self.inside("all", "-L"), self.outside("-L"))
        # The guide's exercise.
        ecc = self.outside("-q", "-d", "ECC").splitlines()
        self.assertEqual([line for line in self.inside("all", "-q", "-d", "ECC").splitlines() if "Timestamp" not in line],
                         [line for line in ecc if "Timestamp" not in line])
        table = self.inside("all")
        self.assertIn("Driver Version: 580.95.05", table)
        self.assertIn("CUDA Version: 13.0", table)

    def test_exactly_the_devices_asked_for(self):
        self.machine_now = self.machine()
        first, second = self.outside("--query-gpu=uuid", "--format=csv,noheader").split()
        for visible, expected in (("0", [first]), ("1", [second]), (second, [second]), ("0,1", [first, second])):
            with self.subTest(visible):
                self.assertEqual(self.inside(visible, "--query-gpu=uuid", "--format=csv,noheader").split(), expected)
        # Inside, counting begins at 0 anew.
        self.assertEqual(self.inside("1", "--query-gpu=index,uuid", "--format=csv,noheader").strip(), f"0, {second}")
        self.assertIn("No devices were found", self.inside("none", "-L", code=6))

    def test_without_gpus_there_is_no_nvidia_smi(self):
        container = self.machine()
        done = container.run("/bin/sh", "-c", f"ls {SMI}")
        self.assertIn("No such file", done.stderr)

    def nodes_of(self, visible):
        container = self.machine("h100-mig")
        container.set_environment(NVIDIA_VISIBLE_DEVICES=visible)
        done = container.run("/bin/sh", "-c", "cd /dev; ls -d nvidia[0-9] nvidia-caps/* | cat")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split()

    def test_mig_devices(self):
        """By index, which is NVML's, and by UUID, which NVML alone knows."""
        self.assertEqual(self.nodes_of("0:1"), ["nvidia-caps/nvidia-cap30", "nvidia-caps/nvidia-cap31", "nvidia0"])
        self.assertEqual(self.nodes_of("1:0"), ["nvidia-caps/nvidia-cap156", "nvidia-caps/nvidia-cap157", "nvidia1"])
        self.assertEqual(self.nodes_of("MIG-b1000009-0001-5000-8000-000000000001"), ["nvidia-caps/nvidia-cap219", "nvidia-caps/nvidia-cap220", "nvidia1"])
        container = self.machine("h100-mig")
        container.set_environment(NVIDIA_VISIBLE_DEVICES="0")
        done = container.run("/bin/sh", "-c", "true")
        self.assertEqual(done.returncode, 1)
        self.assertIn("unresolvable CDI devices nvidia.com/gpu=0", done.stderr)


if __name__ == "__main__":
    PAGODA, LIBRARY = map(os.path.abspath, sys.argv[1:3])
    reason = bundles.why_no_containers()
    if reason:
        print("skipped:", reason)
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
