"""Peak resident memory of `pagoda serve` with its KV pool full, against what `pagoda plan` says beforehand: within 10 %.

usage: peak_memory_test.py PAGODA [MODEL…]

The pool's size is given by --kv-cache-memory-bytes and filled by prompts that have nothing in common.
"""
import concurrent.futures
import json
import os
import pathlib
import random
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests" / "e2e"))

from plain_client import PlainClient  # noqa: E402
from report import Report, expect  # noqa: E402
from server import Server, cached_model  # noqa: E402

MIB = 1 << 20
TOLERANCE = 0.10

FOLDERS = SOURCE / "tests" / "model" / "folders"
DATA = SOURCE / "tests" / "model" / "data"
# Model, pool, --max-model-len, --max-num-seqs. The pool is no smaller than the file: while weights are packed, both are
# in memory.
CASES = [(FOLDERS / name, 40 * MIB, 512, 128) for name in ("llama2", "llama3", "mistral", "qwen2", "qwen3", "gemma3")]
CASES += [(DATA / f"{name}.gguf", 40 * MIB, 0, 128) for name in ("tiny_llama", "tiny_llama_scaled", "tiny_gemma3")]
CASES += [("SmolLM2-135M-Instruct.Q4_1.gguf", 192 * MIB, 1024, 8), ("gemma-3-270m-q4_k_m.gguf", 256 * MIB, 1024, 14)]
ANSWER = 8  # tokens: long enough that all streams decode together


def memory_of(process_id, field):
    """VmHWM or VmRSS of /proc/PID/status (proc(5)), in bytes."""
    for line in pathlib.Path(f"/proc/{process_id}/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise KeyError(field)


def flags_of(pool, length, streams):
    flags = ["--kv-cache-memory-bytes", str(pool), "--max-num-seqs", str(streams)]
    return flags + ["--max-model-len", str(length)] if length else flags


def planned(program, model, flags):
    done = subprocess.run([program, "plan", str(model), "--gpu", "cpu", "--json", *flags], capture_output=True, text=True,
                          timeout=60, check=False)
    expect(done.stdout, done.stderr)
    return json.loads(done.stdout)


def fill(server, plan, streams):
    """Prompts of random tokens until every block has been written; a freed block is used again only after those that
    never were."""
    length = plan["max_model_len"]
    group = plan["kv"]["groups"][0]
    prompts = streams + -(-group["blocks"] * plan["kv"]["block_size"] // (length - ANSWER))
    for other in plan["kv"]["groups"][1:]:
        prompts = max(prompts, streams + -(-other["blocks"] * plan["kv"]["block_size"] // (length - 1)))
    name = server.client.get("/v1/models").json["data"][0]["id"]
    generator = random.Random(7)

    def send(_):
        prompt = [generator.randrange(5, 300) for _ in range(length - ANSWER)]
        body = {"model": name, "prompt": prompt, "max_tokens": ANSWER, "ignore_eos": True, "temperature": 0}
        answer = PlainClient(server.url, timeout=300).request("POST", "/v1/completions", body)
        expect(answer.status == 200, answer.body[:300])

    with concurrent.futures.ThreadPoolExecutor(streams) as pool:
        list(pool.map(send, range(prompts)))


def check(program, model, pool, length, streams):
    flags = flags_of(pool, length, streams)
    plan = planned(program, model, flags)
    memory = plan["memory_per_device"]
    predicted = sum(memory[part] for part in ("weight_bytes", "activation_bytes", "runtime_bytes", "kv_bytes"))
    with Server([program, "serve", str(model), *flags]) as server:
        fill(server, plan, streams)
        peak = memory_of(server.process.pid, "VmHWM")
        rest = memory_of(server.process.pid, "VmRSS") - memory["weight_bytes"] - memory["kv_bytes"]
    off = predicted / peak - 1
    remark = (f"planned {predicted / MIB:.1f} MiB, peak {peak / MIB:.1f} MiB ({100 * off:+.1f} %); KV {memory['kv_bytes'] / MIB:.1f}, "
              f"weights {memory['weight_bytes'] / MIB:.1f}, activations {memory['activation_bytes'] / MIB:.1f}, "
              f"runtime {memory['runtime_bytes'] / MIB:.1f}, beside weights and KV {rest / MIB:.1f}")
    expect(abs(off) <= TOLERANCE, remark)
    return remark


def main():
    program = os.path.abspath(sys.argv[1])
    wanted = sys.argv[2:]
    report = Report()
    for model, pool, length, streams in CASES:
        if wanted and not any(word in str(model) for word in wanted):
            continue
        path = model if isinstance(model, pathlib.Path) else cached_model(model)
        if path is None:
            continue  # cached_model has said why
        report.check(pathlib.Path(path).name, check, program, path, pool, length, streams)
    report.finish()


if __name__ == "__main__":
    main()
