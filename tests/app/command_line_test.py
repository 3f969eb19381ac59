"""The program's command line as a person meets it: exit codes, links, models in the cache, one line per error.

usage: command_line_test.py PAGODA
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PAGODA = ""


class CommandLine(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.models = pathlib.Path(self.folder.name) / "pagoda" / "models"
        self.models.mkdir(parents=True)

    def run_pagoda(self, *arguments, program=None):
        environment = {"PATH": os.environ["PATH"], "XDG_CACHE_HOME": self.folder.name}
        return subprocess.run([program or PAGODA, *arguments], capture_output=True, text=True, env=environment, timeout=20)

    def assert_usage_error(self, done, words):
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(words, done.stderr)
        self.assertEqual(done.stdout, "")

    def test_overview_fits_a_screen(self):
        (self.models / "small.gguf").write_bytes(b"GGUF")
        done = self.run_pagoda()
        self.assertEqual(done.returncode, 0)
        self.assertIn("small (4 bytes)", done.stdout)
        self.assertLessEqual(done.stdout.count("\n"), 28)
        self.assertNotIn("\x1b", done.stdout)

    def test_version_and_help(self):
        self.assertRegex(self.run_pagoda("--version").stdout, r"^pagoda \d+\.\d+\.\d+\n$")
        for arguments in (["--help"], ["help"], ["help", "serve"], ["serve", "--help"], ["serve", "-h"], ["help", "chat"]):
            done = self.run_pagoda(*arguments)
            self.assertEqual(done.returncode, 0, arguments)
            self.assertTrue(done.stdout.startswith("Usage: pagoda"), arguments)
        self.assertIn("--tensor-parallel-size", self.run_pagoda("serve", "--help=parallel").stdout)

    def test_mistakes_get_one_line(self):
        self.assert_usage_error(self.run_pagoda("serv"), "did you mean `pagoda serve`?")
        self.assert_usage_error(self.run_pagoda("serve", "--prot", "1"), "did you mean --port?")
        self.assert_usage_error(self.run_pagoda("serve", "m", "-tp", "2"), "--tensor-parallel-size 2")
        self.assert_usage_error(self.run_pagoda("chat", "--ulr", "x"), "did you mean --url?")

    def test_links_act_as_what_they_are_called(self):
        for name in ("dcgmi", "tritonserver", "vllm"):
            link = pathlib.Path(self.folder.name) / name
            link.symlink_to(os.path.abspath(PAGODA))
        run = lambda name, *arguments: self.run_pagoda(*arguments, program=str(pathlib.Path(self.folder.name) / name))
        self.assertIn("Invalid subsystem", run("dcgmi", "dsicovery", "-l").stdout)
        self.assert_usage_error(run("tritonserver", "--model-repository=/m"), "tritonserver: --model-repository /m: ")
        self.assert_usage_error(run("vllm", "serve", "--port", "x"), "vllm serve: --port: 'x'")
        self.assertRegex(run("vllm", "--version").stdout, r"\d+\.\d+\.\d+")

    def test_serve_without_a_model_lists_the_cached_ones(self):
        done = self.run_pagoda("serve")
        self.assertEqual(done.returncode, 2)
        self.assertIn("none is cached", done.stderr)
        (self.models / "small.gguf").write_bytes(b"GGUF")
        self.assertIn("  pagoda serve small ", self.run_pagoda("serve").stderr)

    def test_a_model_that_is_none(self):
        done = self.run_pagoda("serve", "nothing-of-this-name")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no model 'nothing-of-this-name'", done.stderr)
        (self.models / "broken.gguf").write_bytes(b"GGUF")
        done = self.run_pagoda("serve", "broken", "--port", "0")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("broken.gguf", done.stderr)


if __name__ == "__main__":
    PAGODA = sys.argv.pop(1)
    unittest.main()
