"""Shell scripts parse, stop at errors, and please shellcheck where that is installed."""
import shutil
import subprocess

import source_tree


def main():
    scripts = [path for path in source_tree.files() if (source_tree.read(path) or "").startswith("#!/usr/bin/env bash\n")]
    faults = []
    for path in scripts:
        done = subprocess.run(["bash", "-n", str(path)], cwd=source_tree.ROOT, capture_output=True, text=True)
        if done.returncode != 0:
            faults.append(done.stderr.strip())
        if "set -euo pipefail" not in source_tree.read(path):
            faults.append(f"{path}: no set -euo pipefail")
    checker = shutil.which("shellcheck")
    if checker and scripts:
        done = subprocess.run([checker, "-f", "gcc", *map(str, scripts)], cwd=source_tree.ROOT, capture_output=True, text=True)
        faults += done.stdout.splitlines()
    source_tree.finish(faults, f"{len(scripts)} scripts" + ("" if checker else "; shellcheck is not installed"))


main()
