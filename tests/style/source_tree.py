"""The repository's files, as the style tests see them: tracked ones and new ones that git does not ignore."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def files():
    """Paths relative to ROOT, sorted."""
    try:
        listed = subprocess.run(
            ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            capture_output=True, check=True).stdout.decode().split("\0")
        found = [pathlib.Path(name) for name in listed if name]
    except (OSError, subprocess.CalledProcessError):  # a tarball of the sources
        found = [path.relative_to(ROOT) for path in ROOT.rglob("*")
                 if path.relative_to(ROOT).parts[0] not in ("build", "dist", ".git")]
    return sorted(path for path in found if (ROOT / path).is_file())


def read(path):
    """The text of a file; None when it is not text."""
    try:
        return (ROOT / path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


def cxx_files():
    return [path for path in files() if path.suffix in (".cc", ".h", ".cu", ".cuh", ".inc")]


def finish(faults, what):
    """Ends the test: prints each fault, or one line of what held."""
    for fault in faults:
        print(fault)
    print(f"{len(faults)} faults" if faults else f"ok: {what}")
    sys.exit(1 if faults else 0)
