#!/usr/bin/env python3
"""A GGUF file with the shape of a large model and random weights, to measure speeds with: random_model.py OUT.gguf [--shape 7b]

Q4_0 throughout, as llama.cpp's quantiser leaves such a model but for its output layer. The tokens are numbers; what the
model says is noise. The 7b file has 3.8 GB. Needs nothing but Python.
"""
import argparse
import os
import pathlib
import struct

ALIGNMENT = 32
STRING, ARRAY, U32, F32 = 8, 9, 4, 6
TYPE_F32, TYPE_Q4_0 = 0, 2
# hidden, ffn, layers, heads, KV heads, vocabulary: Llama 2 7B; Llama 3.2 1B.
SHAPES = {"7b": (4096, 11008, 32, 32, 32, 32000), "1b": (2048, 8192, 16, 32, 8, 128256)}


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def entry(key, kind, payload):
    return text(key) + struct.pack("<I", kind) + payload


def metadata(shape, name):
    hidden, ffn, layers, heads, kv_heads, vocabulary = shape
    number = lambda key, value: entry(key, U32, struct.pack("<I", value))
    words = lambda key, values: entry(key, ARRAY, struct.pack("<IQ", STRING, len(values)) + b"".join(map(text, values)))
    scores = struct.pack("<IQ", F32, vocabulary) + struct.pack(f"<{vocabulary}f", *([0.0] * vocabulary))
    tokens = ["<unk>", "<s>", "</s>", *(f"t{i}" for i in range(3, vocabulary))]
    return [
        entry("general.architecture", STRING, text("llama")), entry("general.name", STRING, text(name)),
        number("llama.block_count", layers), number("llama.context_length", 4096),
        number("llama.embedding_length", hidden), number("llama.feed_forward_length", ffn),
        number("llama.attention.head_count", heads), number("llama.attention.head_count_kv", kv_heads),
        entry("llama.attention.layer_norm_rms_epsilon", F32, struct.pack("<f", 1e-5)),
        number("llama.rope.dimension_count", hidden // heads),
        entry("tokenizer.ggml.model", STRING, text("llama")), words("tokenizer.ggml.tokens", tokens),
        entry("tokenizer.ggml.scores", ARRAY, scores),
        number("tokenizer.ggml.bos_token_id", 1), number("tokenizer.ggml.eos_token_id", 2),
    ]


def tensors(shape):
    """Names, dimensions with the fastest first, types."""
    hidden, ffn, layers, heads, kv_heads, vocabulary = shape
    kv = hidden // heads * kv_heads
    yield "token_embd.weight", (hidden, vocabulary), TYPE_Q4_0
    yield "output_norm.weight", (hidden,), TYPE_F32
    yield "output.weight", (hidden, vocabulary), TYPE_Q4_0
    for i in range(layers):
        for name, dimensions in (("attn_q", (hidden, hidden)), ("attn_k", (hidden, kv)), ("attn_v", (hidden, kv)),
                                 ("attn_output", (hidden, hidden)), ("ffn_gate", (hidden, ffn)), ("ffn_up", (hidden, ffn)),
                                 ("ffn_down", (ffn, hidden))):
            yield f"blk.{i}.{name}.weight", dimensions, TYPE_Q4_0
        for name in ("attn_norm", "ffn_norm"):
            yield f"blk.{i}.{name}.weight", (hidden,), TYPE_F32


def data_of(dimensions, kind):
    if kind == TYPE_F32:
        return struct.pack(f"<{dimensions[0]}f", *([1.0] * dimensions[0]))
    blocks = dimensions[0] * dimensions[1] // 32
    # Codes are random, scales such that a row's output keeps the size of its input; a pattern of blocks repeats, since
    # a gigabyte of randomness takes long.
    scale = struct.pack("<e", 0.2 / dimensions[0] ** 0.5)
    pattern = b"".join(scale + os.urandom(16) for _ in range(min(blocks, 65536)))
    return (pattern * (blocks * 18 // len(pattern) + 1))[:blocks * 18]


def padded(size):
    return -size % ALIGNMENT


def write(path, shape, name):
    entries, infos = metadata(shape, name), list(tensors(shape))
    with open(path, "wb") as file:
        file.write(struct.pack("<4sIQQ", b"GGUF", 3, len(infos), len(entries)) + b"".join(entries))
        offset, sizes = 0, {}
        for tensor, dimensions, kind in infos:
            elements = dimensions[0] * (dimensions[1] if len(dimensions) > 1 else 1)
            sizes[tensor] = 4 * elements if kind == TYPE_F32 else elements // 32 * 18
            file.write(text(tensor) + struct.pack(f"<I{len(dimensions)}QIQ", len(dimensions), *dimensions, kind, offset))
            offset += sizes[tensor] + padded(sizes[tensor])
        file.write(b"\0" * padded(file.tell()))
        for tensor, dimensions, kind in infos:
            file.write(data_of(dimensions, kind))
            file.write(b"\0" * padded(sizes[tensor]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--shape", choices=SHAPES, default="7b")
    options = parser.parse_args()
    unfinished = options.out.with_suffix(".part")
    write(unfinished, SHAPES[options.shape], f"random {options.shape}")
    unfinished.rename(options.out)
    print(f"{options.out}: {options.out.stat().st_size / 1e9:.2f} GB")


if __name__ == "__main__":
    main()
