#!/usr/bin/env python3
"""Model files from strangers: bad_models.py PAGODA MODEL

A real model, cut off and overwritten at its sore points. `pagoda serve` must end by itself, soon and small, with one
line that names the file and what is wrong with it.
"""
import pathlib
import resource
import struct
import subprocess
import sys
import tempfile
import time

from report import Report, expect
from server import cached_model, free_port

MOST_SECONDS = 20
MOST_MB = 1024  # of address space beyond what is mapped: an absurd count must not be allocated
TENSOR_COUNT_AT, METADATA_COUNT_AT, FIRST_KEY_AT = 8, 16, 24  # GGUF: magic, version, two counts, then the keys


class Damaged:
    def __init__(self, program, model, folder):
        self.program, self.model = program, pathlib.Path(model)
        self.size = self.model.stat().st_size
        self.path = pathlib.Path(folder) / "damaged.gguf"

    def refused(self, words, path=None):
        """Serves `path`; returns what it said."""
        path = path or self.path
        began = time.monotonic()
        bound = (self.size + MOST_MB * 1024 * 1024,) * 2
        done = subprocess.run([self.program, "serve", str(path), "--port", str(free_port()), "--max-model-len", "64"],
                              capture_output=True, text=True, timeout=60, errors="replace",
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, bound))
        seconds = time.monotonic() - began
        lines = [line for line in done.stderr.splitlines() if not line.startswith("I ")]
        expect(done.returncode in (1, 2), f"{words}: ended with {done.returncode}: {done.stderr[-800:]}")
        expect(len(lines) == 1 and path.name in lines[0], f"{words}: {done.stderr[-800:]}")
        expect(words in lines[0], f"{words!r} is not in {lines[0]!r}")
        expect(seconds < MOST_SECONDS, f"{words}: {seconds:.1f} s")
        return lines[0]

    def cut(self, size):
        """The first `size` bytes; what follows is not there."""
        with self.model.open("rb") as whole, self.path.open("wb") as part:
            part.write(whole.read(size))

    def overwrite(self, at, data, size=None):
        self.cut(size or self.size)
        with self.path.open("r+b") as file:
            file.seek(at)
            file.write(data)

    def find(self, text):
        with self.model.open("rb") as file:
            at = file.read(16 << 20).find(text)
        expect(at > 0, f"the model has no {text}")
        return at

    # ---- The checks

    def cut_off(self):
        for size, words in [(0, "the file is empty"), (3, "not a GGUF"), (10, "tensor count"),
                            (FIRST_KEY_AT + 20, "metadata entries"),
                            (100_000, "more than the"), (700_000, "not a sound GGUF"), (self.size // 2, "past the file's end"),
                            (self.size - 1, "past the file's end")]:
            self.cut(size)
            line = self.refused(words)
        return line

    def absurd_counts(self):
        for at in (TENSOR_COUNT_AT, METADATA_COUNT_AT):
            for count in (2**64 - 1, 2**40, 2**31):
                self.overwrite(at, struct.pack("<Q", count))
                line = self.refused("it claims" if at == TENSOR_COUNT_AT else "metadata entries")
        tokens = self.find(b"tokenizer.ggml.tokens") + len("tokenizer.ggml.tokens") + 4 + 4  # behind both types
        self.overwrite(tokens, struct.pack("<Q", 2**61))
        self.refused("claims 2305843009213693952 elements")
        return line

    def absurd_lengths(self):
        self.overwrite(FIRST_KEY_AT, struct.pack("<Q", 2**63))
        return self.refused("inside a metadata key")

    def tensors_past_the_end(self):
        name = b"token_embd.weight"
        dimensions = self.find(name) + len(name) + 4
        self.overwrite(dimensions, struct.pack("<QQ", 2**40, 2**40))
        self.refused("more elements than")
        self.overwrite(dimensions + 8, struct.pack("<Q", 2**17))  # more rows than there are
        self.refused("overlap")
        self.overwrite(dimensions + 16 + 4, struct.pack("<Q", 2**63))
        return self.refused("past the file's end")

    def other_files(self):
        self.path.write_bytes(b"PK\x03\x04" + bytes(4096))
        self.refused("a zip archive")
        self.overwrite(4, struct.pack("<I", 99), size=1 << 20)
        self.refused("GGUF version 99")
        self.path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
        return self.refused("a Git LFS pointer")

    def no_model_at_all(self):
        self.refused("no model", self.path.with_name("absent.gguf"))
        folder = self.path.with_name("folder")
        folder.mkdir()
        self.refused("folder without a .gguf file", folder)
        return self.refused("not a regular file", pathlib.Path("/dev/null"))


CHECKS = ["cut_off", "absurd_counts", "absurd_lengths", "tensors_past_the_end", "other_files", "no_model_at_all"]


def main():
    program, model = sys.argv[1], cached_model(sys.argv[2])
    if model is None:
        return 77
    report = Report()
    for name in CHECKS:
        with tempfile.TemporaryDirectory() as folder:
            report.check(name, getattr(Damaged(program, model, folder), name))
    report.finish()


if __name__ == "__main__":
    sys.exit(main())
