#!/usr/bin/env python3
"""Runs `pagoda smi` on scenarios derived from captures and compares with what the captures show, byte for byte, time
stamps aside. A developer's command: captures are read where they lie.

    tools/compare_captures.py --captures DIR --build build/dev [--only h100-mig:load:table] [--sections table,query]
"""
import argparse
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from scenario_from_capture import scenario, sections

# Section → (the command in the capture, our arguments or None for the captured ones, the moment of its values)
SECTIONS = {
    "version": ("capabilities", "nvidia-smi --version", "capabilities"),
    "list": ("capabilities", "nvidia-smi -L", "capabilities"),
    "topo": ("capabilities", "nvidia-smi topo -m", "capabilities"),
    "nvlink": ("capabilities", "nvidia-smi nvlink -s", "capabilities"),
    "table": (None, "nvidia-smi", "table"),
    "query": (None, "nvidia-smi -q", "query"),
    "csv": (None, "nvidia-smi --query-gpu", "csv"),
    "apps": (None, "nvidia-smi --query-compute-apps", "apps"),
    "accounted": (None, "nvidia-smi --query-accounted-apps", "apps"),
    "retired": (None, "nvidia-smi --query-retired-pages", "apps"),
    "pmon": (None, "nvidia-smi pmon", "pmon"),
    "dmon": (None, "nvidia-smi dmon", "dmon"),
}
STAMPS = [re.compile(pattern) for pattern in (
    r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d{3}",
    r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}")]


def masked(text):
    for stamp in STAMPS:
        text = stamp.sub("<time>", text)
    return text


def captured(found, of_phase, beginning):
    """(command, output) of a section."""
    for (phase, command), body in found.items():
        if phase == of_phase and (command == beginning or command.startswith(beginning + " ")
                                  or command.startswith(beginning + "=")):
            return command, body
    return None, ""


def run(build, command, text):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "scenario.yaml"
        file.write_text(text, encoding="utf-8")
        environment = {**os.environ, "PAGODA_SIMULATE": str(file), "PAGODA_SIMULATE_DIR": folder,
                       "PAGODA_NVML_LIBRARY": str(build / "simulated" / "libnvidia-ml.so.1")}
        words = command.split()[1:]
        done = subprocess.run([str(build / "pagoda"), "smi", *words], env=environment, capture_output=True, text=True)
        return done.stdout + done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--captures", required=True, type=pathlib.Path)
    parser.add_argument("--build", default="build/dev", type=pathlib.Path)
    parser.add_argument("--sections", default=",".join(SECTIONS))
    parser.add_argument("--only", default="", help="a part of a capture's name")
    parser.add_argument("--lines", default=20, type=int, help="of a difference that are shown")
    arguments = parser.parse_args()
    faults = compared = 0
    for path in sorted(arguments.captures.glob("*.txt")):
        if arguments.only not in path.name or path.name.startswith("README"):
            continue
        found = sections(path.read_text(encoding="utf-8"))
        for name in arguments.sections.split(","):
            of_phase, beginning, moment = SECTIONS[name]
            for phase in ("idle", "load") if of_phase is None else (of_phase,):
                command, expected = captured(found, phase, beginning)
                if command is None:
                    continue
                ours = run(arguments.build.resolve(), command, scenario(path, "idle" if of_phase else phase, moment))
                compared += 1
                left, right = masked(expected), masked(ours)
                if left == right:
                    continue
                faults += 1
                print(f"--- {path.name} {phase} {name}")
                lines = difflib.unified_diff(left.splitlines(), right.splitlines(), "capture", "pagoda", lineterm="", n=0)
                print("\n".join([line[:240] for line in lines][:arguments.lines]))
    print(f"{compared - faults} of {compared} outputs are equal")
    sys.exit(1 if faults or not compared else 0)


if __name__ == "__main__":
    main()
