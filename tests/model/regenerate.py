#!/usr/bin/env python3
"""Makes every golden of the forward pass, the tiny models and the end-to-end prompts anew: `./test --regenerate` runs it
in an environment of requirements.txt. The real models come from tools/fetch.py's cache."""
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
DATA = ROOT / "tests" / "model" / "data"
TINY = ("tiny_llama", "tiny_llama_scaled", "tiny_gemma3")
REAL = {
    "smollm2_q4_1": "SmolLM2-135M-Instruct.Q4_1.gguf",
    "gemma3_270m_q4_k_m": "gemma-3-270m-q4_k_m.gguf",
}


def models_folder() -> Path:
    if folder := os.environ.get("PAGODA_MODELS"):
        return Path(folder)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pagoda" / "models"


def run(tool: str, *arguments) -> None:
    command = [sys.executable, str(ROOT / "tools" / tool), *map(str, arguments)]
    print("+", " ".join(command), flush=True)
    subprocess.run(command, check=True)


def main() -> None:
    run("make_dequantise_goldens.py", ROOT / "src" / "kernels" / "testdata" / "dequantise.txt")
    run("make_tiny_models.py", DATA)
    for name in TINY:
        # transformers' own loader does not know rope_freqs.weight, so the scaled model is not checked against it.
        check = [] if name == "tiny_llama_scaled" else ["--check-loader"]
        run("make_goldens.py", DATA / f"{name}.gguf", DATA / name, "--windows", 2, "--positions", 12, *check)
    for name, file in REAL.items():
        peer = json.loads((DATA / f"{name}.json").read_text())["perplexity"]["llama_cpp_second_half"]
        run("make_goldens.py", models_folder() / file, DATA / name, "--check-loader", "--llama-perplexity", peer)
    run("make_e2e_prompts.py", models_folder() / REAL["smollm2_q4_1"], ROOT / "tests" / "e2e" / "prompts.json")


if __name__ == "__main__":
    main()
