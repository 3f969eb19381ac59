#!/usr/bin/env bash
# Makes every golden anew: random blocks dequantised by gguf, tiny models, logits by transformers. Run by
# ./test --regenerate, which brings the packages and models; what changed then shows in git diff.
# usage: tools/regenerate_goldens.sh PYTHON MODEL_FOLDER
set -euo pipefail
python=$1 models=$2
cd "$(dirname "$0")/.."
data=tests/model/data

"$python" tools/make_dequantise_goldens.py src/kernels/testdata/dequantise.txt
"$python" tools/make_tiny_models.py "$data"
for name in tiny_llama tiny_gemma3; do
  "$python" tools/make_goldens.py "$data/$name.gguf" "$data/$name" --windows 2 --positions 12 --check-loader
done
# transformers' own GGUF reader does not know the scaled one's frequency factors.
"$python" tools/make_goldens.py "$data/tiny_llama_scaled.gguf" "$data/tiny_llama_scaled" --windows 2 --positions 12
"$python" tools/make_goldens.py "$models/SmolLM2-135M-Instruct.Q4_1.gguf" "$data/smollm2_q4_1" --check-loader
"$python" tools/make_goldens.py "$models/gemma-3-270m-q4_k_m.gguf" "$data/gemma3_270m_q4_k_m" --check-loader \
  --llama-perplexity 23.5087
