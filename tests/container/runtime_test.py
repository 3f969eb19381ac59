"""Real containers (runc, podman) with simulated driver files and device nodes, through `pagoda container-runtime`.

usage: runtime_test.py PAGODA
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import bundle as bundles
import small_root

PAGODA = ""
UUID = "GPU-8b7e6d5c-1a2b-4c3d-8e4f-5a6b7c8d9e0f"  # of the second GPU
LIST = ("/bin/sh", "-c", "ls /dev | cat")


class Runtime(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.base = pathlib.Path(cls.temporary.name)
        cls.driver = small_root.driver_tree(cls.base / "driver")
        cls.pristine = small_root.glibc_root(cls.base / "glibc")

    def bundle(self, root=None):
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.base))
        if root is None:
            root = folder / "rootfs"
            shutil.copytree(self.pristine, root, symlinks=True)
        return bundles.Bundle(folder / "bundle", root, PAGODA, self.driver)

    def gpus(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        return sorted(word for word in done.stdout.split() if word.startswith("nvidia") and word[6:].isdigit())

    def test_devices_asked_for_are_the_devices_there(self):
        cases = {"0": ["nvidia0"], "1": ["nvidia1"], "all": ["nvidia0", "nvidia1"], "0,1": ["nvidia0", "nvidia1"], UUID: ["nvidia1"],
                 "none": [], "void": [], "": [], "nvidia.com/gpu=0": ["nvidia0"]}
        for wanted, expected in cases.items():
            with self.subTest(wanted):
                container = self.bundle()
                container.set_environment(NVIDIA_VISIBLE_DEVICES=wanted)
                self.assertEqual(self.gpus(container.run(*LIST)), expected)

    def test_a_container_that_asks_for_nothing_is_left_as_it_is(self):
        container = self.bundle()
        self.assertEqual(self.gpus(container.run(*LIST)), [])
        self.assertEqual(container.edited(), container.config)

    def test_the_driver_is_found_by_its_name(self):
        container = self.bundle()
        container.set_environment(NVIDIA_VISIBLE_DEVICES="0")
        done = container.run("/usr/bin/probe", "libcuda.so.1", "libnvidia-ml.so.1", "libcuda.so", "/dev/nvidia0")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[:3], ["libcuda.so.1 580", "libnvidia-ml.so.1 580", "libcuda.so 580"])
        # The node opens as far as the kernel's door: there is no driver behind it here.
        self.assertIn("No such device", lines[3])

    def test_an_image_with_lib64(self):
        root = small_root.glibc_root(pathlib.Path(tempfile.mkdtemp(dir=self.base)) / "lib64", lib64=True)
        container = self.bundle(root)
        container.set_environment(NVIDIA_VISIBLE_DEVICES="0")
        done = container.run("/usr/bin/probe", "libcuda.so.1")
        self.assertEqual((done.returncode, done.stdout), (0, "libcuda.so.1 580\n"), done.stderr)

    def test_busybox(self):
        root = small_root.busybox_root(pathlib.Path(tempfile.mkdtemp(dir=self.base)) / "busybox")
        container = self.bundle(root)
        container.set_environment(NVIDIA_VISIBLE_DEVICES="1")
        done = container.run("/bin/sh", "-c", "ls /dev | cat; ls /usr/lib/x86_64-linux-gnu | cat")
        self.assertEqual(self.gpus(done), ["nvidia1"])
        self.assertIn("libcuda.so.580.95.05", done.stdout)

    def test_other_gpus_cannot_be_reached(self):
        container = self.bundle()
        container.set_environment(NVIDIA_VISIBLE_DEVICES="0")
        done = container.run("/usr/bin/probe", "mknod", "/dev/another")
        self.assertIn("Operation not permitted", done.stdout.splitlines()[-1])

    def test_capabilities_choose_the_files(self):
        container = self.bundle()
        container.set_environment(NVIDIA_VISIBLE_DEVICES="0", NVIDIA_DRIVER_CAPABILITIES="utility")
        done = container.run("/usr/bin/probe", "libnvidia-ml.so.1", "libcuda.so.1")
        self.assertEqual(done.stdout.splitlines(), ["libnvidia-ml.so.1 580", "libcuda.so.1 -1"], done.stderr)
        container = self.bundle()
        container.set_environment(NVIDIA_VISIBLE_DEVICES="0", NVIDIA_DRIVER_CAPABILITIES="utilty")
        self.assertIn("'utilty' is none of", self.refused(container))

    def refused(self, container):
        """The one sentence; nothing may have been written or started."""
        log = container.folder / "log.json"
        done = container.run("/bin/sh", "-c", "echo started", log=log)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertEqual(container.edited(), container.config)
        self.assertIn(json.loads(log.read_text().splitlines()[-1])["msg"], done.stderr)
        return done.stderr

    def test_faults(self):
        for variables, words in (({"NVIDIA_VISIBLE_DEVICES": "7"}, "unresolvable CDI devices nvidia.com/gpu=7; there are: 0, 1"),
                                 ({"NVIDIA_VISIBLE_DEVICES": "all", "NVIDIA_REQUIRE_CUDA": "cuda>=99.0"}, "unsatisfied condition: cuda>=99.0"),
                                 ({"NVIDIA_VISIBLE_DEVICES": "../x"}, "is no device's index")):
            container = self.bundle()
            container.set_environment(**variables)
            self.assertIn(words, self.refused(container))

    def test_requirements(self):
        for text, disabled, works in (("cuda>=13.0", "", True), ("cuda>=99.0", "1", True), ("cuda>=99 brand=x,driver>=470,driver<581", "", True),
                                      ("cuda>=12.4 driver>=999", "", True), ("driver>=999", "", False)):
            container = self.bundle()
            container.set_environment(NVIDIA_VISIBLE_DEVICES="0", NVIDIA_REQUIRE_CUDA=text, NVIDIA_DISABLE_REQUIRE=disabled)
            self.assertEqual(container.run("/bin/sh", "-c", "true").returncode == 0, works, text)

    def test_annotations(self):
        container = self.bundle()
        container.config["annotations"] = {"cdi.k8s.io/device-plugin": "nvidia.com/gpu=1"}
        self.assertEqual(self.gpus(container.run(*LIST)), ["nvidia1"])
        container = self.bundle()
        container.config["annotations"] = {"cdi.k8s.io/x": "pagoda.test/absent=1"}
        self.assertIn("unresolvable CDI devices pagoda.test/absent=1", self.refused(container))

    def test_the_hook_that_docker_puts_in_is_replaced(self):
        container = self.bundle()
        container.config["hooks"] = {"prestart": [{"path": "/usr/bin/nvidia-container-runtime-hook", "args": ["nvidia-container-runtime-hook", "prestart"]}]}
        container.set_environment(NVIDIA_VISIBLE_DEVICES="0")
        self.assertEqual(self.gpus(container.run(*LIST)), ["nvidia0"])
        self.assertEqual(container.edited()["hooks"]["prestart"], [])

    def test_that_hook_without_our_runtime_names_the_setting(self):
        link = pathlib.Path(tempfile.mkdtemp(dir=self.base)) / "nvidia-container-runtime-hook"
        link.symlink_to(os.path.abspath(PAGODA))
        done = subprocess.run([str(link), "prestart"], input="{}", capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("--nvidia-set-as-default", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_broken_config_json(self):
        container = self.bundle()
        container.write()
        (container.folder / "config.json").write_text('{\n  "process": [,\n')
        done = subprocess.run([str(container.link), "create", "--bundle", str(container.folder), "x"], capture_output=True, text=True,
                              env={"PATH": os.environ["PATH"], "XDG_CONFIG_HOME": str(container.folder / "settings")})
        self.assertEqual(done.returncode, 1)
        self.assertIn("line 2, column 15", done.stderr)

    def test_everything_else_is_the_inner_runtimes(self):
        container = self.bundle()
        done = subprocess.run([str(container.link), "--version"], capture_output=True, text=True, timeout=20)
        self.assertIn("runc version", done.stdout)

    def podman(self, *words):
        return subprocess.run(["podman", "--cgroup-manager", "cgroupfs", *words], capture_output=True, text=True, timeout=120,
                              env={"PATH": os.environ["PATH"]})

    def test_podman_with_our_runtime(self):
        if shutil.which("podman") is None:
            self.skipTest("podman is not installed")
        container = self.bundle()
        # podman hands no environment down to the runtime.
        runtime = container.folder / "with-settings"
        runtime.write_text(f'#!/bin/sh\nXDG_CONFIG_HOME={container.folder}/settings exec {container.link} "$@"\n')
        runtime.chmod(0o755)
        done = self.podman("--runtime", str(runtime), "run", "--rm", "--ulimit", "nofile=4096:4096", "--ulimit", "nproc=4096:4096",
                           "--env", "NVIDIA_VISIBLE_DEVICES=1", "--rootfs", container.config["root"]["path"], *LIST)
        self.assertEqual(self.gpus(done), ["nvidia1"])

    def test_podmans_own_cdi_reads_our_spec(self):
        if shutil.which("podman") is None:
            self.skipTest("podman is not installed")
        container = self.bundle()
        spec = pathlib.Path("/var/run/cdi/pagoda-test.yaml")
        subprocess.run([PAGODA, "ctk", "cdi", "generate", "--vendor", "pagoda.test", "--driver-root", str(self.driver), "--output", str(spec)],
                       check=True, capture_output=True)
        self.addCleanup(spec.unlink)
        done = self.podman("--runtime", "runc", "run", "--rm", "--ulimit", "nofile=4096:4096", "--ulimit", "nproc=4096:4096",
                           "--device", "pagoda.test/gpu=0", "--rootfs", container.config["root"]["path"], *LIST)
        self.assertEqual(self.gpus(done), ["nvidia0"])


if __name__ == "__main__":
    PAGODA = sys.argv[1]
    reason = bundles.why_no_containers()
    if reason:
        print("skipped:", reason)
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
