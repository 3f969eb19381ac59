#!/usr/bin/env python3
"""gguf_output_test.py PAGODA: small folders and a GGUF file through `pagoda quantize`, read back by the `gguf` package:
metadata, types, and every weight near what the source holds. And what is asked wrongly, in one line each."""
import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import gguf
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}; tests/requirements.txt has it")
    sys.exit(77)

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDERS = ROOT / "tests" / "model" / "folders"
# Largest relative error of a weight matrix, by the type that it got.
BOUNDS = {"Q8_0": 0.008, "Q4_0": 0.1, "Q5_0": 0.05, "Q4_K": 0.09, "Q6_K": 0.025, "F16": 0.001, "F32": 1e-7}


def run(pagoda, *arguments):
    return subprocess.run([pagoda, "quantize", *map(str, arguments)], capture_output=True, text=True, timeout=300)


def safetensors(folder):
    tensors = {}
    for path in folder.glob("*.safetensors"):
        data = path.read_bytes()
        length = struct.unpack("<Q", data[:8])[0]
        for name, entry in json.loads(data[8:8 + length]).items():
            if name == "__metadata__":
                continue
            begin, end = entry["data_offsets"]
            raw = data[8 + length + begin:8 + length + end]
            if entry["dtype"] == "BF16":
                values = (np.frombuffer(raw, dtype="<u2").astype(np.uint32) << 16).view(np.float32)
            else:
                values = np.frombuffer(raw, dtype={"F16": "<f2", "F32": "<f4"}[entry["dtype"]]).astype(np.float32)
            tensors[name] = values.reshape(entry["shape"])
    return tensors


def interleaved(weight, heads):
    return weight.reshape(heads, 2, weight.shape[0] // heads // 2, -1).swapaxes(1, 2).reshape(weight.shape)


def expected_of(tensors, name, config):
    """The source's values of a GGUF tensor."""
    if name == "token_embd.weight":
        return tensors["model.embed_tokens.weight"]
    if name == "output.weight":
        return tensors["lm_head.weight"]
    if name == "output_norm.weight":
        return tensors["model.norm.weight"]
    _, layer, kind, suffix = name.split(".")
    inside = {"attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
              "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
              "ffn_down": "mlp.down_proj", "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm"}[kind]
    weight = tensors[f"model.layers.{layer}.{inside}.{suffix}"]
    if config["model_type"] in ("llama", "mistral") and kind in ("attn_q", "attn_k"):
        heads = config["num_attention_heads" if kind == "attn_q" else "num_key_value_heads"]
        return interleaved(weight, heads)
    return weight


def check_file(path, folder, scheme, types):
    config = json.loads((folder / "config.json").read_text())
    tensors = safetensors(folder)
    reader = gguf.GGUFReader(path)
    architecture = reader.get_field("general.architecture").contents()
    assert reader.get_field(f"{architecture}.block_count").contents() == config["num_hidden_layers"]
    assert reader.get_field(f"{architecture}.block_count").types == [gguf.GGUFValueType.UINT32]
    assert reader.get_field("general.file_type").contents() == {"q8_0": 7, "q4_0": 2, "q4_k": 15}[scheme]
    assert reader.get_field("general.quantization_version").contents() == 2
    assert len(reader.get_field("tokenizer.ggml.tokens").contents()) >= 400
    found = {}
    for tensor in reader.tensors:
        if tensor.name == "rope_freqs.weight":
            continue
        name = tensor.tensor_type.name
        found[name] = found.get(name, 0) + 1
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float64)
        wanted = expected_of(tensors, tensor.name, config).astype(np.float64)
        assert values.shape == wanted.shape, (tensor.name, values.shape, wanted.shape)
        error = np.linalg.norm(values - wanted) / np.linalg.norm(wanted)
        assert error <= BOUNDS[name], (tensor.name, name, error)
    assert set(found) == types, (folder.name, scheme, found)
    print(f"{folder.name} {scheme}: {found}")


def check_refusals(pagoda, out):
    cases = [
        ([], "no MODEL given"),
        ([FOLDERS / "llama3"], "no --scheme given: q8_0, q4_0, q4_k, gptq, awq or fp8"),
        ([FOLDERS / "llama3", "--scheme", "q4_0"], "no -o OUT given"),
        ([FOLDERS / "llama3", "--scheme", "q3_k", "-o", out], "'q3_k' is none of q8_0, q4_0"),
        ([FOLDERS / "llama3", "--scheme", "gptq", "-o", out], "wants --calibration FILE"),
        ([FOLDERS / "llama3", "--scheme", "awq", "--bits", "8", "--calibration", "x", "-o", out], "--bits 8: gptq has 4 and 8"),
        ([FOLDERS / "llama3", "--scheme", "fp8", "-o", FOLDERS / "llama3"], "read and written at once"),
        ([ROOT / "tests" / "model" / "quantised" / "awq_128", "--scheme", "fp8", "-o", out], "quantised by awq already"),
        ([ROOT / "tests" / "model" / "data" / "tiny_llama.gguf", "--scheme", "fp8", "-o", out], "from a Hugging Face folder"),
    ]
    for arguments, message in cases:
        done = run(pagoda, *arguments)
        assert done.returncode != 0 and message in done.stderr, (arguments, done.stderr)
        assert len(done.stderr.splitlines()) == 1, done.stderr
        assert not Path(out).exists(), "nothing is left behind"


def main():
    pagoda = sys.argv[1]
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        for folder, scheme, types in (("llama3", "q8_0", {"Q8_0", "F32"}), ("llama2", "q4_0", {"Q4_0", "Q8_0", "F32"}),
                                      ("mistral", "q4_k", {"Q5_0", "Q8_0", "F32"})):
            path = scratch / f"{folder}.gguf"
            done = run(pagoda, FOLDERS / folder, "--scheme", scheme, "-o", path)
            assert done.returncode == 0, done.stderr
            assert not path.with_suffix(".gguf.part").exists()
            check_file(path, FOLDERS / folder, scheme, types)
        # A file of its own making is a source too.
        again = run(pagoda, scratch / "llama3.gguf", "--scheme", "q4_0", "-o", scratch / "again.gguf")
        assert again.returncode == 0, again.stderr
        check_file(scratch / "again.gguf", FOLDERS / "llama3", "q4_0", {"Q4_0", "Q8_0", "F32"})
        check_refusals(pagoda, str(scratch / "refused"))
    print("ok")


if __name__ == "__main__":
    main()
