"""C++ is formatted by .clang-format. Without clang-format on this machine: skipped, saying so (exit 77)."""
import shutil
import subprocess
import sys

import source_tree


def main():
    tool = shutil.which("clang-format-14") or shutil.which("clang-format")
    if tool is None:
        print("skipped: clang-format is not installed (package clang-format)")
        sys.exit(77)
    paths = [str(path) for path in source_tree.cxx_files()]
    done = subprocess.run([tool, "--dry-run", "-Werror", "--ferror-limit=1", *paths], cwd=source_tree.ROOT,
                          capture_output=True, text=True)
    faults = sorted({line.split(":")[0] + ": not formatted; run clang-format -i on it"
                     for line in done.stderr.splitlines() if ": error:" in line})
    if done.returncode != 0 and not faults:
        faults = [done.stderr]
    source_tree.finish(faults, f"{len(paths)} files")


main()
