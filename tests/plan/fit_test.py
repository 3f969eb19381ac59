"""`pagoda serve` of what does not fit: it ends at once with the plan, or serves the first rung of the ladder that does.

usage: fit_test.py PAGODA
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests" / "e2e"))

from report import Report, expect  # noqa: E402
from server import Server, cached_model  # noqa: E402

MIB = 1 << 20
SMALL_MODEL = SOURCE / "tests" / "model" / "folders" / "llama3"
MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
# More than weights and one step's activations, less than these and one sequence of the whole context.
TIGHT_BYTES = 320 * MIB


def planned(program, model, *words):
    done = subprocess.run([program, "plan", str(model), "--gpu", "cpu", "--json", *words], capture_output=True, text=True,
                          timeout=60, check=False)
    return json.loads(done.stdout)


def tight_share(program, model):
    return TIGHT_BYTES / planned(program, model)["device"]["memory_bytes"]


def ends_at_once_with_the_plan(program):
    begun = time.monotonic()
    done = subprocess.run([program, "serve", str(SMALL_MODEL), "--gpu-memory-utilization", "0.00001", "--port", "0"],
                          capture_output=True, text=True, timeout=60, check=False)
    seconds = time.monotonic() - begun
    expect(done.returncode == 1, f"ended with {done.returncode}")
    expect("it does not fit" in done.stderr and "in order of price" in done.stderr, done.stderr)
    expect("The model does not fit" in done.stderr.splitlines()[-1], done.stderr)
    expect("packed" not in done.stderr, "the weights were loaded")
    return f"{seconds:.2f} s"


def says_the_same_as_plan(program, model):
    share = tight_share(program, model)
    done = subprocess.run([program, "serve", model, "--gpu-memory-utilization", f"{share:.8f}", "--port", "0"],
                          capture_output=True, text=True, timeout=60, check=False)
    expect(done.returncode == 1, f"ended with {done.returncode}")
    expect("The model's max seq len (8192) is larger than the maximum number of tokens" in done.stderr, done.stderr)
    expect(re.search(r"✓ a shorter --max-model-len", done.stderr), done.stderr)
    of_serve = int(re.search(r"longest that fits +([\d,]+) tokens", done.stderr)[1].replace(",", ""))
    of_plan = planned(program, model, "--gpu-memory-utilization", f"{share:.8f}")["longest_model_len"]
    # What is available changes a little from one moment to the next.
    expect(abs(of_serve - of_plan) < 0.2 * of_plan, f"serve says {of_serve}, plan {of_plan}")


def serves_what_fits(program, model):
    share = tight_share(program, model)
    with Server([program, "serve", model, "--gpu-memory-utilization", f"{share:.8f}", "--fit", "auto"]) as server:
        found = re.search(r"--fit auto serves it with (--[a-z-]+) (\S+)", server.log_text)
        expect(found, server.log_text)
        length = server.client.get("/v1/models").json["data"][0]["max_model_len"]
        expect(length < 8192 or found[1] == "--quantization", f"served with {length}")
        answer = server.client.request("POST", "/v1/completions", {"model": "x", "prompt": "Hello", "max_tokens": 4})
        expect(answer.status in (200, 404), answer.body)
    return f"{found[1]} {found[2]}"


def changes_nothing_that_fits(program, model):
    with Server([program, "serve", model, "--max-model-len", "2048", "--fit", "auto"]) as server:
        expect("--fit auto" not in server.log_text, server.log_text)
        expect(server.client.get("/v1/models").json["data"][0]["max_model_len"] == 2048, "the length was changed")


def main():
    program = os.path.abspath(sys.argv[1])
    model = cached_model(MODEL)
    if model is None:
        sys.exit(77)
    report = Report()
    report.check("what cannot fit ends at once with the plan", ends_at_once_with_the_plan, program)
    report.check("serve and plan say the same", says_the_same_as_plan, program, model)
    report.check("--fit auto serves the first that fits", serves_what_fits, program, model)
    report.check("--fit auto changes nothing that fits", changes_nothing_that_fits, program, model)
    report.finish()


if __name__ == "__main__":
    main()
