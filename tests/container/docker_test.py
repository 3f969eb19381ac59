"""`docker run --gpus` through a real dockerd of the test's own, configured by `pagoda ctk runtime configure`.

usage: docker_test.py PAGODA LIBNVIDIA_ML
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import bundle as bundles
import small_root

PAGODA = LIBRARY = ""


class Docker(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.base = pathlib.Path(cls.temporary.name)
        driver = small_root.driver_with_smi(cls.base / "driver", PAGODA, LIBRARY)
        cls.write_programs(driver)
        subprocess.run([PAGODA, "ctk", "runtime", "configure", "--runtime", "docker", "--config", str(cls.base / "daemon.json"),
                        "--nvidia-runtime-path", str(cls.base / "bin/nvidia-container-runtime"), "--nvidia-set-as-default"],
                       check=True, capture_output=True)
        cls.start_daemon()
        root = small_root.glibc_root(cls.base / "image")
        small_root.copy_program(root, "/lib/x86_64-linux-gnu/libm.so.6")
        archive = subprocess.run(["tar", "-C", str(root), "-c", "."], capture_output=True, check=True).stdout
        done = subprocess.run([*cls.client(), "import", "-", "glibc:latest"], input=archive, capture_output=True, timeout=60)
        assert done.returncode == 0, done.stderr

    @classmethod
    def write_programs(cls, driver):
        """What dockerd looks for in its PATH, and the runtime with the test's settings."""
        settings = cls.base / "settings/nvidia-container-runtime"
        settings.mkdir(parents=True)
        (settings / "config.toml").write_text(f'[nvidia-container-cli]\nroot = "{driver}"\n')
        (cls.base / "bin").mkdir()
        (cls.base / "bin/nvidia-container-runtime-hook").symlink_to(os.path.abspath(PAGODA))
        runtime = cls.base / "bin/nvidia-container-runtime"
        runtime.write_text(f'#!/bin/sh\nXDG_CONFIG_HOME={cls.base}/settings PAGODA_SIMULATE=h100x2 exec {os.path.abspath(PAGODA)} '
                           'container-runtime "$@"\n')
        runtime.chmod(0o755)

    @classmethod
    def client(cls):
        return [shutil.which("docker", path="/usr/bin:/bin"), "-H", f"unix://{cls.base}/sock"]

    @classmethod
    def start_daemon(cls):
        log = open(cls.base / "dockerd.log", "w")
        daemon = subprocess.Popen(
            ["dockerd", "--config-file", str(cls.base / "daemon.json"), "--data-root", str(cls.base / "data"), "--exec-root",
             str(cls.base / "exec"), "--pidfile", str(cls.base / "pid"), "-H", f"unix://{cls.base}/sock", "--iptables=false",
             "--ip6tables=false", "--bridge=none", "--storage-driver=vfs", "--exec-opt", "native.cgroupdriver=cgroupfs"],
            env={"PATH": f"{cls.base}/bin:{os.environ['PATH']}"}, stdout=log, stderr=log)

        def end():
            daemon.terminate()
            daemon.wait(30)
            subprocess.run(["umount", "--recursive", "--quiet", str(cls.base / "exec/netns")], capture_output=True)
            log.close()

        cls.addClassCleanup(end)
        for _ in range(100):
            if subprocess.run([*cls.client(), "info"], capture_output=True).returncode == 0:
                return
            if daemon.poll() is not None:
                break
            time.sleep(0.2)
        raise unittest.SkipTest("dockerd does not start here: " + (cls.base / "dockerd.log").read_text()[-300:])

    def run_container(self, *flags):
        return subprocess.run([*self.client(), "run", "--rm", "--network", "none", *flags, "glibc:latest", "/bin/sh", "-c",
                               "ls /dev | cat; probe libcuda.so.1"], capture_output=True, text=True, timeout=60)

    def gpus(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        return sorted(word for word in done.stdout.split() if word.startswith("nvidia") and word[6:].isdigit())

    def test_gpus_all(self):
        done = self.run_container("--gpus", "all")
        self.assertEqual(self.gpus(done), ["nvidia0", "nvidia1"])
        self.assertIn("libcuda.so.1 580", done.stdout)

    def test_one_device(self):
        self.assertEqual(self.gpus(self.run_container("--gpus", '"device=0"')), ["nvidia0"])
        self.assertEqual(self.gpus(self.run_container("--gpus", '"device=1"')), ["nvidia1"])

    def smi(self, gpus):
        """The guide's line, on a simulated machine."""
        done = subprocess.run([*self.client(), "run", "--rm", "--network", "none", "--gpus", gpus, "--env", "PAGODA_SIMULATE=h100x2", "--env",
                               "PAGODA_NVML_LIBRARY=libnvidia-ml.so.1", "--env", "PAGODA_SIMULATE_NODES=/dev", "glibc:latest", "nvidia-smi", "-L"],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout.splitlines()

    def test_nvidia_smi_inside(self):
        first, second = self.smi("all")
        self.assertRegex(first, r"^GPU 0: NVIDIA H100 .* \(UUID: GPU-")
        self.assertEqual(self.smi('"device=0"'), [first])
        self.assertEqual(self.smi('"device=1"'), [second.replace("GPU 1", "GPU 0", 1)])

    def test_by_variable(self):
        self.assertEqual(self.gpus(self.run_container("--env", "NVIDIA_VISIBLE_DEVICES=1")), ["nvidia1"])

    def test_no_gpus(self):
        self.assertEqual(self.gpus(self.run_container()), [])

    def test_another_runtime(self):
        done = self.run_container("--runtime", "runc", "--gpus", "all")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("--nvidia-set-as-default", done.stderr)

    def test_a_device_that_is_not_there(self):
        done = self.run_container("--gpus", '"device=7"')
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("unresolvable CDI devices nvidia.com/gpu=7", done.stderr)


if __name__ == "__main__":
    PAGODA, LIBRARY = sys.argv[1:3]
    reason = bundles.why_no_containers()
    if reason is None and shutil.which("dockerd") is None:
        reason = "dockerd is not installed"
    if reason:
        print("skipped:", reason)
        sys.exit(77)
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    for _, reason in result.skipped:
        print("skipped:", reason)
    sys.exit(1 if not result.wasSuccessful() else 77 if result.skipped else 0)
