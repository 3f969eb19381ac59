#!/usr/bin/env python3
"""/metrics against Prometheus' own checker: promtool_test.py METRICS_TEXT_PROGRAM

Complaints about names that vLLM chose are expected, each by its text; any other fails.
"""
import re
import shutil
import subprocess
import sys

# Dashboards ask for these names: they stay as vLLM wrote them.
EXPECTED = [
    r"(vllm|pagoda):\S+ metric names should not contain ':'",
    r'vllm:iteration_tokens_total non-counter metrics should not have "_total" suffix',
]


def main():
    program = sys.argv[1]
    promtool = shutil.which("promtool")
    if not promtool:
        print("skipped: promtool is not installed (Debian package prometheus)")
        return 77
    text = subprocess.run([program, "prometheus"], check=True, capture_output=True).stdout
    check = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True)
    complaints = [line for line in check.stderr.decode().splitlines() if line.strip()]
    unexpected = [line for line in complaints if not any(re.fullmatch(known, line) for known in EXPECTED)]
    for line in unexpected:
        print("promtool:", line)
    # 0: clean; 3: lint only. Anything else is text that Prometheus cannot read.
    if check.returncode not in (0, 3) or unexpected:
        print(f"failed: promtool ended with {check.returncode}, {len(unexpected)} unexpected complaints")
        return 1
    print(f"ok: {len(text.splitlines())} lines, {len(complaints)} expected complaints about vLLM's names")
    return 0


if __name__ == "__main__":
    sys.exit(main())
