#!/usr/bin/env python3
"""Writes a small random Hugging Face folder of every architecture, with what transformers and tokenizers say about it.

    python3 tools/make_tiny_folders.py tests/model/folders

Each folder is what `save_pretrained` writes, and golden.json: texts, their ids by `tokenizers`, and the f32 logits after
each text's last token by `transformers`. Seeded. Needs: torch, transformers, tokenizers.
"""
import json
import shutil
import sys
from importlib.metadata import version
from pathlib import Path

import torch
import transformers
from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors,
                        trainers)

SEED = 20240607
CORPUS = Path(__file__).resolve().parent.parent / "tests" / "model" / "data" / "opticks_queries.txt"
TEXTS = ["The rays of light, in passing through glass, are bent toward the perpendicular: 123 and 45678.",
         "  naïve café — 光は直進する。\n\n\tIt isn't so!  <|im_end|>", "a"]
SIZES = dict(hidden_size=64, intermediate_size=128, num_attention_heads=4, num_key_value_heads=2, num_hidden_layers=3,
             max_position_embeddings=512, initializer_range=0.2)
QWEN_WORDS = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
LLAMA3_WORDS = QWEN_WORDS.replace(r"|\p{N}|", r"|\p{N}{1,3}|")
CHATML = ("{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>'"
          " + '\\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}")


def byte_level(words: str | None, bos: bool = False, nfc: bool = False) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    if nfc:
        tokenizer.normalizer = normalizers.NFC()
    if words:
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Split(Regex(words), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    else:
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=400, show_progress=False, initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.train_from_iterator([CORPUS.read_text(encoding="utf-8")], trainer)
    tokenizer.add_special_tokens([AddedToken(text, special=True) for text in ("<|endoftext|>", "<|im_start|>", "<|im_end|>")])
    if bos:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<|im_start|> $A", special_tokens=[("<|im_start|>", tokenizer.token_to_id("<|im_start|>"))])
    return tokenizer


def escaped_spaces(prefix: bool) -> Tokenizer:
    """As Llama 2's and Gemma's: BPE over "▁", bytes where it has no piece."""
    trained = Tokenizer(models.BPE())
    trained.normalizer = normalizers.Replace(" ", "▁")
    trained.train_from_iterator([CORPUS.read_text(encoding="utf-8")[:20000]], trainers.BpeTrainer(vocab_size=300, show_progress=False))
    model = json.loads(trained.to_str())["model"]
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    tokens += [token for token in sorted(model["vocab"], key=model["vocab"].get)]
    tokenizer = Tokenizer(models.BPE(vocab={token: i for i, token in enumerate(tokens)},
                                     merges=[tuple(merge) for merge in model["merges"]], unk_token="<unk>", fuse_unk=True,
                                     byte_fallback=True))
    escape = normalizers.Replace(" ", "▁")
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), escape]) if prefix else escape
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.add_special_tokens([AddedToken(text, special=True) for text in ("<unk>", "<s>", "</s>")])
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return tokenizer


def spread_norms(model: torch.nn.Module) -> None:
    """Norms and biases start at constants, which would hide a wrong or missing one."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("norm.weight") or name.endswith("bias"):
                parameter.add_(torch.randn(parameter.shape) * 0.2)


@torch.no_grad()
def write(folder: Path, config, tokenizer: Tokenizer, dtype: torch.dtype, shard: str = "5GB") -> None:
    torch.manual_seed(SEED)
    shutil.rmtree(folder, ignore_errors=True)
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager").eval()
    spread_norms(model)
    model.to(dtype).save_pretrained(folder, max_shard_size=shard)
    tokenizer.save(str(folder / "tokenizer.json"))
    special = ("<s>", "</s>") if tokenizer.token_to_id("<s>") is not None else ("<|im_start|>", "<|im_end|>")
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"bos_token": special[0], "eos_token": {"content": special[1]}, "chat_template": CHATML}, indent=1))
    # What the engine computes with: the stored weights in f32.
    reference = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    prompts = []
    for text in TEXTS:
        ids = tokenizer.encode(text).ids
        logits = reference(torch.tensor([ids]), use_cache=False).logits[0, -1]
        prompts.append({"text": text, "ids": ids, "logits": [round(value, 5) for value in logits.tolist()]})
    made = {"by": {name: version(name) for name in ("torch", "transformers", "tokenizers")}, "prompts": prompts}
    (folder / "golden.json").write_text(json.dumps(made, ensure_ascii=False) + "\n", encoding="utf-8")
    print(folder.name, sum(parameter.numel() for parameter in reference.parameters()), "parameters")


def main() -> None:
    out = Path(sys.argv[1])
    common = dict(SIZES, vocab_size=416, bos_token_id=401, eos_token_id=402)
    spm = dict(SIZES, vocab_size=640, bos_token_id=1, eos_token_id=2)
    llama3 = {"rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
              "original_max_position_embeddings": 64}
    write(out / "llama3", transformers.LlamaConfig(**common, rope_parameters=llama3, tie_word_embeddings=False),
          byte_level(LLAMA3_WORDS, bos=True), torch.bfloat16, shard="150KB")
    write(out / "llama2", transformers.LlamaConfig(**spm, tie_word_embeddings=False), escaped_spaces(prefix=True), torch.float16)
    write(out / "mistral", transformers.MistralConfig(**common, sliding_window=16, head_dim=32, tie_word_embeddings=False),
          byte_level(None), torch.bfloat16)
    write(out / "qwen2", transformers.Qwen2Config(**common, tie_word_embeddings=True), byte_level(QWEN_WORDS, nfc=True),
          torch.float32)
    write(out / "qwen3", transformers.Qwen3Config(**common, head_dim=32, tie_word_embeddings=True),
          byte_level(QWEN_WORDS, nfc=True), torch.bfloat16)
    write(out / "gemma3", transformers.Gemma3TextConfig(**spm, head_dim=32, sliding_window=16, query_pre_attn_scalar=24,
                                                        layer_types=["sliding_attention", "full_attention", "sliding_attention"]),
          escaped_spaces(prefix=False), torch.bfloat16)


if __name__ == "__main__":
    main()
