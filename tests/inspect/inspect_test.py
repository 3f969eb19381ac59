#!/usr/bin/env python3
"""`pagoda inspect`: what it says of models whose facts are known.

    inspect_test.py PAGODA
"""
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "e2e"))
from server import cached_model  # noqa: E402

PAGODA = sys.argv.pop(1) if len(sys.argv) > 1 else "pagoda"
QWEN3 = TESTS / "model" / "folders" / "qwen3"
CROSS_ENCODER = TESTS / "embeddings" / "data" / "tiny_cross_encoder"


def inspect(*arguments, **environment):
    return subprocess.run([PAGODA, "inspect", *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False,
                          env={**os.environ, **environment})


def facts_of(*arguments, **environment):
    done = inspect(*arguments, "--json", **environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class Inspect(unittest.TestCase):
    def test_a_folder(self):
        config = json.loads((QWEN3 / "config.json").read_text())
        facts = facts_of(QWEN3)
        shape = facts["architecture"]
        self.assertEqual(facts["format"], "Hugging Face folder")
        self.assertEqual((shape["kind"], shape["name"]), ("decoder", "qwen3"))
        for ours, theirs in {"layers": "num_hidden_layers", "hidden": "hidden_size", "heads": "num_attention_heads",
                             "kv_heads": "num_key_value_heads", "ffn": "intermediate_size",
                             "context": "max_position_embeddings"}.items():
            self.assertEqual(shape[ours], config[theirs], ours)
        header = (QWEN3 / "model.safetensors").read_bytes()
        tensors = json.loads(header[8:8 + int.from_bytes(header[:8], "little")])
        tensors.pop("__metadata__", None)
        parameters = sum(math.prod(tensor["shape"]) for tensor in tensors.values())
        self.assertEqual(facts["parameters"], parameters)
        self.assertEqual(sum(share["parameters"] for share in facts["dtypes"].values()), parameters)
        kv = 2 * config["num_hidden_layers"] * config["num_key_value_heads"] * shape["head_dim"] * 2
        self.assertEqual(facts["memory"]["kv_per_token"], kv)
        self.assertTrue(facts["chat_template"]["characters"] > 0)
        text = inspect(QWEN3).stdout
        for word in ("architecture", "parameters", "weights", "context", "tokenizer", "chat template", "memory"):
            self.assertIn(f"\n  {word} ", text)

    def test_an_encoder(self):
        facts = facts_of(CROSS_ENCODER)
        self.assertEqual((facts["architecture"]["kind"], facts["architecture"]["labels"]), ("encoder", 1))
        self.assertEqual(facts["tokenizer"]["kind"], "WordPiece")
        self.assertEqual(facts["memory"]["kv_per_token"], 0)
        self.assertIsNone(facts["chat_template"])

    def test_a_gguf_file(self):
        model = cached_model("SmolLM2-135M-Instruct.Q4_1.gguf")
        if model is None:
            self.skipTest("no model")
        facts = facts_of(model)
        self.assertEqual((facts["format"], facts["architecture"]["name"], facts["parameters"]), ("GGUF", "llama", 134515008))
        self.assertEqual(facts["tokenizer"]["tokens"], 49152)
        self.assertIn("<|im_end|>", facts["tokenizer"]["end_tokens"])

    def test_a_name_in_the_hub_cache(self):
        with tempfile.TemporaryDirectory() as folder:
            model = Path(folder) / "models--org--small"
            shutil.copytree(QWEN3, model / "snapshots" / "abcdef1")
            (model / "refs").mkdir()
            (model / "refs" / "main").write_text("abcdef1")
            self.assertEqual(facts_of("org/small", HF_HUB_CACHE=folder)["architecture"]["name"], "qwen3")
            done = inspect("org/other", HF_HUB_CACHE=folder)
            self.assertEqual(done.returncode, 1)
            self.assertIn("pagoda pull org/other", done.stderr)

    def test_what_cannot_be_read_is_one_line(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "config.json").write_text('{"model_type": "mamba9"}')
            done = inspect(folder)
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1)
            self.assertIn("mamba9", done.stderr)
        self.assertEqual(inspect().returncode, 2)


unittest.main(verbosity=1)
