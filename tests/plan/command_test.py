"""`pagoda plan` as a person meets it: right answers, verdicts, the ladder, mistakes.

usage: command_test.py PAGODA SIMULATED_LIBRARY
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PAGODA = LIBRARY = ""
SOURCE = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = SOURCE / "tests" / "model" / "folders"
GIB = 1 << 30


class Plan(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.environment = {"PATH": os.environ["PATH"], "XDG_CACHE_HOME": self.folder.name,
                            "HF_HUB_CACHE": self.folder.name}

    def run_plan(self, *words, before=()):
        return subprocess.run([PAGODA, *before, "plan", *map(str, words)], capture_output=True, text=True,
                              env=self.environment, timeout=60)

    def plan(self, *words, status=0, before=()):
        done = self.run_plan(*words, "--json", before=before)
        self.assertEqual(done.returncode, status, done.stdout[-2000:] + done.stderr)
        return json.loads(done.stdout)

    def refused(self, *words, status=2):
        done = self.run_plan(*words)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertEqual(done.stdout, "")
        return done.stderr

    def rung(self, plan, kind):
        return next(rung for rung in plan["ladder"] if rung["kind"] == kind)

    # ---- The guide's lines

    def test_7b_fits_24_gb(self):
        plan = self.plan("Qwen2.5-7B-Instruct", "--gpu", "rtx-4090", "--gpu-memory-utilization", "0.9",
                         "--max-model-len", "8192", "--tensor-parallel-size", "1")
        self.assertEqual(plan["verdict"], "fits")
        self.assertAlmostEqual(plan["memory_per_device"]["weight_bytes"] / 15.23e9, 1, delta=0.01)
        self.assertEqual(plan["kv"]["bytes_per_token"], 56 * 1024)
        for card in ("rtx-3090", "l4", "a10", "a30"):
            self.assertEqual(self.plan("Qwen2.5-7B-Instruct", "--gpu", card)["verdict"], "fits", card)

    def test_70b_fits_two_a100(self):
        plan = self.plan("Qwen2.5-70B-Instruct", "--gpu", "a100-80gb", "x2", "--max-model-len", "8192")
        self.assertEqual((plan["verdict"], plan["parallel"]["tensor"]), ("fits", 2))
        self.assertEqual((plan["parallel"]["link"], plan["parallel"]["warning"]), ("nvlink", False))
        self.plan("Qwen2.5-70B-Instruct", "--gpu", "a100-80gb", "--max-model-len", "8192", status=1)

    def test_it_warns_where_tensor_parallelism_crosses_pcie_or_nodes(self):
        done = self.run_plan("Qwen2.5-70B-Instruct", "--gpu", "l40s", "x4", "--max-model-len", "8192")
        self.assertRegex(done.stdout, r"warning +tensor parallelism crosses PCIe: it costs about \d+ % of decoding")
        across = self.run_plan("Qwen2.5-70B-Instruct", "--gpu", "a100-80gb x16", "--max-model-len", "8192")
        self.assertIn("crosses the network between nodes", across.stdout)
        self.assertIn("-pp between nodes", across.stdout)
        within = self.run_plan("Qwen2.5-70B-Instruct", "--gpu", "a100-80gb", "x8", "--max-model-len", "8192")
        self.assertNotIn("warning", within.stdout)

    # ---- Known right answers

    def test_kv_at_the_native_context(self):
        for model, gib in (("google/gemma-3-27b-it", 10.41), ("deepseek-ai/DeepSeek-V3.1", 10.72),
                           ("Qwen/Qwen3-0.6B", 4.38), ("meta-llama/Llama-3.1-8B", 16.0)):
            done = self.run_plan(model, "--gpu", "b200", "--json")
            self.assertAlmostEqual(json.loads(done.stdout)["kv"]["bytes_per_sequence"] / GIB, gib, delta=0.005, msg=model)

    def test_quantised_kv_halves_it(self):
        full = self.plan("Llama-3.1-8B", "--gpu", "h100", "--max-model-len", "8192")
        half = self.plan("Llama-3.1-8B", "--gpu", "h100", "--max-model-len", "8192", "--kv-cache-dtype", "fp8")
        self.assertEqual(full["kv"]["bytes_per_token"], 2 * half["kv"]["bytes_per_token"])
        self.assertEqual(full["kv"]["bytes_per_token"], 128 * 1024)

    # ---- Kinds of MODEL

    def test_a_folder_a_config_and_a_file(self):
        folder = self.plan(FOLDERS / "llama3", "--gpu", "cpu")
        self.assertTrue(folder["model"]["engine"])
        self.assertTrue(folder["model"]["weights_counted"])
        alone = self.plan(FOLDERS / "llama3" / "config.json", "--gpu", "cpu")
        self.assertFalse(alone["model"]["weights_counted"])
        self.assertAlmostEqual(alone["memory_per_device"]["weight_bytes"] / folder["memory_per_device"]["weight_bytes"], 1,
                               delta=0.03)
        self.assertEqual(alone["kv"]["groups"], folder["kv"]["groups"])
        file = self.plan(SOURCE / "tests" / "model" / "data" / "tiny_gemma3.gguf", "--gpu", "cpu")
        self.assertEqual(len(file["kv"]["groups"]), 2)

    def test_a_folder_that_the_engine_does_not_compute_is_planned_all_the_same(self):
        folder = pathlib.Path(self.folder.name) / "new"
        shutil.copytree(FOLDERS / "llama3", folder)
        config = json.loads((folder / "config.json").read_text())
        config["model_type"] = "of_tomorrow"
        (folder / "config.json").write_text(json.dumps(config))
        plan = self.plan(folder, "--gpu", "t4")
        self.assertEqual(plan["verdict"], "fits")
        self.assertIn("of_tomorrow", plan["model"]["engine_refusal"])

    def test_simulated_gpus_are_this_machine(self):
        self.environment["PAGODA_NVML_LIBRARY"] = LIBRARY
        plan = self.plan("Qwen2.5-7B-Instruct", "--max-model-len", "8192", before=("--simulate", "h100x8"))
        self.assertEqual(plan["device"]["key"], "h100-80gb")
        self.assertGreater(plan["device"]["in_use_bytes"], 0)

    # ---- The ladder

    def test_the_ladder_is_in_order_of_price_and_every_rung_is_computed(self):
        plan = self.plan("Llama-3.1-8B", "--gpu", "rtx-4090", status=1)
        kinds = [rung["kind"] for rung in plan["ladder"]]
        self.assertEqual(kinds, ["four_bit", "shorter", "swap", "more_devices", "other_card"])
        shorter = self.rung(plan, "shorter")
        self.assertTrue(shorter["helps"])
        self.assertEqual(shorter["max_model_len"], plan["longest_model_len"])
        command = shorter["serve"]
        self.assertEqual(command["command"], f"pagoda serve Llama-3.1-8B --max-model-len {shorter['max_model_len']}")
        self.assertTrue(command["accepted"])
        self.assertEqual(self.rung(plan, "more_devices")["tensor_parallel"], 2)
        self.assertEqual(self.rung(plan, "other_card")["device"], "a100-40gb")
        narrow = self.rung(plan, "four_bit")  # not enough, but computed
        self.assertLess(narrow["memory_per_device"]["weight_bytes"], plan["memory_per_device"]["weight_bytes"] / 2)
        self.assertIn("still missing", narrow["outcome"])

    def test_a_line_is_offered_only_when_serve_takes_it(self):
        plan = self.plan("Qwen2.5-14B", "--gpu", "rtx-4090", "--max-model-len", "8192", status=1)
        for rung in plan["ladder"]:
            if "serve" in rung:
                words = rung["serve"]["command"].split()[2:]
                done = subprocess.run([PAGODA, "serve", *words, "--port", "0"], capture_output=True, text=True,
                                      env=self.environment, timeout=60)
                unknown_model = "no model" in done.stderr or "is not in the cache" in done.stderr or "no such" in done.stderr
                self.assertEqual(unknown_model, rung["serve"]["accepted"], done.stderr)
        chosen = plan["chosen"]
        if chosen is not None:
            self.assertTrue(plan["ladder"][chosen]["serve"]["accepted"])

    def test_swap_space_is_computed_where_sequences_wait(self):
        plan = self.plan("Qwen2.5-7B", "--gpu", "rtx-4090", "--max-model-len", "8192", "--max-num-seqs", "64", status=1)
        self.assertEqual(plan["verdict"], "fits_fewer")
        swap = self.rung(plan, "swap")
        self.assertTrue(swap["helps"])
        self.assertGreater(swap["slow_down"], 1)
        self.assertIn("--swap-space", swap["serve"]["command"])

    # ---- Text

    def test_the_text_is_a_picture_and_plain_where_nobody_looks(self):
        done = self.run_plan("Qwen2.5-7B-Instruct", "--gpu", "rtx-4090", "--max-model-len", "8192")
        self.assertEqual(done.returncode, 0)
        self.assertNotIn("\x1b", done.stdout)
        self.assertIn("█", done.stdout)
        self.assertIn("it fits", done.stdout)
        self.assertLessEqual(max(len(line) for line in done.stdout.splitlines()), 140)

    # ---- Mistakes: one clear sentence each

    def test_unknown_names_get_the_nearest(self):
        self.assertIn("did you mean Qwen2.5-7B?", self.refused("Qwen2.5-7P", "--gpu", "h100", status=1))
        self.assertIn("did you mean h100-80gb?", self.refused("Qwen2.5-7B", "--gpu", "h100-8gb"))
        self.assertIn("known are", self.refused("Qwen2.5-7B", "--gpu", "abacus"))
        self.assertIn("did you mean --max-model-len?", self.refused("Qwen2.5-7B", "--max-model-length", "1"))

    def test_what_is_missing_is_named(self):
        self.assertIn("no MODEL", self.refused())
        self.assertIn("no such file", self.refused("/nowhere/model", status=1))
        broken = pathlib.Path(self.folder.name) / "broken"
        shutil.copytree(FOLDERS / "llama3", broken)
        (broken / "model-00002-of-00003.safetensors").unlink()
        self.assertIn("shard model-00002-of-00003.safetensors is missing", self.refused(broken, status=1))
        (broken / "config.json").write_text("{")
        self.assertIn("no valid JSON", self.refused(broken, status=1))
        (broken / "config.json").unlink()
        self.assertIn("config.json is missing", self.refused(broken, status=1))
        (broken / "config.json").write_text(json.dumps({"model_type": "llama", "num_hidden_layers": 10**9}))
        self.assertIn("layers", self.refused(broken, status=1))

    def test_absurd_flags(self):
        for words in (("--max-model-len", "0"), ("--max-model-len", "-5"), ("--max-num-seqs", "0"), ("-tp", "0"),
                      ("-tp", "1000000"), ("--gpu-memory-utilization", "1.5"), ("--gpu-memory-utilization", "nan"),
                      ("--swap-space", "-1"), ("--quantization", "2-bit"), ("--kv-cache-dtype", "fp4"),
                      ("--dtype", "int3"), ("--gpu", "x8"), ("--gpu", "h100", "x9999")):
            self.refused("Qwen2.5-7B", *words)
        self.assertIn("28 heads", self.refused("Qwen2.5-7B", "--gpu", "h100", "-tp", "8"))
        self.assertIn("32768 tokens", self.refused("Qwen2.5-7B", "--gpu", "h100", "--max-model-len", "1000000"))
        self.assertIn("one device", self.refused("Qwen2.5-7B", "--gpu", "cpu", "-tp", "2"))
        self.assertIn("needs 8 cards", self.refused("Qwen2.5-72B", "--gpu", "h100", "x4", "-tp", "8"))


if __name__ == "__main__":
    PAGODA, LIBRARY = (os.path.abspath(word) for word in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])
