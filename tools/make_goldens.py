#!/usr/bin/env python3
"""Golden logits of a GGUF model, made by `transformers` in f32 on the dequantised weights.

    python3 tools/make_goldens.py MODEL.gguf tests/model/data/NAME [--windows 17] [--positions 48]
                                  [--check-loader] [--llama-perplexity VALUE]

writes NAME.json (what made it, the prompts, figures) and NAME.bin. Needs: gguf, torch, transformers, tokenizers.
What NAME.bin holds, all little-endian, in this order:
  per prompt, per position of its "positions": u32 ids [top], f32 logits [top], both by falling logit; f64 logsumexp
  per prompt, per position of its "full_positions": f32 logits of the ids 0, full_stride, 2·full_stride, …
  u32 ids [windows, length] of the perplexity text; a model that wants a BOS has it as every window's first token
  u32 best ids [windows, length]: the f32 reference's argmax after each token
Perplexity: "nll_all" sums over all predicted tokens of all windows; "nll_second_half" over the tokens from length/2 + 1
on, as llama.cpp's llama-perplexity counts, so that exp(nll / count) compares with its figure.
"""
import argparse
import hashlib
import json
import math
import os
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch

from reference.gguf_model import GgufModel
from reference.gguf_tokenizer import GgufTokenizer

TOP = 64
LENGTH = 512
FULL_BYTES = 1 << 18  # per position with all logits: larger vocabularies are thinned to a stride
DATA = Path(__file__).resolve().parent.parent / "tests" / "model" / "data"


def read_prompts(architecture: str, encode, most_positions: int) -> list[dict]:
    prompts = []
    for entry in json.loads((DATA / "prompts.json").read_text(encoding="utf-8")):
        if architecture not in entry.get("models", [architecture]):
            continue
        text = entry.get("text") or (DATA / entry["file"]).read_text(encoding="utf-8")
        ids = encode(text)[:entry.get("tokens")]
        count = min(len(ids), most_positions)
        positions = sorted({round(p) for p in np.linspace(0, len(ids) - 1, count)})
        prompts.append({"name": entry["name"], "ids": ids, "positions": positions, "full_positions": []})
    by_name = {prompt["name"]: prompt for prompt in prompts}
    for name in ("short", "long"):
        by_name[name]["full_positions"] = [len(by_name[name]["ids"]) - 1]
    return prompts


@torch.no_grad()
def logits_of(model, ids: list[int]) -> torch.Tensor:
    return model(torch.tensor([ids]), use_cache=False).logits[0]


def log_softmax(logits: torch.Tensor) -> torch.Tensor:
    return torch.log_softmax(logits.double(), dim=-1)


def window_scores(model, windows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Per window and position: −log p of the next token, and the argmax."""
    nll = np.zeros((len(windows), windows.shape[1] - 1))
    best = np.zeros(windows.shape, dtype="<u4")
    for w, ids in enumerate(windows):
        logits = logits_of(model, ids.tolist())
        best[w] = logits.argmax(-1).numpy()
        scores = log_softmax(logits[:-1])
        nll[w] = -scores[torch.arange(len(ids) - 1), torch.from_numpy(ids[1:].astype(np.int64))].numpy()
        print(f"  window {w}: perplexity so far {math.exp(nll[:w + 1].mean()):.4f}", file=sys.stderr)
    return nll, best


def perplexity_figures(nll: np.ndarray) -> dict:
    half = nll[:, LENGTH // 2:]
    return {
        "nll_all": float(nll.sum()), "count_all": nll.size, "perplexity_all": math.exp(nll.mean()),
        "nll_second_half": float(half.sum()), "count_second_half": half.size,
        "perplexity_second_half": math.exp(half.mean()),
    }


def compare(prompts: list[dict], reference: list[torch.Tensor], other: list[torch.Tensor]) -> dict:
    """At the golden positions: differences of log-probabilities over the reference's twenty best, and agreement on
    the best."""
    deltas, agree = [], []
    for prompt, all_a, all_b in zip(prompts, reference, other):
        a, b = all_a[prompt["positions"]], all_b[prompt["positions"]]
        scores_a, scores_b = log_softmax(a), log_softmax(b)
        top = a.topk(20, dim=-1).indices
        deltas.append((scores_a.gather(-1, top) - scores_b.gather(-1, top)).abs().flatten())
        agree.append((a.argmax(-1) == b.argmax(-1)).float())
    delta, same = torch.cat(deltas), torch.cat(agree)
    return {
        "top20_delta_logprob_p99": float(delta.quantile(0.99)), "top20_delta_logprob_max": float(delta.max()),
        "top20_delta_logprob_mean": float(delta.mean()), "top1_agreement": float(same.mean()), "positions": same.numel(),
    }


def check_loader(path: str, ours) -> float:
    """transformers' own GGUF loader must see the same weights."""
    from transformers import AutoModelForCausalLM
    folder, name = os.path.split(os.path.abspath(path))
    theirs = AutoModelForCausalLM.from_pretrained(folder, gguf_file=name, dtype=torch.float32).state_dict()
    worst = 0.0
    for key, value in ours.state_dict().items():
        worst = max(worst, float((value - theirs[key]).abs().max()))
    if worst > 1e-6:
        raise SystemExit(f"transformers' own loader differs by {worst}")
    return worst


def write_binary(path: Path, prompts: list[dict], logits: list[torch.Tensor], stride: int, windows, best) -> None:
    with open(path, "wb") as out:
        for prompt, all_rows in zip(prompts, logits):
            for position in prompt["positions"]:
                values, ids = all_rows[position].topk(TOP)
                out.write(ids.numpy().astype("<u4").tobytes())
                out.write(values.numpy().astype("<f4").tobytes())
                out.write(np.float64(torch.logsumexp(all_rows[position].double(), -1)).tobytes())
        for prompt, all_rows in zip(prompts, logits):
            for position in prompt["full_positions"]:
                out.write(all_rows[position][::stride].numpy().astype("<f4").tobytes())
        out.write(windows.astype("<u4").tobytes())
        out.write(best.astype("<u4").tobytes())


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("out")
    parser.add_argument("--windows", type=int, default=17)
    parser.add_argument("--positions", type=int, default=48, help="golden positions per prompt, at most")
    parser.add_argument("--check-loader", action="store_true")
    parser.add_argument("--llama-perplexity", type=float, help="the figure of llama.cpp's tool on the same windows")
    return parser.parse_args()


def main() -> None:
    args = arguments()
    source = GgufModel(args.model)
    tokenizer = GgufTokenizer(source)
    model = source.build()
    prompts = read_prompts(source.architecture, tokenizer.encode, args.positions)
    text = tokenizer.encode((DATA / "opticks_queries.txt").read_text(encoding="utf-8"))
    windows = np.array(text[:args.windows * LENGTH]).reshape(args.windows, LENGTH)
    if tokenizer.adds_bos:
        windows[:, 0] = tokenizer.bos
    stride = max(1, model.config.vocab_size * 4 // FULL_BYTES)
    header = {
        "made_by": {name: version(name) for name in ("transformers", "torch", "gguf", "tokenizers", "numpy")},
        "model": {"file": os.path.basename(args.model), "architecture": source.architecture,
                  "sha256": hashlib.sha256(Path(args.model).read_bytes()).hexdigest()},
        "vocabulary": model.config.vocab_size, "top": TOP, "full_stride": stride, "prompts": prompts,
    }
    if args.check_loader:
        header["loader_max_difference"] = check_loader(args.model, model)
    logits = [logits_of(model, prompt["ids"]) for prompt in prompts]
    nll, best = window_scores(model, windows)
    header["perplexity"] = {"text": "opticks_queries.txt", "windows": args.windows, "length": LENGTH} | perplexity_figures(nll)
    if args.llama_perplexity:
        header["perplexity"]["llama_cpp_second_half"] = args.llama_perplexity
    rough = source.build(torch.bfloat16)
    rough_nll, rough_best = window_scores(rough, windows)
    header["transformers_bf16"] = compare(prompts, logits, [logits_of(rough, p["ids"]).float() for p in prompts]) | {
        "windows_top1_agreement": float((rough_best == best).mean()), "perplexity": perplexity_figures(rough_nll)}
    exact = model.double()
    exact_logits = [logits_of(exact, prompt["ids"]) for prompt in prompts]
    header["f32_against_f64_max_delta_logit"] = max(float((a - b).abs().max()) for a, b in zip(logits, exact_logits))
    out = Path(args.out)
    write_binary(out.with_suffix(".bin"), prompts, logits, stride, windows, best)
    out.with_suffix(".json").write_text(json.dumps(header, indent=1) + "\n", encoding="utf-8")
    print(json.dumps({k: v for k, v in header.items() if k != "prompts"}, indent=1))


if __name__ == "__main__":
    main()
