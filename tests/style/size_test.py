"""No file of code has more than 400 lines, unless tests/style/long_files.txt lists it with a reason."""
import source_tree

LIMIT = 400
CODE = (".cc", ".h", ".cu", ".cuh", ".py", ".cmake", ".js")


def read_exceptions():
    """path → the most lines it may have."""
    exceptions = {}
    for line in source_tree.read("tests/style/long_files.txt").splitlines():
        if line.strip() and not line.startswith("#"):
            path, lines, _, reason = line.split(maxsplit=3)
            exceptions[path] = int(lines)
            assert reason.strip(), line
    return exceptions


def main():
    exceptions = read_exceptions()
    faults = []
    checked = 0
    for path in source_tree.files():
        if path.suffix not in CODE:
            continue
        checked += 1
        lines = source_tree.read(path).count("\n")
        allowed = exceptions.pop(str(path), LIMIT)
        if lines > allowed:
            faults.append(f"{path}: {lines} lines, {allowed} allowed; is it still one idea?")
        elif allowed > LIMIT >= lines:
            faults.append(f"{path}: {lines} lines need no exception in tests/style/long_files.txt")
    faults += [f"tests/style/long_files.txt: {path} does not exist" for path in exceptions]
    source_tree.finish(faults, f"{checked} files")


main()
