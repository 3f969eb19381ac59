#!/usr/bin/env python3
"""Tokenizes llama.cpp's vectors (ggml-vocab-*.gguf.inp) and compares with their .out, which the models' own
tokenizers made.

    check_vectors.py ENCODE_TEXTS LLAMA_CPP
"""
import sys
import unicodedata
from pathlib import Path

import encoder

UNSUPPORTED = {"bert-bge": "WordPiece", "nomic-bert-moe": "unigram", "gemma-4": "its model is gemma4"}
# Where a vector is llama.cpp's answer and not the original tokenizer's.
DEVIATES = {"qwen35": lambda text: unicodedata.normalize("NFC", text) != text}  # it leaves out the normal form


def check(program, vocabulary, inputs):
    texts = inputs.read_bytes().decode().split("\n__ggml_vocab_test__\n")
    expected = [[int(i) for i in line.split()] for line in inputs.with_suffix(".out").read_text().splitlines()]
    ours, _ = encoder.encode(program, str(inputs.with_suffix("")), [text.encode() for text in texts])
    wrong = known = 0
    for text, (ids, _), vector in zip(texts, ours, expected):
        if ids == vector:
            continue
        if DEVIATES.get(vocabulary, lambda _: False)(text):
            known += 1
            continue
        wrong += 1
        print(f"  {vocabulary}: {text[:60]!r}: ours {ids[:20]}, vector {vector[:20]}")
    print(f"{vocabulary}: {len(expected)} vectors, {wrong} differ, {known} known to deviate from the original")
    return wrong


def main():
    program, llama_cpp = sys.argv[1:3]
    wrong = 0
    for inputs in sorted((Path(llama_cpp) / "models").glob("ggml-vocab-*.gguf.inp")):
        vocabulary = inputs.name.removeprefix("ggml-vocab-").removesuffix(".gguf.inp")
        if vocabulary in UNSUPPORTED:
            print(f"{vocabulary}: not supported: {UNSUPPORTED[vocabulary]}")
        else:
            wrong += check(program, vocabulary, inputs)
    return min(1, wrong)


sys.exit(main())
