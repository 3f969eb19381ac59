"""The built program runs on other distributions: no glibc symbol above 2.34 (Ubuntu 22.04, RHEL 9), no other shared
library than glibc's own, and exceptions still unwind.

usage: portability_test.py PAGODA [SHARED_OBJECT ...]
"""
import re
import subprocess
import sys
import tempfile

HIGHEST = (2, 34)
ALLOWED_LIBRARIES = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1",
                     "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def symbol_faults(program):
    for line in output_of("objdump", "-T", program).splitlines():
        match = re.search(r"\(?(GLIBC|GLIBCXX|CXXABI|GCC)_([0-9.]+)\)?\s+(\S+)$", line)
        if match is None:
            continue
        library, version, symbol = match.groups()
        if library != "GLIBC":
            yield f"{symbol}: from {library}, which must be linked statically"
        elif tuple(int(part) for part in version.split(".")) > HIGHEST:
            yield f"{symbol}: wants glibc {version}"


def library_faults(program):
    for name in re.findall(r"NEEDED\s+(\S+)", output_of("objdump", "-p", program)):
        if name not in ALLOWED_LIBRARIES:
            yield f"{name}: is needed at run time"


def exception_faults(program):
    """A broken YAML file throws inside yaml-cpp and must come back as one line, not as an abort."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
        config.write("port: [1\n")
        config.flush()
        done = subprocess.run([program, "serve", "--config", config.name], capture_output=True, text=True)
    if done.returncode != 2 or "not valid YAML" not in done.stderr:
        yield f"an exception inside the program ended it with {done.returncode}: {done.stderr}"


def main():
    program = sys.argv[1]
    faults = exception_faults(program)
    faults = [*faults, *(fault for file in sys.argv[1:] for check in (symbol_faults, library_faults) for fault in check(file))]
    print("\n".join(faults) or "ok")
    sys.exit(1 if faults else 0)


main()
