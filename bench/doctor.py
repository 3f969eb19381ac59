#!/usr/bin/env python3
"""How fast `pagoda doctor --from` reads logs, and in how much memory.

    bench/doctor.py [--program PATH] [--mb 1024] [--repeat 3] [--out FILE.json]

Four made-up kernel logs: nothing known in them; one line in a hundred known; every line known, of few GPUs and
processes; every line known, of thousands of processes. Each plain, the second also as gzip and from a pipe. The file's
pages are warm. Medians of the repeats; a copy of the file (cat) and its inflation (gzip -dc) beside them say what the
machine allows. Without --program it is built.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time

import programs

GPUS = ["0000:3b:00", "0000:5e:00", "0000:86:00"]
LINES_MADE = 200_000  # then they come again


def known(rng, pids):
    gpu, pid = rng.choice(GPUS), rng.randrange(2000, 2000 + pids)
    return rng.choice([
        f"NVRM: Xid (PCI:{gpu}): 31, pid={pid}, name=python3, Ch 00000010, intr 00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_0 "
        f"faulted @ 0x7f{rng.randrange(256):02x}_{rng.randrange(1 << 32):08x}. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ",
        f"NVRM: Xid (PCI:{gpu}): 43, pid={pid}, name=python3, Ch 00000010",
        "pcieport 0000:3a:00.0: AER: Corrected error received: 0000:3a:00.0",
        f"NVRM: Xid (PCI:{gpu}): 13, pid={pid}, name=train.py, Graphics SM Warp Exception on (GPC 1, TPC 2, SM 0): Out Of Range Address",
        f"NVRM: Xid (PCI:{gpu}): 45, pid={pid}, name=python3, Ch 00000012"])


def unknown(rng):
    number = rng.randrange(99999)
    return rng.choice([f'audit: type=1400 audit(1732957.{number}): apparmor="ALLOWED" operation="open" comm="y{number}"',
                       f"veth{number}: renamed from eth0", f"docker0: port 1(veth{number}) entered disabled state",
                       f"systemd[1]: Started session {number} of user root."])


def write_log(path, megabytes, share, pids):
    rng = random.Random(8)
    lines = [f"[{100 + i * 0.003:12.6f}] {known(rng, pids) if rng.random() < share else unknown(rng)}\n" for i in range(LINES_MADE)]
    block = "".join(lines).encode()
    size = 0
    with path.open("wb") as out:
        while size < megabytes << 20:
            out.write(block)
            size += len(block)
    return size


def measure(command, **options):
    """(seconds, peak MiB)"""
    begin = time.monotonic()
    child = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1, 2):
        sys.exit(f"{command}: exit {child.returncode}")
    return time.monotonic() - begin, usage.ru_maxrss / 1024


def median_of(size, repeat, run):
    times = [run() for _ in range(repeat)]
    return {"mb_per_s": round(size / 1e6 / statistics.median(seconds for seconds, _ in times)),
            "peak_mib": round(max(memory for _, memory in times))}


def piped(program, path):
    with path.open("rb") as log:
        cat = subprocess.Popen(["cat"], stdin=log, stdout=subprocess.PIPE)
        result = measure([program, "doctor", "--json", "--from", "-"], stdin=cat.stdout)
        cat.stdout.close()
        cat.wait()
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path)
    parser.add_argument("--mb", type=int, default=1024)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    program = options.program or programs.build_ours("pagoda") / "pagoda"
    rows = {}
    with tempfile.TemporaryDirectory() as name:
        for kind, share, pids in (("nothing known", 0, 1), ("1 % known", 0.01, 100), ("all known, few groups", 1, 10),
                                  ("all known, many groups", 1, 7000)):
            path = pathlib.Path(name) / "kernel.log"
            size = write_log(path, options.mb, share, pids)
            rows[kind] = median_of(size, options.repeat, lambda: measure([program, "doctor", "--json", "--from", path]))
            if kind != "1 % known":
                continue
            rows[kind + ", from a pipe"] = median_of(size, options.repeat, lambda: piped(program, path))
            rows["cat of the same"] = median_of(size, options.repeat, lambda: measure(["cat", path]))
            packed = path.with_suffix(".log.gz")
            with packed.open("wb") as out:
                subprocess.run(["gzip", "-6", "-c", path], stdout=out, check=True)
            rows[kind + ", gzip"] = median_of(size, options.repeat, lambda: measure([program, "doctor", "--json", "--from", packed]))
            rows["gzip -dc of the same"] = median_of(size, options.repeat, lambda: measure(["gzip", "-dc", packed]))
            packed.unlink()
    print(f"{'log':28}{'MB/s':>8}{'peak MiB':>10}")
    for kind, row in rows.items():
        print(f"{kind:28}{row['mb_per_s']:>8}{row['peak_mib']:>10}")
    if options.out:
        record = {"date": datetime.date.today().isoformat(), "cpu_count": os.cpu_count(), "machine": platform.machine(),
                  "log_mib": options.mb, "repeat": options.repeat, "load_average_before": os.getloadavg()[2], "rows": rows}
        options.out.write_text(json.dumps(record, indent=1) + "\n")


main()
