#!/usr/bin/env python3
"""Runs fuzz targets one after the other, each for its share of CPU time: run.py FOLDER [--cpu-minutes N] [NAME …]

FOLDER holds the programs (build/fuzz/fuzz). Seeds are fuzz/corpus/NAME; what is found interesting is kept in
FOLDER/corpus/NAME for the next run, and an input that breaks something in FOLDER/findings, its path printed. Ends with
1 when any target broke. CPU time is counted, not wall time: on a busy machine a run takes longer, not less.
"""
import argparse
import math
import os
import pathlib
import re
import resource
import subprocess
import sys

# libFuzzer's bounds on one input, in seconds and MB; what passes them is a finding. Its clock is the wall's: among
# other work an innocent input may take long.
ONE_INPUT = ["-timeout=300", "-rss_limit_mb=2048", "-malloc_limit_mb=1024"]
SHORTEST_ROUND_S = 5


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def seeds_of(name):
    folder = pathlib.Path(__file__).parent / "corpus" / name
    return [str(folder)] if folder.is_dir() else []


def fuzz(program, folder, cpu_minutes):
    """True when nothing broke. The fuzzer's clock is the wall's: rounds are added until the CPU time is used up."""
    corpus, findings = folder / "corpus" / program.name, folder / "findings"
    corpus.mkdir(parents=True, exist_ok=True)
    findings.mkdir(exist_ok=True)
    began, inputs, coverage = cpu_seconds(), 0, "?"
    while (left := cpu_minutes * 60 - (cpu_seconds() - began)) > 0:
        command = [str(program), str(corpus), *seeds_of(program.name), *ONE_INPUT, "-print_final_stats=1",
                   f"-max_total_time={max(SHORTEST_ROUND_S, math.ceil(left))}",
                   f"-artifact_prefix={findings}/{program.name}-"]
        run = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        output = run.stderr.decode(errors="replace")
        executed = re.search(r"stat::number_of_executed_units:\s*(\d+)", output)
        inputs += int(executed.group(1)) if executed else 0
        coverage = (re.findall(r"cov: (\d+)", output) or [coverage])[-1]
        if run.returncode != 0:
            print("\n".join(output.splitlines()[-60:]))
            print(f"{program.name}: broken after {(cpu_seconds() - began) / 60:.1f} CPU minutes (status {run.returncode})",
                  flush=True)
            return False
    print(f"{program.name}: clean for {(cpu_seconds() - began) / 60:.1f} CPU minutes, {inputs} inputs, "
          f"coverage {coverage}", flush=True)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*", help="targets (default: all in the folder)")
    parser.add_argument("--cpu-minutes", type=float, default=10, help="of each target (default: 10)")
    options = parser.parse_args()
    folder = options.folder.resolve()
    programs = sorted(path for path in folder.glob("*_fuzz") if os.access(path, os.X_OK) and path.is_file())
    if options.names:
        programs = [path for path in programs if path.name in options.names]
    if not programs or len(programs) < len(options.names):
        print(f"fuzz: {folder} lacks {' '.join(options.names) or 'any target'}")
        return 1
    broken = [program.name for program in programs if not fuzz(program, folder, options.cpu_minutes)]
    print(f"{len(programs) - len(broken)} passed, {len(broken)} failed")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
