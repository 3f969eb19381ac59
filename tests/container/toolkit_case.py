"""What the tests of `pagoda ctk` share: a folder of their own, machines that are file trees, calls of the program."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "host"))
import host_tree  # noqa: E402

PAGODA = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "pagoda"


class ToolkitCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def ctk(self, *words, code=0, program=None, **rest):
        command = [program] if program else [PAGODA, "ctk"]
        done = subprocess.run([*command, *map(str, words)], capture_output=True, text=True, timeout=60, **rest)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return done

    def machine(self, tree="h100"):
        if os.geteuid() != 0:
            self.skipTest("device nodes are made by root only")
        root = self.folder / "machine"
        root.mkdir()
        host_tree.build(tree, root)
        return root


def main():
    result = unittest.main(module="__main__", argv=sys.argv[:1], exit=False).result
    for _, reason in result.skipped:
        print("skipped:", reason)
    sys.exit(1 if not result.wasSuccessful() else 77 if result.skipped else 0)
