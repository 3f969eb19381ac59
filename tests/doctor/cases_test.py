"""The known cases come out with the right verdict: as given, and as other devices, processes, orders and wrappings of
the same lines."""
import gzip
import io
import json
import pathlib
import re
import sys
import tarfile
import tempfile

from doctor import examine, faults_of

HERE = pathlib.Path(__file__).parent
PROGRAM = sys.argv[1]
# Kernel sentences that go on in the next line cannot change places.
ORDERED = {"nouveau-owns", "v100-open-module", "off-bus-without-xid", "mismatch-after-upgrade"}


def inputs(case):
    return {path.name: path.read_text() for path in sorted((HERE / "cases" / case).iterdir())
            if path.name != "expected.json"}


def renamed(text, verdict):
    """The same on another bus, by other processes."""
    pairs = [("0000:3b:00", "0000:d8:00"), ("0000:3a:00", "0000:d7:00"), ("0000:81:00", "0000:af:00"),
             ("0000:1b:00", "0000:c4:00"), ("0000:01:00", "0000:41:00"), ("0000:06:00", "0000:5e:00"),
             ("9911", "12345"), ("77120", "4242"), ("train.py", "finetune"), ("81123", "777"), ("3000", "3111")]
    verdict = json.dumps(verdict)
    for old, new in pairs:
        text = {name: body.replace(old, new) for name, body in text.items()}
        verdict = verdict.replace(old, new)
    return text, json.loads(verdict)


def reversed_lines(text):
    """Kernel lines in the other order, with their times left as they stand."""
    result = {}
    for name, body in text.items():
        lines = body.splitlines()
        stamps = [re.match(r"\[ *[\d.]+\] ", line) for line in lines]
        if name == "dmesg.log" and all(stamps):
            rests = [line[match.end():] for line, match in zip(lines, stamps)][::-1]
            body = "\n".join(match.group() + rest for match, rest in zip(stamps, rests)) + "\n"
        result[name] = body
    return result


def as_journal(text):
    """As journalctl -k prints the same lines, among others."""
    result = {}
    for name, body in text.items():
        if name == "dmesg.log":
            lines = [re.sub(r"^\[ *[\d.]+\] ", "", line) for line in body.splitlines()]
            body = "".join(f"Nov 30 09:12:{i:02d} node7 kernel: {line}\n" for i, line in enumerate(lines, 10))
            body = "Nov 30 09:12:00 node7 kernel: usb 1-1: new high-speed USB device\n" + body
        result[name] = body
    return result


def among_noise(text):
    noise = "".join(f"[{i:5d}.000000] audit: type=1400 audit(1732957.{i}): apparmor=\"ALLOWED\" comm=\"x\"\n" for i in range(20000))
    return {name: noise + body + noise if name == "dmesg.log" else body for name, body in text.items()}


def with_crlf_and_junk(text):
    return {name: body.replace("\n", "\r\n") + "\udcff\udcfe".encode("utf-8", "surrogatepass").decode("latin-1")
            for name, body in text.items()}


def write(folder, text):
    for name, body in text.items():
        (folder / name).write_bytes(body.encode("utf-8", "surrogateescape"))


def check(label, report, verdict, faults):
    faults += [f"{label}: {fault}" for fault in faults_of(report, verdict)]


def check_case(case, verdict, faults):
    text = inputs(case)
    moved, moved_verdict = renamed(text, verdict)
    variants = [("as given", text, verdict), ("renamed", moved, moved_verdict), ("journal", as_journal(text), verdict),
                ("among noise", among_noise(text), verdict), ("CR LF and junk", with_crlf_and_junk(text), verdict)]
    if case not in ORDERED:
        variants.append(("reversed", reversed_lines(text), verdict))
    for label, body, right in variants:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            write(folder, body)
            check(f"{case}, {label}", examine(PROGRAM, folder), right, faults)
    joined = "\n".join(text.values()).encode()
    check(f"{case}, standard input", examine(PROGRAM, "-", stdin=joined), verdict, faults)
    with tempfile.TemporaryDirectory() as name:
        packed = pathlib.Path(name) / "nvidia-bug-report.log.gz"
        packed.write_bytes(gzip.compress(joined))
        check(f"{case}, gzip", examine(PROGRAM, packed), verdict, faults)
        bundle = pathlib.Path(name) / "bundle.tar.gz"
        with tarfile.open(bundle, "w:gz") as archive:
            for member, body in text.items():
                info = tarfile.TarInfo("node/" + member)
                info.size = len(body.encode())
                archive.addfile(info, io.BytesIO(body.encode()))
        check(f"{case}, tar.gz", examine(PROGRAM, bundle), verdict, faults)
    return len(variants) + 3


def main():
    faults = []
    runs = 0
    verdicts = json.loads((HERE / "verdicts.json").read_text())
    cases = sorted(path.name for path in (HERE / "cases").iterdir())
    assert cases == sorted(verdicts), "every case has a verdict"
    for case in cases:
        runs += check_case(case, verdicts[case], faults)
    for fault in faults:
        print(fault)
    print(f"{len(faults)} faults" if faults else f"ok: {len(cases)} cases, {runs} runs")
    sys.exit(1 if faults else 0)


main()
