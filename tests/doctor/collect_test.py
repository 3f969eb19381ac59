"""--collect makes a bundle that --from reads with the same verdict, and no secret is left in it."""
import pathlib
import subprocess
import sys
import tarfile
import tempfile

from doctor import examine
from simulated import SimulatedMachine

PROGRAM = sys.argv[1]
# Written in pieces, so that nobody's scanner takes this file for a leak.
SECRETS = ["hf_" + "AbCdEfGhIjKlMnOpQrStUvWx", "sk-" + "proj-abcdefghijklmnop1234", "ghp_" + "abcdefghijklmnop1234567890",
           "AK" + "IAIOSFODNN7EXAMPLE", "eyJ" + "hbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxIn0.abcdefgh", "hunter" + "2secret",
           "p4ss" + "word99", "MIIEvQ" + "IBADANBgkqhkiG9w0", "veryprivate" + "value"]
LOG = f"""INFO 11-30 09:12:00 [api_server.py:1] args: --model m --api-key {SECRETS[1]} --max-tokens 512
HF_TOKEN={SECRETS[0]} max_tokens=512 num_tokens: 4096
Authorization: Bearer {SECRETS[4]}
cloning https://user:{SECRETS[5]}@example.com/x.git with {SECRETS[2]}
{{"password": "{SECRETS[6]}", "aws": "{SECRETS[3]}", "client_secret": "{SECRETS[8]}"}}
-----BEGIN PRIVATE KEY-----
{SECRETS[7]}
-----END PRIVATE KEY-----
RuntimeError: No CUDA GPUs are available
"""


def run(*arguments):
    return subprocess.run([PROGRAM, "doctor", *map(str, arguments)], capture_output=True, timeout=60)


def live_data(faults):
    """What the GPUs say is in it, by our own smi where there is no nvidia-smi."""
    with SimulatedMachine(PROGRAM, "bad-memory") as machine:
        bundle = pathlib.Path(machine.folder.name) / "bundle.tar.gz"
        done = subprocess.run(machine.command("--window", "0.2", "--collect", str(bundle)), env=machine.environment, capture_output=True,
                              timeout=120)
        if done.returncode != 2 or not bundle.exists():
            faults.append(f"simulated: exit {done.returncode}: {done.stderr.decode()}")
            return
        with tarfile.open(bundle) as archive:
            texts = {member.name: archive.extractfile(member).read().decode() for member in archive}
    for name, words in (("nvidia-smi-q.txt", "NVIDIA H100 80GB HBM3"), ("nvidia-smi.txt", "| NVIDIA-SMI"), ("nvidia-smi-L.txt", "GPU 0: NVIDIA"),
                        ("report.json", "recovery-action"), ("nvidia-smi-nvlink-s.txt", "Link 0")):
        if words not in texts.get(name, ""):
            faults.append(f"simulated: no '{words}' in {name}: {texts.get(name, 'no such file')[:300]}")


def main():
    faults = []
    live_data(faults)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "serve.log").write_text(LOG)
        root = folder / "root"
        (root / "dev").mkdir(parents=True)
        (root / "proc").mkdir()
        (root / "proc/cmdline").write_text(f"quiet password={SECRETS[6]}\n")
        (root / "dev/kmsg").write_text("4,1,100,-;NVRM: Xid (PCI:0000:3b:00): 48, pid=7, name=a, DBE\n")
        bundle = folder / "bundle.tar.gz"
        done = run("--root", root, "--from", folder / "serve.log", "--collect", bundle)
        if done.returncode != 2:
            faults.append(f"exit {done.returncode}: {done.stderr.decode()}")
        if bundle.stat().st_mode & 0o077:
            faults.append("others may read the bundle")
        with tarfile.open(bundle) as archive:
            texts = {member.name: archive.extractfile(member).read().decode() for member in archive}
        if set(texts) != {"report.json", "host/proc/cmdline", "kernel.log", "logs/serve.log"}:
            faults.append(f"files: {sorted(texts)}")
        faults += [f"{name} holds {secret}" for name, text in texts.items() for secret in SECRETS if secret in text]
        log = texts["logs/serve.log"]
        for kept in ("--max-tokens 512", "max_tokens=512 num_tokens: 4096", "No CUDA GPUs are available", "example.com/x.git"):
            if kept not in log:
                faults.append(f"'{kept}' was taken away: {log}")
        roots = [story["findings"][0]["id"] for story in examine(PROGRAM, bundle)["stories"]]
        if roots != ["xid-48", "cuda-no-device"]:
            faults.append(f"read again: {roots}")
        again = run("--collect", bundle, "--root", root)
        if again.returncode != 3 or b"exists already" not in again.stderr:
            faults.append(f"an existing file: {again.returncode} {again.stderr}")
        nowhere = run("--collect", folder / "no/such/folder.tar.gz", "--root", root)
        if nowhere.returncode != 3 or b"cannot be written" not in nowhere.stderr:
            faults.append(f"no such folder: {nowhere.returncode} {nowhere.stderr}")
    for fault in faults:
        print(fault)
    print(f"{len(faults)} faults" if faults else f"ok: {len(texts)} files, {len(SECRETS)} secrets removed")
    sys.exit(1 if faults else 0)


main()
