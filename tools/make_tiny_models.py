#!/usr/bin/env python3
"""Writes small random models of every architecture for tests, as GGUF with a tokenizer and a chat template inside.

    python3 tools/make_tiny_models.py tests/model/data

    tiny_llama.gguf         tied embeddings, byte-level BPE
    tiny_llama_scaled.gguf  an output matrix of its own and the frequency factors of Llama 3 (rope_freqs.weight)
    tiny_gemma3.gguf        window 16 in three of four layers, linear rope scaling, SentencePiece BPE with bytes

Together they hold every tensor type that is supported. Needs: gguf, numpy, tokenizers. Seeded: the same packages
write the same bytes.
"""
import math
import sys
from pathlib import Path

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from reference.gguf_model import permuted

SEED = 20240607
HIDDEN, FFN, HEADS, KV_HEADS, CONTEXT = 128, 256, 4, 2, 1024
# Small embeddings, so that the layers and not the last token decide; the gain spreads the logits again.
EMBEDDING_SPREAD, OUTPUT_GAIN = 0.06, 4.0
CONTROL, NORMAL, BYTE, UNKNOWN = 3, 1, 6, 2
TEXT = Path(__file__).resolve().parent.parent / "tests" / "model" / "data" / "opticks_queries.txt"

# Types by layer; ffn_down has rows of 256, so that the k-quants apply to it.
TYPES = {
    "attn_q": [Type.Q8_0, Type.F32, Type.Q4_0, Type.BF16],
    "attn_k": [Type.Q4_0, Type.BF16, Type.Q8_0, Type.Q5_1],
    "attn_v": [Type.F16, Type.Q8_0, Type.IQ4_NL, Type.Q4_1],
    "attn_output": [Type.Q5_0, Type.Q4_1, Type.F16, Type.Q8_0],
    "ffn_gate": [Type.Q4_1, Type.Q5_0, Type.Q8_0, Type.IQ4_NL],
    "ffn_up": [Type.Q5_1, Type.Q4_0, Type.BF16, Type.Q8_0],
    "ffn_down": [Type.Q4_K, Type.Q6_K, Type.Q3_K, Type.Q5_K],
}
GEMMA3_TYPES = TYPES | {
    "attn_output": [Type.Q4_K, Type.Q2_K, Type.Q6_K, Type.Q8_0],
    "ffn_down": [Type.Q2_K, Type.Q6_K, Type.Q4_K, Type.F16],
}
# Bytes of a block's f16 scales, and what its codes spread to at a scale of one.
RANDOM_BLOCKS = {
    Type.Q2_K: ([80], [82], 12.0), Type.Q3_K: ([108], [], 40.0), Type.Q4_K: ([0], [2], 180.0),
    Type.Q5_K: ([0], [2], 360.0), Type.Q6_K: ([208], [], 1400.0), Type.IQ4_NL: ([0], [], 70.0),
}
CHATML = ("{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>'"
          " + '\\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}")
GEMMA_TEMPLATE = ("{{ bos_token }}{% for message in messages %}{{ '<start_of_turn>' + ('model' if message['role'] == "
                  "'assistant' else message['role']) + '\\n' + message['content'] | trim + '<end_of_turn>\\n' }}"
                  "{% endfor %}{% if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}")


class Weights:
    def __init__(self, writer: gguf.GGUFWriter, seed: int) -> None:
        self.writer, self.rng = writer, np.random.default_rng(seed)

    def matrix(self, name: str, rows: int, columns: int, kind: Type, spread: float, heads: int = 0) -> None:
        if kind in RANDOM_BLOCKS:  # the gguf package cannot quantise to these: their blocks are drawn
            data = self.random_blocks(rows, columns, kind, spread)
        else:
            values = self.rng.normal(0.0, spread, size=(rows, columns)).astype(np.float32)
            data = gguf.quants.quantize(permuted(values, heads) if heads else values, kind)
        self.writer.add_tensor(name, data, raw_dtype=kind)

    def random_blocks(self, rows: int, columns: int, kind: Type, spread: float) -> np.ndarray:
        elements, size = gguf.GGML_QUANT_SIZES[kind]
        blocks = self.rng.integers(0, 256, size=(rows * columns // elements, size), dtype=np.uint8)
        scales, minima, width = RANDOM_BLOCKS[kind]
        for at in scales + minima:
            scale = np.full((len(blocks), 1), spread / width * (0.5 if at in minima else 1.0))
            blocks[:, at:at + 2] = (scale * self.rng.uniform(0.5, 1.5, scale.shape)).astype(np.float16).view(np.uint8)
        return blocks.reshape(rows, -1)

    def norm(self, name: str, size: int) -> None:
        self.writer.add_tensor(name, (1 + self.rng.normal(0.0, 0.1, size)).astype(np.float32))

    def output_norm(self) -> None:
        """Of either sign, so that with tied embeddings the last token is not its own best successor."""
        values = OUTPUT_GAIN * (1 + self.rng.normal(0.0, 0.1, HIDDEN)) * self.rng.choice([-1.0, 1.0], HIDDEN)
        self.writer.add_tensor("output_norm.weight", values.astype(np.float32))

    def block(self, layer: int, types: dict, head_dim: int, permute: bool) -> None:
        sizes = {
            "attn_q": (HEADS * head_dim, HIDDEN, HEADS), "attn_k": (KV_HEADS * head_dim, HIDDEN, KV_HEADS),
            "attn_v": (KV_HEADS * head_dim, HIDDEN, 0), "attn_output": (HIDDEN, HEADS * head_dim, 0),
            "ffn_gate": (FFN, HIDDEN, 0), "ffn_up": (FFN, HIDDEN, 0), "ffn_down": (HIDDEN, FFN, 0),
        }
        for part, (rows, columns, heads) in sizes.items():
            kind = types[part][layer]
            self.matrix(f"blk.{layer}.{part}.weight", rows, columns, kind, 1 / math.sqrt(columns), heads if permute else 0)


def base_metadata(writer: gguf.GGUFWriter, layers: int, head_dim: int, epsilon: float, theta: float) -> None:
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(HIDDEN)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(FFN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_key_length(head_dim)
    writer.add_value_length(head_dim)
    writer.add_layer_norm_rms_eps(epsilon)
    writer.add_rope_freq_base(theta)


def train_bpe(size: int, special: list[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=special, show_progress=False,
                                  initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.train_from_iterator([TEXT.read_text(encoding="utf-8")], trainer)
    return tokenizer


def byte_level_tokenizer(writer: gguf.GGUFWriter, size: int) -> int:
    import json
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    model = json.loads(train_bpe(size, special).to_str())["model"]
    tokens = sorted(model["vocab"], key=model["vocab"].get)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types([CONTROL if token in special else NORMAL for token in tokens])
    writer.add_token_merges([" ".join(merge) for merge in model["merges"]])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_add_bos_token(False)
    writer.add_add_space_prefix(False)
    writer.add_chat_template(CHATML)
    return len(tokens)


def sentencepiece_tokenizer(writer: gguf.GGUFWriter) -> int:
    tokens, kinds = ["<pad>", "<eos>", "<bos>", "<unk>"], [CONTROL, CONTROL, CONTROL, UNKNOWN]
    tokens += [f"<0x{byte:02X}>" for byte in range(256)]
    kinds += [BYTE] * 256
    tokens += ["<start_of_turn>", "<end_of_turn>"]
    kinds += [CONTROL] * 2
    merges = ["th", "▁th", "▁the", "in", "er", "an", "▁a", "re", "on", "▁o", "▁of", "at", "en", "▁in", "ing", "▁b", "or"]
    pieces = merges + list("▁abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,;:!?'\"-()\n")
    tokens += pieces
    kinds += [NORMAL] * len(pieces)
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * (len(tokens) - len(pieces)) + [-float(i) for i in range(len(pieces))])
    writer.add_token_types(kinds)
    writer.add_bos_token_id(2)
    writer.add_eos_token_id(1)
    writer.add_unk_token_id(3)
    writer.add_pad_token_id(0)
    writer.add_eot_token_id(tokens.index("<end_of_turn>"))
    writer.add_add_bos_token(True)
    writer.add_add_eos_token(False)
    writer.add_add_space_prefix(False)
    writer.add_chat_template(GEMMA_TEMPLATE)
    return len(tokens)


def finish(writer: gguf.GGUFWriter) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def llama(path: Path, scaled: bool) -> None:
    layers, head_dim = (3 if scaled else 4), HIDDEN // HEADS
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny llama scaled" if scaled else "tiny llama")
    base_metadata(writer, layers, head_dim, 1e-5, 500000.0 if scaled else 10000.0)
    writer.add_rope_dimension_count(head_dim)
    vocabulary = byte_level_tokenizer(writer, 320)
    writer.add_vocab_size(vocabulary)
    weights = Weights(writer, SEED + scaled)
    weights.matrix("token_embd.weight", vocabulary, HIDDEN, Type.F16 if scaled else Type.Q8_0, EMBEDDING_SPREAD)
    if scaled:
        weights.matrix("output.weight", vocabulary, HIDDEN, Type.Q5_0, EMBEDDING_SPREAD)
        factors = np.geomspace(1.0, 8.0, head_dim // 2).astype(np.float32)
        writer.add_tensor("rope_freqs.weight", factors)
    weights.output_norm()
    for layer in range(layers):
        weights.block(layer, TYPES, head_dim, permute=True)
        for part in ("attn_norm", "ffn_norm"):
            weights.norm(f"blk.{layer}.{part}.weight", HIDDEN)
    finish(writer)


def gemma3(path: Path) -> None:
    layers, head_dim = 4, 64
    writer = gguf.GGUFWriter(path, "gemma3")
    writer.add_name("tiny gemma3")
    base_metadata(writer, layers, head_dim, 1e-6, 1000000.0)
    writer.add_sliding_window(16)
    writer.add_array("gemma3.attention.sliding_window_pattern", [True, True, False, True])
    writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
    writer.add_rope_scaling_factor(4.0)
    vocabulary = sentencepiece_tokenizer(writer)
    weights = Weights(writer, SEED + 2)
    weights.matrix("token_embd.weight", vocabulary, HIDDEN, Type.Q8_0, EMBEDDING_SPREAD)
    weights.output_norm()
    for layer in range(layers):
        weights.block(layer, GEMMA3_TYPES, head_dim, permute=False)
        for part in ("attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"):
            weights.norm(f"blk.{layer}.{part}.weight", HIDDEN)
        for part in ("attn_q_norm", "attn_k_norm"):
            weights.norm(f"blk.{layer}.{part}.weight", head_dim)
    finish(writer)


def main() -> None:
    folder = Path(sys.argv[1])
    llama(folder / "tiny_llama.gguf", scaled=False)
    llama(folder / "tiny_llama_scaled.gguf", scaled=True)
    gemma3(folder / "tiny_gemma3.gguf")


if __name__ == "__main__":
    main()
