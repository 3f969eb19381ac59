#!/usr/bin/env python3
"""Writes the golden data of src/kernels/dequantise_test.cc: random blocks of every quantised type and what the
`gguf` Python package's dequantize makes of them.

    python3 tools/make_dequantise_goldens.py src/kernels/testdata/dequantise.txt

Needs: gguf, numpy. Lines: "TYPE BYTES_IN_HEX BITS_OF_F32_IN_HEX"; big enough to meet every bit of every field,
small enough to be read in a diff. The first line states what made it.
"""
import sys

import gguf
import numpy as np

SEED = 20240607
TYPES = ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ1_S", "IQ1_M",
         "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ4_XS", "TQ1_0", "TQ2_0", "MXFP4", "NVFP4"]
# Where the block keeps its f16 scales: random bits there would be NaN or infinity now and then.
HALVES = {
    "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "IQ4_NL": [0],
    "IQ1_S": [0], "IQ1_M": [], "IQ2_XXS": [0], "IQ2_XS": [0], "IQ2_S": [0], "IQ3_XXS": [0], "IQ3_S": [0], "IQ4_XS": [0],
    "TQ1_0": [52], "TQ2_0": [64], "MXFP4": [], "NVFP4": [],
    "Q2_K": [80, 82], "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208],
}


def random_blocks(rng: np.random.Generator, name: str, count: int) -> np.ndarray:
    _, size = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[name]]
    blocks = rng.integers(0, 256, size=(count, size), dtype=np.uint8)
    for at in HALVES[name]:
        halves = rng.normal(0.0, 0.05, size=(count, 1)).astype(np.float16)
        halves[0] = np.float16(-3e-6)  # a subnormal, negative
        blocks[:, at:at + 2] = halves.view(np.uint8)
    if name == "IQ1_M":  # the four parts of its scale, spread over four words
        parts = halves_in_parts(rng, count)
        blocks[:, 49::2][:, :4] = blocks[:, 49::2][:, :4] & 0x0F | parts << 4
    return blocks


def halves_in_parts(rng: np.random.Generator, count: int) -> np.ndarray:
    bits = rng.normal(0.0, 0.05, size=(count, 1)).astype(np.float16).view(np.uint16)
    return ((bits >> np.array([0, 4, 8, 12], dtype=np.uint16)) & 15).astype(np.uint8)


def main() -> None:
    rng = np.random.default_rng(SEED)
    version = __import__("importlib.metadata").metadata.version("gguf")
    with open(sys.argv[1], "w", encoding="ascii") as out:
        print(f"# gguf {version}, numpy {np.__version__}, seed {SEED}", file=out)
        for name in TYPES:
            blocks = random_blocks(rng, name, 2 if gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[name]][0] == 256 else 6)
            values = gguf.quants.dequantize(blocks, gguf.GGMLQuantizationType[name]).astype("<f4")
            print(name, blocks.tobytes().hex(), values.tobytes().hex(), file=out)


if __name__ == "__main__":
    main()
