#!/usr/bin/env python3
"""Writes a small random Llama folder in every layout of quantised checkpoints, with the logits that transformers
computes from the weights as the layout's own package dequantises them.

    python3 tools/make_quantised_folders.py tests/model/quantised

Codes are random, so that every bit of every layout matters. AWQ and GPTQ words are packed here as autoawq's and
auto-gptq's modules read them and unpacked by those modules' own code (--autoawq and --auto-gptq name the unpacked
sources); compressed-tensors and bitsandbytes pack and unpack by their packages. Seeded. Needs: torch, transformers,
safetensors, compressed-tensors, bitsandbytes.
"""
import argparse
import importlib.util
import json
import shutil
from importlib.metadata import version
from pathlib import Path

import torch
import transformers
from safetensors.torch import save_file

SEED = 20261201
VOCABULARY = 96
SIZES = dict(hidden_size=128, intermediate_size=256, num_attention_heads=4, num_key_value_heads=2, num_hidden_layers=1,
             max_position_embeddings=128, vocab_size=VOCABULARY, tie_word_embeddings=False, initializer_range=0.2)
PROMPTS = [[1, 5, 9, 60, 33, 2, 95, 17], [7], [(i * 37 + 11) % VOCABULARY for i in range(40)]]
MODULES = ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "mlp.gate_proj",
           "mlp.up_proj", "mlp.down_proj"]


def load_source(path: Path, name: str):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def random_codes(shape, bits: int) -> torch.Tensor:
    return torch.randint(0, 2**bits, shape, dtype=torch.int64)


def words(codes: torch.Tensor, bits: int) -> torch.Tensor:
    """Packs the last dimension, lowest bits first, into int32."""
    per = 32 // bits
    grouped = codes.reshape(*codes.shape[:-1], -1, per).to(torch.int64) & (2**bits - 1)
    packed = (grouped << (torch.arange(per) * bits)).sum(-1)
    return torch.where(packed >= 2**31, packed - 2**32, packed).to(torch.int32)


def random_scales(*shape, dtype=torch.float16) -> torch.Tensor:
    return (0.01 + 0.02 * torch.rand(*shape)).to(dtype)


class Awq:
    def __init__(self, packing, group: int, zero_point: bool = True):
        self.packing, self.group, self.zero_point = packing, group, zero_point
        self.config = {"quant_method": "awq", "bits": 4, "group_size": group, "version": "gemm",
                       "zero_point": zero_point, "modules_to_not_convert": None}

    def weight(self, rows: int, columns: int):
        order = self.packing.AWQ_ORDER
        codes, zeros = random_codes((columns, rows), 4), random_codes((columns // self.group, rows), 4)
        if not self.zero_point:
            zeros = torch.full_like(zeros, 8)
        pack = lambda values: words(values.reshape(-1, rows // 8, 8)[:, :, order].reshape(-1, rows), 4)
        parts = {"qweight": pack(codes), "qzeros": pack(zeros), "scales": random_scales(columns // self.group, rows)}
        dequantised = self.packing.dequantize_gemm(parts["qweight"], parts["qzeros"], parts["scales"].float(), 4,
                                                   self.group)
        return parts, dequantised.t()


class Gptq:
    def __init__(self, reference, bits: int, group: int, layout: str = "gptq", symmetric: bool = False,
                 act_order: bool = False):
        self.reference, self.bits, self.group, self.layout = reference, bits, group, layout
        self.symmetric, self.act_order = symmetric, act_order
        self.config = {"quant_method": "gptq", "bits": bits, "group_size": group, "desc_act": act_order,
                       "sym": symmetric, "checkpoint_format": layout}

    def weight(self, rows: int, columns: int):
        group = self.group if self.group > 0 else columns
        groups = columns // group
        codes = random_codes((columns, rows), self.bits)
        zeros = random_codes((groups, rows), self.bits)
        zeros = torch.full_like(zeros, 2 ** (self.bits - 1)) if self.symmetric else zeros.clamp(min=1)
        g_idx = torch.arange(columns, dtype=torch.int32) // group
        if self.act_order:
            g_idx = g_idx[torch.randperm(columns)]
        stored = zeros - 1 if self.layout == "gptq" else zeros
        parts = {"qweight": words(codes.t(), self.bits).t().contiguous(), "qzeros": words(stored, self.bits),
                 "scales": random_scales(groups, rows), "g_idx": g_idx}
        return parts, self.dequantised(parts, rows, columns)

    def dequantised(self, parts, rows: int, columns: int) -> torch.Tensor:
        """By auto-gptq's module: its own forward pass over the unit vectors."""
        layer = self.reference.QuantLinear(self.bits, self.group, columns, rows, bias=False)
        layer.autogptq_cuda_available = False
        for name, value in parts.items():
            setattr(layer, name, value.clone())
        if self.layout == "gptq_v2":  # the module reads the first format only
            unpacked = (layer.qzeros.unsqueeze(-1) >> (torch.arange(32 // self.bits) * self.bits)) & (2**self.bits - 1)
            layer.qzeros = words(unpacked.reshape(unpacked.shape[0], -1) - 1, self.bits)
        layer.scales = layer.scales.float()
        return layer(torch.eye(columns)).t()


class Fp8:
    def __init__(self, block=None):
        self.block = block
        self.config = {"quant_method": "fp8", "fmt": "e4m3", "activation_scheme": "dynamic"}
        if block:
            self.config["weight_block_size"] = list(block)

    def weight(self, rows: int, columns: int):
        codes = torch.randn(rows, columns).to(torch.float8_e4m3fn)
        if not self.block:
            scale = torch.tensor(0.05 + 0.01 * torch.rand(()).item())
            return {"weight": codes, "weight_scale": scale}, codes.float() * scale
        down, across = -(-rows // self.block[0]), -(-columns // self.block[1])
        scale = 0.05 + 0.1 * torch.rand(down, across)
        spread = scale.repeat_interleave(self.block[0], 0)[:rows].repeat_interleave(self.block[1], 1)[:, :columns]
        return {"weight": codes, "weight_scale_inv": scale}, codes.float() * spread


class Compressed:
    """By the package's own compressors."""

    def __init__(self, layout: str, weights: dict):
        from compressed_tensors.compressors.base import BaseCompressor
        from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme
        self.layout = layout
        self.compressor = BaseCompressor.get_value_from_registry(layout)
        self.scheme = QuantizationScheme(targets=["Linear"], weights=QuantizationArgs(**weights))
        self.config = {"quant_method": "compressed-tensors", "format": layout, "ignore": ["lm_head"],
                       "quantization_status": "compressed",
                       "config_groups": {"group_0": {"targets": ["Linear"], "weights": weights}}}

    def weight(self, rows: int, columns: int):
        args = self.scheme.weights
        groups = columns // args.group_size if args.strategy == "group" else 1
        state = {"weight": torch.randn(rows, columns) * 0.1, "weight_scale": random_scales(rows, groups, dtype=torch.bfloat16)}
        if args.type == "float":
            state["weight_scale"] = random_scales(rows, groups, dtype=torch.float32)
            state["weight"] = torch.randn(rows, columns)
        if args.num_bits == 8 and args.type == "int":
            state["weight_scale"] = state["weight_scale"] / 16
        if not args.symmetric:
            state["weight_zero_point"] = torch.randint(-8, 8, (rows, groups), dtype=torch.int8)
        parts = self.compressor.compress(dict(state), self.scheme)
        wide = {name: value.float() if name == "weight_scale" else value for name, value in parts.items()}
        return parts, self.compressor.decompress(wide, self.scheme)["weight"].float()


class Nf4:
    config = {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4",
              "bnb_4bit_use_double_quant": True}

    def weight(self, rows: int, columns: int):
        import bitsandbytes.functional as bnb
        codes, state = bnb.quantize_4bit(torch.randn(rows, columns) * 0.1, blocksize=64, compress_statistics=True,
                                         quant_type="nf4")
        parts = {"weight": codes}
        parts.update({f"weight.{name}": value for name, value in state.as_dict(packed=True).items()})
        return parts, bnb.dequantize_4bit(codes, state).float()


class Int8Rows:
    config = {"quant_method": "bitsandbytes", "load_in_8bit": True}

    def weight(self, rows: int, columns: int):
        import bitsandbytes.functional as bnb
        codes, scales, _ = bnb.int8_vectorwise_quant((torch.randn(rows, columns) * 0.1).half())
        parts = {"weight": codes, "SCB": scales, "weight_format": torch.tensor(0, dtype=torch.uint8)}
        return parts, bnb.int8_vectorwise_dequant(codes, scales).float()


def write_tokenizer(folder: Path) -> None:
    """Ids are given; the loader only wants a tokenizer to be there."""
    vocabulary = {chr(33 + i): i for i in range(90)}
    (folder / "tokenizer.json").write_text(json.dumps(
        {"model": {"type": "BPE", "vocab": vocabulary, "merges": []}, "pre_tokenizer": {"type": "ByteLevel"}}))


@torch.no_grad()
def write(folder: Path, scheme) -> None:
    torch.manual_seed(SEED)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    config = transformers.LlamaConfig(**SIZES)
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager").eval()
    for parameter in model.parameters():  # not the buffers: rotary frequencies stay f32
        parameter.copy_(parameter.to(torch.float16))
    tensors = {name: value.to(torch.float16) for name, value in model.state_dict().items() if "_proj" not in name}
    for module in MODULES:
        layer = model.get_submodule("model.layers.0." + module)
        parts, dequantised = scheme.weight(layer.out_features, layer.in_features)
        layer.weight.copy_(dequantised)
        tensors.update({f"model.layers.0.{module}.{part}": value.contiguous() for part, value in parts.items()})
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    said = json.loads(config.to_json_string())
    said["quantization_config"] = scheme.config
    (folder / "config.json").write_text(json.dumps(said, indent=1) + "\n")
    write_tokenizer(folder)
    prompts = [{"ids": ids, "logits": [round(value, 5) for value in model(torch.tensor([ids]), use_cache=False).logits[0, -1].tolist()]}
               for ids in PROMPTS]
    packages = ("torch", "transformers", "compressed-tensors", "bitsandbytes")
    (folder / "golden.json").write_text(json.dumps({"by": {name: version(name) for name in packages}, "prompts": prompts}) + "\n")
    print(folder.name, sum(path.stat().st_size for path in folder.iterdir()), "bytes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--autoawq", type=Path, required=True)
    parser.add_argument("--auto-gptq", type=Path, required=True)
    arguments = parser.parse_args()
    awq = load_source(arguments.autoawq / "awq/utils/packing_utils.py", "packing_utils")
    gptq = load_source(arguments.auto_gptq / "auto_gptq/nn_modules/qlinear/qlinear_cuda.py", "qlinear_cuda")
    integers = lambda bits, strategy, symmetric=True, group=None: dict(
        num_bits=bits, type="int", strategy=strategy, symmetric=symmetric, group_size=group)
    schemes = {
        "awq_128": Awq(awq, 128), "awq_32": Awq(awq, 32), "awq_symmetric": Awq(awq, 64, zero_point=False),
        "gptq4_symmetric": Gptq(gptq, 4, 128, symmetric=True),
        "gptq4_act_order": Gptq(gptq, 4, 32, act_order=True),
        "gptq4_v2": Gptq(gptq, 4, 64, layout="gptq_v2"),
        "gptq4_rows": Gptq(gptq, 4, -1),
        "gptq8": Gptq(gptq, 8, 32), "gptq8_act_order": Gptq(gptq, 8, 128, symmetric=True, act_order=True),
        "fp8_tensor": Fp8(), "fp8_blocks": Fp8((128, 128)), "fp8_small_blocks": Fp8((48, 64)),
        "compressed_w4a16": Compressed("pack-quantized", integers(4, "group", group=128)),
        "compressed_w4a16_asymmetric": Compressed("pack-quantized", integers(4, "group", False, group=32)),
        "compressed_w8": Compressed("int-quantized", integers(8, "channel")),
        "compressed_fp8": Compressed("float-quantized", dict(num_bits=8, type="float", strategy="channel", symmetric=True)),
        "bitsandbytes_nf4": Nf4(), "bitsandbytes_int8": Int8Rows(),
    }
    for name, scheme in schemes.items():
        write(arguments.out / name, scheme)


if __name__ == "__main__":
    main()
