#!/usr/bin/env python3
"""Perplexity by transformers of a folder that `pagoda quantize` wrote, its weights dequantised by the packages that define the
layouts; beside it, what bench/perplexity says of the same folder and text.

    python3 tools/check_quantised_folder.py FOLDER TEXT [--windows N] --autoawq SOURCE --auto-gptq SOURCE

AWQ and GPTQ words are read by autoawq's and auto-gptq's own modules (unpacked sources), FP8 by compressed-tensors. Windows of
512 tokens, the second half of each scored, as llama-perplexity does. Needs: torch, transformers, safetensors,
compressed-tensors. Prints JSON.
"""
import argparse
import importlib.util
import json
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file

WINDOW = 512


def load_source(path: Path, name: str):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def dequantise_awq(parts, config, arguments):
    packing = load_source(arguments.autoawq / "awq/utils/packing_utils.py", "packing_utils")
    columns = parts["qweight"].shape[0]
    group = config["group_size"] if config["group_size"] > 0 else columns
    return packing.dequantize_gemm(parts["qweight"], parts["qzeros"], parts["scales"].float(), 4, group).t()


def dequantise_gptq(parts, config, arguments):
    reference = load_source(arguments.auto_gptq / "auto_gptq/nn_modules/qlinear/qlinear_cuda.py", "qlinear_cuda")
    columns, rows = parts["g_idx"].shape[0], parts["qweight"].shape[1]
    layer = reference.QuantLinear(config["bits"], config["group_size"], columns, rows, bias=False)
    layer.autogptq_cuda_available = False
    for name, value in parts.items():
        setattr(layer, name, value)
    layer.scales = layer.scales.float()
    return layer(torch.eye(columns)).t()


def dequantise_f8(parts, config, arguments):
    from compressed_tensors.compressors.base import BaseCompressor
    from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme
    weights = QuantizationArgs(**config["config_groups"]["group_0"]["weights"])
    scheme = QuantizationScheme(targets=["Linear"], weights=weights)
    return BaseCompressor.get_value_from_registry(config["format"]).decompress(parts, scheme)["weight"].float()


METHODS = {"awq": dequantise_awq, "gptq": dequantise_gptq, "compressed-tensors": dequantise_f8}


@torch.no_grad()
def load(arguments):
    folder = arguments.folder
    said = json.loads((folder / "config.json").read_text())
    quantization = said.pop("quantization_config")
    config = transformers.AutoConfig.for_model(**said)
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager").eval().float()
    modules, state = {}, {}
    for path in sorted(folder.glob("*.safetensors")):
        for name, value in load_file(path).items():
            module, part = name.rsplit(".", 1)
            if part in ("qweight", "qzeros", "scales", "g_idx", "weight_scale") or value.dtype == torch.float8_e4m3fn:
                modules.setdefault(module, {})[part] = value
            else:
                state[name] = value.float()
    for module, parts in modules.items():
        state[module + ".weight"] = METHODS[quantization["quant_method"]](parts, quantization, arguments)
    missing, unexpected = model.load_state_dict(state, strict=False)
    assert not unexpected and all(name == "lm_head.weight" for name in missing), (missing, unexpected)
    return model


@torch.no_grad()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("text", type=Path)
    parser.add_argument("--windows", type=int, default=1000)
    parser.add_argument("--autoawq", type=Path)
    parser.add_argument("--auto-gptq", type=Path)
    arguments = parser.parse_args()
    model = load(arguments)
    tokenizer = transformers.AutoTokenizer.from_pretrained(arguments.folder)
    ids = tokenizer(arguments.text.read_text(encoding="utf-8"), add_special_tokens=False)["input_ids"]
    total, count = 0.0, 0
    for at in range(0, min(len(ids) // WINDOW, arguments.windows) * WINDOW, WINDOW):
        window = torch.tensor([ids[at:at + WINDOW]])
        half = WINDOW // 2
        logits = model(window, use_cache=False).logits[0, half:-1].double()
        total += torch.nn.functional.cross_entropy(logits, window[0, half + 1:], reduction="sum").item()
        count += WINDOW - 1 - half
    print(json.dumps({"perplexity": round(float(torch.tensor(total / count).exp()), 4), "tokens": count}))


if __name__ == "__main__":
    main()
