"""Makes the pinned reference package `tokenizers` importable."""
import subprocess
import sys
from pathlib import Path


def make_importable():
    fetch = Path(__file__).resolve().parents[2] / "tools" / "fetch.py"
    done = subprocess.run([sys.executable, str(fetch), "tokenizers"], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(1)
    sys.path.insert(0, done.stdout.strip())
