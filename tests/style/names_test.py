"""File names say what is in them: none is vague, headers guard themselves and are included by somebody, no work is parked."""
import re

import source_tree

VAGUE = {"util", "utils", "common", "manager", "helper", "helpers", "misc"}
CODE = (".cc", ".h", ".cu", ".cuh", ".py", ".sh", ".cmake", ".js")
PARKED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
# Kernel bodies and their vector types are included once per instruction set.
PER_ROW = re.compile(r"src/kernels/cpu/(\w+_body|vec_\w+)\.h")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def main():
    paths = source_tree.files()
    faults = []
    for path in paths:
        words = {word for part in path.parts for word in re.split(r"[._-]", part.lower())}
        if words & VAGUE:
            faults.append(f"{path}: '{(words & VAGUE).pop()}' says nothing; name the thing")
        if path.suffix in (".cc", ".h") and path.name != path.name.lower():
            faults.append(f"{path}: file names are snake_case")
    included = set()
    for path in source_tree.cxx_files():
        included |= set(INCLUDE.findall(source_tree.read(path)))
    headers = [path for path in paths if path.suffix == ".h" and path.parts[0] == "src"]
    for path in headers:
        if "#pragma once" not in source_tree.read(path) and not PER_ROW.fullmatch(str(path)):
            faults.append(f"{path}: no #pragma once")
        if str(path)[len("src/"):] not in included:
            faults.append(f"{path}: included by nobody")
    for path in paths:
        text = source_tree.read(path) if path.suffix in CODE else None
        for number, line in enumerate((text or "").splitlines(), 1):
            if PARKED.search(line):
                faults.append(f"{path}:{number}: parked work: {line.strip()}")
    source_tree.finish(faults, f"{len(paths)} names, {len(headers)} headers")


main()
