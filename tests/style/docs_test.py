"""Every path that the documentation names exists."""
import pathlib
import re

import source_tree

QUOTED = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
PATH = re.compile(r"[\w.*{},/-]+")


def candidates(path, text):
    """(name as written, path from the root) of everything in the text that looks like a path of this repository."""
    tops = {entry.name for entry in source_tree.ROOT.iterdir()} - {"build", "dist"}
    for quoted in QUOTED.findall(text):
        word = quoted.split()[0].removeprefix("./")
        top = word.split("/")[0]
        if PATH.fullmatch(word) and (("/" in word and top in tops | {"src", "docs", "tests"}) or word in tops):
            yield quoted, word
    for target in LINK.findall(text):
        if "://" not in target and not target.startswith("mailto:"):
            yield target, str((path.parent / target)).replace("/./", "/")


def exists(name):
    name = name.rstrip("/")
    if "{" in name:
        head, rest = name.split("{", 1)
        inner, tail = rest.split("}", 1)
        return all(exists(head + part + tail) for part in inner.split(","))
    resolved = pathlib.PurePath(name)
    return any(source_tree.ROOT.glob(str(resolved))) if "*" in name else (source_tree.ROOT / resolved).exists()


def main():
    faults = []
    checked = 0
    for path in source_tree.files():
        if path.suffix != ".md":
            continue
        for shown, name in candidates(path, source_tree.read(path)):
            checked += 1
            if not exists(name):
                faults.append(f"{path}: {shown} does not exist")
    source_tree.finish(faults, f"{checked} paths")


main()
