#!/usr/bin/env python3
"""`pagoda pull` from a hub on loopback (hub_server.py), read back with the package huggingface_hub.

    pull_test.py PAGODA
"""
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import hub_server

try:
    import huggingface_hub
except ImportError:
    print("skipped: the package huggingface_hub is not installed (tests/requirements.txt)")
    sys.exit(77)

PAGODA = sys.argv.pop(1) if len(sys.argv) > 1 else "pagoda"
RANDOM = random.Random(5)
FILES = {
    "config.json": b'{"model_type": "llama"}',
    "empty.txt": b"",
    "1_Pooling/config.json": b'{"pooling_mode_mean_tokens": true}',
    "model.safetensors": RANDOM.randbytes(3_000_000),
    "onnx/model.onnx": RANDOM.randbytes(200_000),
    "name with space.bin": RANDOM.randbytes(5000),
}


class Pull(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.cache = Path(self.folder.name) / "hub"
        self.hub = hub_server.Hub(FILES)
        self.addCleanup(lambda: self.hub.close())

    def use(self, **settings):
        self.hub.close()
        self.hub = hub_server.Hub(FILES, **settings)

    def run_pagoda(self, *arguments, **environment):
        keep = {key: value for key, value in os.environ.items() if not key.startswith(("HF_", "HUGGING"))}
        return subprocess.run([PAGODA, *arguments], capture_output=True, text=True, timeout=120, check=False,
                              env={**keep, "HF_HOME": self.folder.name, "HF_ENDPOINT": self.hub.endpoint, **environment})

    def pull(self, *arguments, **environment):
        done = self.run_pagoda("pull", "org/model", *arguments, **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return Path(done.stdout.strip()), done

    def refused(self, *arguments, **environment):
        done = self.run_pagoda("pull", "org/model", *arguments, **environment)
        self.assertNotEqual(done.returncode, 0)
        self.assertLessEqual(len(done.stderr.strip().splitlines()), 3, done.stderr)
        return done.stderr

    def assert_whole(self, folder, files=FILES):
        here = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        self.assertEqual(here, dict(files))

    def test_huggingface_hub_finds_what_was_pulled(self):
        folder, done = self.pull()
        self.assert_whole(folder)
        self.assertEqual(folder, self.cache / "models--org--model" / "snapshots" / hub_server.COMMIT)
        found = huggingface_hub.snapshot_download("org/model", cache_dir=self.cache, local_files_only=True)
        self.assertEqual(Path(found), folder)
        file = huggingface_hub.hf_hub_download("org/model", "1_Pooling/config.json", cache_dir=self.cache,
                                               local_files_only=True)
        self.assertEqual(Path(file).read_bytes(), FILES["1_Pooling/config.json"])
        scanned = huggingface_hub.scan_cache_dir(self.cache)
        self.assertEqual([repo.repo_id for repo in scanned.repos], ["org/model"])
        self.assertEqual(scanned.warnings, [])
        self.assertEqual(scanned.size_on_disk, sum(map(len, FILES.values())))
        self.assertIn("MB", done.stderr)

    def test_what_huggingface_hub_has_pulled_is_not_fetched_again(self):
        huggingface_hub.snapshot_download("org/model", cache_dir=self.cache, endpoint=self.hub.endpoint)
        self.hub.requests.clear()
        folder, _ = self.pull()
        self.assert_whole(folder)
        self.assertEqual(len(self.hub.requests), 1, "the list alone")

    def test_a_second_pull_and_another_commit_fetch_only_what_is_new(self):
        self.pull()
        self.hub.requests.clear()
        self.hub.commit = "f" * 40
        self.hub.files["config.json"] = b'{"model_type": "qwen2"}'
        folder, _ = self.pull()
        self.assertEqual(folder.name, "f" * 40)
        self.assert_whole(folder, self.hub.files)
        self.assertEqual(self.hub.sent("cdn"), [])
        self.assertEqual(len(self.hub.sent("hub")), 2)

    def test_broken_connections_are_gone_on_with(self):
        self.hub.cuts = {"model.safetensors": 3, "config.json": 1}
        folder, _ = self.pull()
        self.assert_whole(folder)
        asked = [headers.get("Range") for where, _, path, headers in self.hub.requests
                 if where == "cdn" and "model.safetensors" in path]
        self.assertEqual(asked, [None, "bytes=1500000-", "bytes=2250000-", "bytes=2625000-"])

    def test_a_server_without_ranges_begins_anew(self):
        self.hub.cuts, self.hub.ranges = {"model.safetensors": 1}, False
        folder, _ = self.pull()
        self.assert_whole(folder)

    def test_an_interrupted_run_is_gone_on_with(self):
        part = self.cache / "models--org--model" / "blobs" / (self.hub.etag("model.safetensors") + ".incomplete")
        part.parent.mkdir(parents=True)
        part.write_bytes(FILES["model.safetensors"][:1_000_000])
        folder, _ = self.pull()
        self.assert_whole(folder)
        ranges = [headers["Range"] for where, *_, headers in self.hub.requests if where == "cdn" and "Range" in headers]
        self.assertEqual(ranges, ["bytes=1000000-"])
        self.assertFalse(part.exists())

    def test_a_part_of_another_file_is_noticed_and_thrown_away(self):
        part = self.cache / "models--org--model" / "blobs" / (self.hub.etag("model.safetensors") + ".incomplete")
        part.parent.mkdir(parents=True)
        part.write_bytes(b"x" * 1_000_000)
        folder, _ = self.pull()
        self.assert_whole(folder)

    def test_a_wrong_hash_is_never_kept(self):
        for path in ("model.safetensors", "config.json"):
            with self.subTest(path):
                shutil.rmtree(self.cache, ignore_errors=True)
                content = FILES[path]
                self.hub.broken = {path: content[:-1] + bytes([content[-1] ^ 1])}
                said = self.refused()
                self.assertIn(path, said)
                self.assertIn("hash", said)
                blobs = self.cache / "models--org--model" / "blobs"
                self.assertNotIn(self.hub.etag(path), [blob.name for blob in blobs.iterdir()])
                self.assertFalse((self.cache / "models--org--model" / "refs").exists())

    def test_the_token_stays_with_the_hub(self):
        self.use(token="hf_secret")
        folder, done = self.pull(HF_TOKEN="hf_secret")
        self.assert_whole(folder)
        for where, _, path, headers in self.hub.requests:
            self.assertEqual(headers.get("Authorization"), "Bearer hf_secret" if where == "hub" else None, path)
        self.assertTrue(self.hub.sent("cdn"))
        self.assertNotIn("hf_secret", done.stdout + done.stderr)

    def test_the_token_may_stand_in_a_file(self):
        self.use(token="hf_file")
        (Path(self.folder.name) / "token").write_text("hf_file\n")
        self.pull()

    def test_refusals_are_sentences(self):
        self.use(token="hf_right")
        self.assertIn("set HF_TOKEN", self.refused())
        said = self.refused(HF_TOKEN="hf_wrong")
        self.assertIn("does not accept the token of HF_TOKEN", said)
        self.assertNotIn("hf_wrong", said)
        self.use(gated=True)
        self.assertIn(f"access must be asked for at {self.hub.endpoint}/org/model", self.refused())
        self.use()
        self.assertIn("has no revision 'v9'", self.refused("--revision", "v9"))
        done = self.run_pagoda("pull", "org/other")
        self.assertIn(f"org/other: no such model at {self.hub.endpoint}", done.stderr)
        self.assertEqual(self.run_pagoda("pull", "nonsense").returncode, 2)
        self.assertIn("no file is left", self.refused("--include", "*.xyz"))

    def test_patterns_choose_files(self):
        folder, _ = self.pull("--include", "*.json", "onnx/*", "--exclude", "1_*")
        self.assert_whole(folder, {path: FILES[path] for path in ("config.json", "onnx/model.onnx")})

    def test_a_revision_with_a_slash(self):
        folder, _ = self.pull("--revision", "refs/pr/1", "--include", "config.json")
        self.assertEqual((self.cache / "models--org--model" / "refs" / "refs" / "pr" / "1").read_text(), folder.name)

    def test_a_hub_that_lists_names_only(self):
        self.hub.bare_list = True
        folder, _ = self.pull()
        self.assert_whole(folder)
        self.assertEqual(len(self.hub.sent("hub", "HEAD")), len(FILES))

    def test_paths_that_lead_outside_are_refused(self):
        self.hub.files["../evil"] = b"x"
        self.assertIn("outside of its folder", self.refused())

    def test_offline_and_no_network_name_the_folder_that_would_do(self):
        self.assertIn("HF_HUB_OFFLINE", self.refused(HF_HUB_OFFLINE="1"))
        self.assertEqual(self.hub.requests, [])
        for environment in ({"HF_HUB_OFFLINE": "1"}, {"HF_ENDPOINT": "http://127.0.0.1:9"}):
            done = self.run_pagoda("serve", "org/model", "--port", "0", **environment)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("pagoda serve FOLDER", done.stderr)
            self.assertIn(str(self.cache / "models--org--model"), done.stderr)

    def test_serve_fetches_what_it_reads(self):
        done = self.run_pagoda("serve", "org/model", "--port", "0")  # not a real model: it is fetched, then refused
        self.assertNotEqual(done.returncode, 0)
        snapshot = self.cache / "models--org--model" / "snapshots" / hub_server.COMMIT
        here = sorted(str(path.relative_to(snapshot)) for path in snapshot.rglob("*") if path.is_file())
        self.assertEqual(here, ["1_Pooling/config.json", "config.json", "empty.txt", "model.safetensors"])
        self.hub.files = {"config.json": b"{}", "pytorch_model.bin": b"x" * 2000}
        done = self.run_pagoda("serve", "org/model", "--port", "0", "--revision", "refs/pr/1")
        self.assertIn("pickled", done.stderr)
        self.hub.files = {"a-Q4_0.gguf": b"x" * 2000, "a-Q8_0.gguf": b"y" * 2000}
        done = self.run_pagoda("serve", "org/model", "--port", "0", "--revision", "refs/pr/1")
        self.assertIn("pagoda pull org/model --include a-Q4_0.gguf", done.stderr)


unittest.main(verbosity=1)
