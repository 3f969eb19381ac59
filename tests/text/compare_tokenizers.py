#!/usr/bin/env python3
"""Compares our ids with those of the package `tokenizers` on about 5 MB of texts (corpus.py).

    compare_tokenizers.py model ENCODE_TEXTS MODEL.gguf           one model, all texts
    compare_tokenizers.py vocabularies ENCODE_TEXTS LLAMA_CPP     many vocabularies and pre-tokenizers, fewer texts
"""
import sys
from pathlib import Path

import reference_package

reference_package.make_importable()

import corpus  # noqa: E402
import encoder  # noqa: E402
import gguf_vocabulary  # noqa: E402
import reference_tokenizers  # noqa: E402

SKIPPED = 77  # ctest's SKIP_RETURN_CODE
VOCABULARIES = ["gpt-2", "llama-bpe", "qwen2", "qwen35", "starcoder", "refact", "command-r", "deepseek-llm",
                "deepseek-coder", "falcon", "mpt", "llama-spm", "phi-3"]
# Pre-tokenizers without a vocabulary at hand, tried on this one.
BORROWED = "gpt-2"
WITHOUT_VOCABULARY = ["gpt-4o", "tekken", "deepseek-v3", "bailingmoe", "seed-coder", "bloom", "tiny_aya", "dbrx"]


def compare(program, path, scale, plain_special=False, pre=None):
    metadata = gguf_vocabulary.read(path)
    kinds, tokens = metadata["tokenizer.ggml.token_type"], metadata["tokenizer.ggml.tokens"]
    added = [text for text, kind in zip(tokens, kinds)
             if kind in (reference_tokenizers.UNKNOWN, reference_tokenizers.CONTROL, reference_tokenizers.USER_DEFINED)]
    texts = corpus.texts(added, scale)
    ours, told = encoder.encode(program, path, [text.encode() for text in texts], plain_special, pre)
    reference = reference_tokenizers.build(metadata, pre)
    reference.encode_special_tokens = plain_special
    theirs = reference.encode_batch(texts, add_special_tokens=False)
    decoded = reference.decode_batch([encoding.ids for encoding in theirs], skip_special_tokens=False)
    wrong = 0
    for text, (ids, back), encoding, their_text in zip(texts, ours, theirs, decoded):
        if ids != encoding.ids:
            wrong += 1
            if wrong <= 3:
                report(tokens, text, ids, encoding.ids)
        elif back.decode("utf-8", "replace") != their_text and back != text.encode():
            wrong += 1
            print(f"  decoded {back[:80]!r}, reference {their_text[:80]!r}")
    label = f"{Path(path).name}{' as ' + pre if pre else ''}{' (special tokens as text)' if plain_special else ''}"
    print(f"{label}: {len(texts)} texts, {wrong} differ; {told}", flush=True)
    return wrong


def report(tokens, text, ours, theirs):
    at = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
    begin = max(0, at - 2)
    print(f"  {text[:40]!r}… at token {at}: ours {[tokens[i] for i in ours[begin:at + 4]]}, "
          f"reference {[tokens[i] for i in theirs[begin:at + 4]]}")


def main():
    mode, program, path = sys.argv[1:4]
    if not Path(path).exists():
        print(f"skipped: {path} is not there (tools/fetch.py brings it)")
        return SKIPPED
    if mode == "model":
        return min(1, compare(program, path, 1.0) + compare(program, path, 0.3, plain_special=True))
    vocabularies = Path(path) / "models"
    wrong = sum(compare(program, str(vocabularies / f"ggml-vocab-{name}.gguf"), 0.1) for name in VOCABULARIES)
    borrowed = str(vocabularies / f"ggml-vocab-{BORROWED}.gguf")
    wrong += sum(compare(program, borrowed, 0.1, pre=name) for name in WITHOUT_VOCABULARY)
    return min(1, wrong)


sys.exit(main())
