"""`pagoda driver` on machines that are file trees: the whole output and the exit code, compared with expected/.

usage: driver_test.py PAGODA [--regenerate]
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import host_tree

EXPECTED = pathlib.Path(__file__).parent / "expected"
PAGODA = ""
REGENERATE = False

# expected/NAME.txt: tree, arguments
CASES = {
    "check-h100": ("h100", ["check"]),
    "check-h100-json": ("h100", ["check", "--json"]),
    "check-h100-cuda": ("h100", ["check", "--cuda", "13.3"]),
    "check-laptop-nouveau": ("laptop-nouveau", ["check"]),
    "check-mismatch": ("mismatch", ["check"]),
    "check-secure-boot": ("secure-boot", ["check"]),
    "check-no-gpu": ("no-gpu", ["check"]),
    "check-v100-open": ("v100-open", ["check"]),
    "check-b200-proprietary": ("b200-proprietary", ["check"]),
    "check-wsl": ("wsl", ["check"]),
    "check-vm-passthrough": ("vm-passthrough", ["check"]),
    "recommend-h100": ("h100", ["recommend"]),
    "recommend-laptop-nouveau": ("laptop-nouveau", ["recommend"]),
    "recommend-v100-open": ("v100-open", ["recommend"]),
    "recommend-b200-proprietary": ("b200-proprietary", ["recommend"]),
    "recommend-debian": ("debian-12-bookworm", ["recommend"]),
    "install-debian": ("debian-12-bookworm", ["install", "--dry-run"]),
    "install-debian-nvidia-source": ("debian-12-bookworm", ["install", "--nvidia-source", "--dry-run"]),
    "recommend-no-gpu": ("no-gpu", ["recommend"]),
    "recommend-wsl": ("wsl", ["recommend"]),
    "install-h100": ("h100", ["install", "--dry-run"]),
    "install-laptop-nouveau": ("laptop-nouveau", ["install", "--dry-run"]),
    "install-laptop-535": ("laptop-nouveau", ["install", "nvidia-driver-535", "--dry-run"]),
    "install-unknown-package": ("laptop-nouveau", ["install", "nvidia-driver-999", "--dry-run"]),
    "install-nvidia-source": ("v100-open", ["install", "--nvidia-source", "--dry-run"]),
    "install-rhel": ("rhel-9", ["install", "--dry-run"]),
    "install-wsl": ("wsl", ["install", "--dry-run"]),
    "stack": ("stack", ["stack"]),
    "stack-b200": ("stack-b200", ["stack"]),
    "stack-no-gpu": ("no-gpu", ["stack"]),
    "verify-h100": ("h100", ["verify"]),
    "verify-mismatch": ("mismatch", ["verify"]),
    "devices-laptop-nouveau": ("laptop-nouveau", ["ubuntu-drivers", "devices"]),
    "devices-no-gpu": ("no-gpu", ["ubuntu-drivers", "devices"]),
}


class Driver(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name) / "machine"
        self.root.mkdir()
        self.link = pathlib.Path(folder.name) / "ubuntu-drivers"
        self.link.symlink_to(os.path.abspath(PAGODA))

    def outcome(self, tree, arguments):
        host_tree.build(tree, self.root)
        if arguments[0] == "ubuntu-drivers":
            command = [str(self.link), *arguments[1:]]
        else:
            command = [PAGODA, "driver", *arguments]
        done = subprocess.run([*command, "--root", str(self.root)], capture_output=True, text=True, timeout=60,
                              env={"PATH": os.environ["PATH"]})
        return f"exit {done.returncode}\n{done.stdout}{done.stderr}".replace(str(self.root), "ROOT")

    def compare(self, name):
        tree, arguments = CASES[name]
        if host_tree.needs_device_nodes(tree) and os.geteuid() != 0:
            self.skipTest("device nodes are made by root only")
        if arguments[0] != "check" and shutil.which("apt-cache") is None:
            self.skipTest("apt-cache is not installed")
        found = self.outcome(tree, arguments)
        place = EXPECTED / f"{name}.txt"
        if REGENERATE:
            place.write_text(found)
        self.assertEqual(found, place.read_text())

    def test_nothing_outside_the_root_is_read(self):
        host_tree.build("no-gpu", self.root)
        (self.root / "etc/os-release").unlink()
        (self.root / "etc/os-release").symlink_to("/proc/self/cmdline")  # absolute: means the root's own, which is not there
        done = subprocess.run([PAGODA, "driver", "check", "--root", str(self.root)], capture_output=True, text=True, timeout=60)
        self.assertIn("unknown distribution", done.stdout)

    def test_no_such_root(self):
        done = subprocess.run([PAGODA, "driver", "check", "--root", str(self.root / "absent")], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("No such file or directory", done.stderr)


for case in CASES:
    setattr(Driver, "test_" + case.replace("-", "_").replace(".", "_"), lambda self, case=case: self.compare(case))

if __name__ == "__main__":
    PAGODA = sys.argv[1]
    REGENERATE = "--regenerate" in sys.argv[2:]
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    for _, reason in result.skipped:
        print("skipped:", reason)
    sys.exit(0 if result.wasSuccessful() and not len(result.skipped) == result.testsRun else 77 if result.wasSuccessful() else 1)
