#!/usr/bin/env python3
"""Compares our reading of tokenizer.model with the package `sentencepiece`: a model of byte pairs, trained
here, on the texts of corpus.py.

    compare_sentence_piece.py ENCODE_TEXTS
"""
import sys
import tempfile
from pathlib import Path

try:
    import sentencepiece
except ImportError:
    print("skipped: the package sentencepiece is not installed (tests/requirements.txt)")
    sys.exit(77)

import corpus
import encoder

MODELS = {
    "byte pairs, as Llama 2": {"model_type": "bpe", "normalization_rule_name": "identity", "byte_fallback": True,
                               "remove_extra_whitespaces": False},
}


def train(folder, settings):
    sample = Path(folder) / "sample.txt"
    if not sample.exists():
        sample.write_text("\n".join(" ".join(text.split()) for text in list(corpus.sources(300_000))[:60]), "utf-8")
    sentencepiece.SentencePieceTrainer.train(input=str(sample), model_prefix=f"{folder}/tokenizer", vocab_size=1500,
                                             minloglevel=2, hard_vocab_limit=False, **settings)
    return f"{folder}/tokenizer.model"


def main():
    # What a text holds of "▁" itself and of zero bytes, SentencePiece treats in ways of its own.
    texts = [text for text in corpus.texts([], 0.5) if "\u2581" not in text and "\x00" not in text]
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, settings in MODELS.items():
            path = train(folder, settings)
            reference = sentencepiece.SentencePieceProcessor(model_file=path)
            theirs = reference.encode(texts, num_threads=2)
            ours, told = encoder.encode(sys.argv[1], path, [text.encode() for text in texts], True)
            differ = [i for i, (mine, wanted) in enumerate(zip(ours, theirs)) if mine[0] != wanted]
            for i in differ[:3]:
                at = next(k for k, pair in enumerate(zip(ours[i][0] + [-1], theirs[i] + [-1])) if pair[0] != pair[1])
                print(f"  {texts[i][:40]!r} at {at}: ours {ours[i][0][at:at + 5]}, theirs {theirs[i][at:at + 5]}: "
                      f"{[reference.id_to_piece(k) for k in theirs[i][max(0, at - 2):at + 5]]}")
            print(f"{name}: {len(texts)} texts, {len(differ)} differ; {told}", flush=True)
            wrong += len(differ)
    return min(1, wrong)


sys.exit(main())
