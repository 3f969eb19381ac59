"""Runs the test program encode_texts."""
import struct
import subprocess
import sys


def encode(program, model, texts, plain_special=False, pre=None, add_special=False):
    """[(ids, decoded bytes)] for each text (bytes)."""
    command = [program, model] + (["--plain-special"] if plain_special else []) + (["--add-special"] if add_special else []) + (["--pre", pre] if pre else [])
    data = b"".join(struct.pack("<I", len(text)) + text for text in texts)
    done = subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr.decode().strip()}")
    out, at, results = done.stdout, 0, []
    for _ in texts:
        (count,) = struct.unpack_from("<I", out, at)
        ids = list(struct.unpack_from(f"<{count}i", out, at + 4))
        at += 4 + 4 * count
        (length,) = struct.unpack_from("<I", out, at)
        results.append((ids, out[at + 4:at + 4 + length]))
        at += 4 + length
    return results, done.stderr.decode().strip().replace("\n", ", ")
