"""Truncated, binary, endless and odd inputs: one clear sentence each, memory flat, never a false alarm."""
import gzip
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import time

from doctor import examine

PROGRAM = sys.argv[1]
XID = b"[  100.0] NVRM: Xid (PCI:0000:3b:00): 48, pid=7, name=a, DBE\n"
BIG_BYTES = 300 << 20
MEMORY_BYTES = 100 << 20


def remark(report):
    return " | ".join(source["remark"] or "" for source in report["sources"])


def expect(faults, label, report, severity, in_remark=""):
    if report["severity"] != severity:
        faults.append(f"{label}: {report['severity']}, not {severity}")
    if in_remark not in remark(report):
        faults.append(f"{label}: no '{in_remark}' in '{remark(report)}'")


def odd_files(folder, faults):
    rng = random.Random(8)
    junk = rng.randbytes(3 << 20)
    packed = gzip.compress(XID + b"padding " + rng.randbytes(200000))
    cases = [
        ("empty", b"", "none", "empty"),
        ("junk", junk, "none", "binary"),
        ("junk around an XID", junk + b"\n" + XID + junk, "fault", "binary"),
        ("no line end", XID.rstrip(), "fault", ""),
        ("invalid UTF-8", b"\xff\xfe" + b"x" * 10 + XID, "none", "UTF-16"),
        ("invalid UTF-8 inside", b"a\xff\xc3\n" + XID + b"\xf0\x9f", "fault", ""),
        ("cut gzip", packed[:len(packed) // 2], "fault", "ends early"),
        ("gzip of nothing", gzip.compress(b""), "none", ""),
        ("a broken gzip", b"\x1f\x8b" + b"\0" * 600, "none", "binary"),
        ("one line of 4 MB", b"x" * (4 << 20) + XID, "fault", ""),
        ("escape sequences", b"\x1b[31m" + XID[:30] + b"\x1b[0m" + XID[30:], "fault", ""),
        ("a journal file", b"LPKSHHRH" + b"\0" * 100, "none", "journalctl"),
        ("a cut table", b"| NVIDIA-SMI 550.54       Driver Version: 550.54 |\n|====|\n|   0  GeForce RTX 3080    Off  | 0000", "none", ""),
        ("a cut -q", b"==============NVSMI LOG==============\nGPU 00000000:3B:00.0\n    Temperature\n        GPU Cur", "none", ""),
    ]
    for label, body, severity, in_remark in cases:
        path = folder / "odd"
        path.write_bytes(body)
        expect(faults, label, examine(PROGRAM, path), severity, in_remark)
    return len(cases)


def big_log(folder, faults):
    """Streamed: a memory limit far below the log's size, and the line's number at its end."""
    line = b"Nov 30 09:12:00 node7 kubelet[1234]: E1130 error syncing pod, skipping: failed to start container\n"
    path = folder / "big.log"
    with path.open("wb") as out:
        for _ in range(BIG_BYTES // (len(line) * 10000)):
            out.write(line * 10000)
        out.write(XID)
    lines = (BIG_BYTES // (len(line) * 10000)) * 10000 + 1
    start = time.monotonic()
    done = subprocess.run([PROGRAM, "doctor", "--json", "--from", str(path)], capture_output=True, timeout=120,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES)))
    seconds = time.monotonic() - start
    if done.returncode != 2 or f'"line": {lines}'.encode() not in done.stdout:
        faults.append(f"big log: exit {done.returncode}, {done.stderr[:500]}")
    return BIG_BYTES / seconds / 1e6


def wrong_calls(folder, faults):
    for arguments, says in [(["--from", str(folder / "nowhere")], b"is not there"), (["--frmo", "x"], b"did you mean"),
                            (["--root", str(folder / "nowhere")], b"is no folder")]:
        done = subprocess.run([PROGRAM, "doctor", *arguments], capture_output=True, timeout=60)
        if done.returncode != 3 or says not in done.stderr or done.stderr.count(b"\n") != 1:
            faults.append(f"{arguments}: exit {done.returncode}, {done.stderr}")


def unreadable(folder, faults):
    inner = folder / "logs"
    inner.mkdir()
    (inner / "dmesg").write_bytes(XID)
    os.symlink("nowhere", inner / "dangling")
    os.mkfifo(inner / "pipe")  # must not be waited for
    expect(faults, "a folder with odd files", examine(PROGRAM, inner), "fault")


def main():
    faults = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        count = odd_files(folder, faults)
        speed = big_log(folder, faults)
        wrong_calls(folder, faults)
        unreadable(folder, faults)
    for fault in faults:
        print(fault)
    print(f"{len(faults)} faults" if faults else f"ok: {count} odd files; {BIG_BYTES >> 20} MiB at {speed:.0f} MB/s")
    sys.exit(1 if faults else 0)


main()
