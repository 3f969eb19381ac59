"""A GGUF's weights, dequantised to f32, in the `transformers` model of its architecture: the reference that golden
data are made with. Needs: gguf, numpy, torch, transformers.

Two conventions of GGUF are undone here: the rows of llama's q and k projections are permuted for rotation by
neighbouring pairs, and gemma's norm weights are stored plus one.
"""
from __future__ import annotations

import gguf
import numpy as np
import torch
from transformers import Gemma3ForCausalLM, Gemma3TextConfig, LlamaConfig, LlamaForCausalLM

ARCHITECTURES = ("llama", "gemma3")

BLOCK_NAMES = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
LLAMA_BLOCK_NAMES = BLOCK_NAMES | {"ffn_norm": "post_attention_layernorm"}
GEMMA3_BLOCK_NAMES = BLOCK_NAMES | {
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "post_attention_norm": "post_attention_layernorm",
    "ffn_norm": "pre_feedforward_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm",
}
ROPE_FACTORS = "rope_freqs.weight"  # Llama 3's: each pair's frequency is divided by its factor
OUTER_NAMES = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}


class GgufModel:
    """The file's metadata and the model built from it."""

    def __init__(self, path: str) -> None:
        self.reader = gguf.GGUFReader(path)
        self.architecture = self.field("general.architecture")
        if self.architecture not in ARCHITECTURES:
            raise SystemExit(f"{path}: architecture {self.architecture}, known are {ARCHITECTURES}")

    def field(self, key: str, default=None):
        entry = self.reader.fields.get(key)
        return default if entry is None else entry.contents()

    def own(self, suffix: str, default=None):
        return self.field(f"{self.architecture}.{suffix}", default)

    def config(self):
        heads = self.own("attention.head_count")
        tokens = len(self.field("tokenizer.ggml.tokens"))
        shared = dict(
            vocab_size=tokens,
            hidden_size=self.own("embedding_length"),
            intermediate_size=self.own("feed_forward_length"),
            num_hidden_layers=self.own("block_count"),
            num_attention_heads=heads,
            num_key_value_heads=self.own("attention.head_count_kv", heads),
            head_dim=self.own("attention.key_length", self.own("embedding_length") // heads),
            max_position_embeddings=self.own("context_length"),
            rms_norm_eps=self.own("attention.layer_norm_rms_epsilon"),
            bos_token_id=self.field("tokenizer.ggml.bos_token_id"),
            eos_token_id=self.field("tokenizer.ggml.eos_token_id"),
            pad_token_id=None,
            tie_word_embeddings=not any(t.name == "output.weight" for t in self.reader.tensors),
            attn_implementation="eager",
        )
        theta = self.own("rope.freq_base", 10000.0)
        if self.architecture == "llama":
            return LlamaConfig(**shared, rope_parameters={"rope_type": "default", "rope_theta": theta})
        factor = self.own("rope.scaling.factor", 0.0)
        full = {"rope_type": "linear", "factor": factor} if factor else {"rope_type": "default"}
        return Gemma3TextConfig(
            **shared,
            query_pre_attn_scalar=shared["head_dim"],
            sliding_window=self.own("attention.sliding_window"),
            layer_types=self.layer_types(shared["num_hidden_layers"]),
            rope_parameters={
                "sliding_attention": {"rope_type": "default", "rope_theta": self.own("rope.freq_base_swa", 10000.0)},
                "full_attention": full | {"rope_theta": theta},
            },
        )

    def layer_types(self, layers: int) -> list[str]:
        pattern = self.own("attention.sliding_window_pattern", 6)
        if not isinstance(pattern, list):
            pattern = [layer % pattern < pattern - 1 for layer in range(layers)]
        return ["sliding_attention" if windowed else "full_attention" for windowed in pattern]

    def state(self) -> dict[str, torch.Tensor]:
        return {self.module_name(t.name): torch.from_numpy(self.values(t))
                for t in self.reader.tensors if t.name != ROPE_FACTORS}

    def module_name(self, tensor: str) -> str:
        names = LLAMA_BLOCK_NAMES if self.architecture == "llama" else GEMMA3_BLOCK_NAMES
        if tensor.startswith("blk."):
            _, layer, part, kind = tensor.split(".")
            return f"model.layers.{layer}.{names[part]}.{kind}"
        part, kind = tensor.split(".")
        return f"{OUTER_NAMES[part]}.{kind}"

    def values(self, tensor) -> np.ndarray:
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        values = values.reshape([int(dim) for dim in reversed(tensor.shape)]).copy()
        heads = self.own("attention.head_count")
        if self.architecture == "gemma3" and tensor.name.endswith("norm.weight"):
            values -= np.float32(1)
        if self.architecture == "llama" and tensor.name.endswith("attn_q.weight"):
            values = unpermuted(values, heads)
        if self.architecture == "llama" and tensor.name.endswith("attn_k.weight"):
            values = unpermuted(values, self.own("attention.head_count_kv", heads))
        return values

    def build(self, dtype: torch.dtype = torch.float32):
        config = self.config()
        model_class = LlamaForCausalLM if self.architecture == "llama" else Gemma3ForCausalLM
        torch.set_default_dtype(torch.float32)
        model = model_class(config)
        missing, unexpected = model.load_state_dict(self.state(), strict=False)
        if config.tie_word_embeddings:
            missing = [name for name in missing if name != "lm_head.weight"]
            model.tie_weights()
        if missing or unexpected:
            raise SystemExit(f"weights that do not match: missing {missing}, unexpected {unexpected}")
        for tensor in self.reader.tensors:
            if tensor.name == ROPE_FACTORS:
                model.model.rotary_emb.inv_freq /= torch.from_numpy(tensor.data.copy())
        return model.to(dtype).eval()


def unpermuted(values: np.ndarray, heads: int) -> np.ndarray:
    rows, columns = values.shape
    half = rows // heads // 2
    return np.ascontiguousarray(values.reshape(heads, half, 2, columns).swapaxes(1, 2).reshape(rows, columns))


def permuted(values: np.ndarray, heads: int) -> np.ndarray:
    rows, columns = values.shape
    half = rows // heads // 2
    return np.ascontiguousarray(values.reshape(heads, 2, half, columns).swapaxes(1, 2).reshape(rows, columns))
