"""Text to ids by the vocabulary inside a GGUF, for making golden data. Needs: tokenizers, gguf.

Byte-level BPE goes through the `tokenizers` package, with SmolLM2's pre-tokenizer (single digits, then GPT-2's
pattern). SentencePiece's BPE is written out: merge the neighbouring pair of the best score until none is left.
"""
from __future__ import annotations

import heapq
import re

from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers

from .gguf_model import GgufModel

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)


class GgufTokenizer:
    def __init__(self, model: GgufModel) -> None:
        self.tokens = model.field("tokenizer.ggml.tokens")
        self.kinds = model.field("tokenizer.ggml.token_type")
        self.ids = {token: i for i, token in enumerate(self.tokens)}
        self.bos = model.field("tokenizer.ggml.bos_token_id")
        self.adds_bos = bool(model.field("tokenizer.ggml.add_bos_token", False))
        kind = model.field("tokenizer.ggml.model")
        if kind == "gpt2":
            merges = [tuple(merge.split(" ")) for merge in model.field("tokenizer.ggml.merges")]
            self.pieces = self.byte_level(merges, model.field("tokenizer.ggml.pre")).encode
        elif kind == "llama":
            self.scores = model.field("tokenizer.ggml.scores")
            fixed = [t for t, k in zip(self.tokens, self.kinds) if k in (CONTROL, USER_DEFINED)]
            self.fixed = re.compile("(" + "|".join(map(re.escape, sorted(fixed, key=len, reverse=True))) + ")")
            self.pieces = None
        else:
            raise SystemExit(f"tokenizer.ggml.model is {kind}")

    def byte_level(self, merges, pre: str) -> Tokenizer:
        if pre not in ("smollm", "gpt-2"):
            raise SystemExit(f"tokenizer.ggml.pre is {pre}")
        tokenizer = Tokenizer(models.BPE(vocab=dict(self.ids), merges=merges))
        level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
        digits = pre_tokenizers.Digits(individual_digits=True)
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([digits, level]) if pre == "smollm" else level
        tokenizer.add_special_tokens(
            [AddedToken(t, normalized=False) for t, k in zip(self.tokens, self.kinds) if k == CONTROL])
        return tokenizer

    def encode(self, text: str) -> list[int]:
        if self.pieces is not None:
            ids = self.pieces(text, add_special_tokens=False).ids
        else:
            ids = []
            for part in self.fixed.split(text):
                if part and self.fixed.fullmatch(part):
                    ids.append(self.ids[part])
                else:
                    ids += self.merge(part.replace(" ", "▁"))
        return ([self.bos] if self.adds_bos else []) + ids

    def merge(self, text: str) -> list[int]:
        symbols = list(text)
        after = list(range(1, len(symbols))) + [-1]
        before = [-1] + list(range(len(symbols) - 1))
        heap: list[tuple[float, int, str, int]] = []

        def offer(left: int) -> None:
            if left < 0 or after[left] < 0:
                return
            joined = symbols[left] + symbols[after[left]]
            if joined in self.ids:
                heapq.heappush(heap, (-self.scores[self.ids[joined]], left, joined, after[left]))

        for i in range(len(symbols)):
            offer(i)
        while heap:
            _, left, joined, right = heapq.heappop(heap)
            if after[left] != right or not symbols[left] or symbols[left] + symbols[right] != joined:
                continue
            symbols[left], symbols[right] = joined, ""
            after[left] = after[right]
            if after[right] >= 0:
                before[after[right]] = left
            offer(before[left])
            offer(left)
        return [i for symbol in symbols if symbol for i in self.symbol_ids(symbol)]

    def symbol_ids(self, symbol: str) -> list[int]:
        if symbol in self.ids:
            return [self.ids[symbol]]
        return [self.ids[f"<0x{byte:02X}>"] for byte in symbol.encode()]
