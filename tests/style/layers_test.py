"""Reads every #include under src/ against docs/layers.txt: a floor includes itself, base, and what its row allows."""
import re

import source_tree

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def read_layers():
    """floor → (floors it may include, single headers it may include). Rows stand lowest first."""
    layers = {}
    for line in source_tree.read("docs/layers.txt").splitlines():
        match = re.match(r"([a-z]+):(.*)$", line)
        if match:
            allowed = match.group(2).split()
            layers[match.group(1)] = ({name for name in allowed if "/" not in name},
                                      {name for name in allowed if "/" in name})
    return layers


def faults_of_table(layers):
    order = list(layers)
    for floor, (floors, headers) in layers.items():
        for below in floors:
            if below not in layers:
                yield f"docs/layers.txt: {floor} names the unknown floor {below}"
            elif order.index(below) >= order.index(floor):
                yield f"docs/layers.txt: {floor} may not stand on {below}, which is not below it"
        for header in headers:
            # A header that is promised by the table may come later than the row; its floor must exist.
            if header.split("/")[0] not in layers:
                yield f"docs/layers.txt: {floor} names the unknown header {header}"


def faults_of_file(path, layers, known):
    floor = path.parts[1]
    if floor not in layers:
        yield f"{path}: the floor {floor} is not in docs/layers.txt"
        return
    floors, headers = layers[floor]
    for included in INCLUDE.findall(source_tree.read(path)):
        target = included.split("/")[0]
        if "src/" + included not in known:
            yield f'{path}: #include "{included}" is no file under src/ (other libraries go into <>)'
        elif target not in floors | {floor, "base"} and included not in headers:
            yield f"{path}: {floor} may not include {included}"


def main():
    layers = read_layers()
    known = {str(path) for path in source_tree.files()}
    sources = [path for path in source_tree.cxx_files() if path.parts[0] == "src"]
    faults = list(faults_of_table(layers))
    for path in sources:
        faults += faults_of_file(path, layers, known)
    source_tree.finish(faults, f"{len(sources)} files keep to {len(layers)} floors")


main()
