#!/usr/bin/env python3
"""Ten questions, the f32 reference's greedy answers (`transformers`, the model's own chat template) and the words that
must stand in any sound answer; fails where the reference itself lacks one.

    python3 tools/make_e2e_prompts.py SmolLM2-135M-Instruct.Q4_1.gguf tests/e2e/prompts.json

Needs: gguf, torch, transformers, tokenizers, jinja2.
"""
import json
import os
import sys
from importlib.metadata import version

import jinja2
import torch
from tokenizers import decoders

from reference.gguf_model import GgufModel
from reference.gguf_tokenizer import GgufTokenizer

MAX_TOKENS = 48
QUESTIONS = [
    # Asked for with "What is", the model answers in English by a lead of 0.08 nats over French: rounding would decide.
    ("Name the capital of France.", "Paris"),
    ("What is 2 + 2?", "4"),
    ("What is the chemical symbol for water?", "H2O"),
    ("Which ocean lies between Europe and America?", "Atlantic"),
    ("How many days are there in a week?", "7"),
    ("Which planet is known as the Red Planet?", "Mars"),
    ("What is the opposite of hot?", "cold"),
    ("What is the capital of Japan?", "Tokyo"),
    ("List the three primary colors.", "Red"),
    ("What gas do plants take in from the air?", "carbon dioxide"),
]


@torch.no_grad()
def answer(model, tokenizer: GgufTokenizer, prompt: str) -> str:
    ids = tokenizer.encode(prompt)
    whole = model.generate(torch.tensor([ids]), max_new_tokens=MAX_TOKENS, do_sample=False, pad_token_id=0)
    new = whole[0, len(ids):].tolist()
    if new[-1] == model.config.eos_token_id:
        new.pop()
    return decoders.ByteLevel().decode([tokenizer.tokens[i] for i in new])


def main() -> None:
    source = GgufModel(sys.argv[1])
    tokenizer, model = GgufTokenizer(source), source.build()
    template = jinja2.Environment().from_string(source.field("tokenizer.chat_template"))
    prompts = []
    for question, expected in QUESTIONS:
        messages = [{"role": "user", "content": question}]
        reference = answer(model, tokenizer, template.render(messages=messages, add_generation_prompt=True))
        print(f"{question} -> {reference!r}", file=sys.stderr)
        if expected not in reference:
            raise SystemExit(f"the reference's answer lacks {expected!r}")
        prompts.append({"question": question, "expected": expected, "reference": reference})
    header = {"made_by": {name: version(name) for name in ("transformers", "torch", "gguf", "tokenizers")},
              "model": os.path.basename(sys.argv[1]), "temperature": 0, "max_tokens": MAX_TOKENS, "prompts": prompts}
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        out.write(json.dumps(header, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
