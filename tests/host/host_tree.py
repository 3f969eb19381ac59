"""Builds the file tree of a machine from a description, so that `pagoda --root` can look at it.

A description (trees/NAME.tree) has one entry after another:
    @include OTHER            everything of trees/OTHER.tree
    @file PATH                the lines up to the next entry
    @bytes PATH 06 00 01      these bytes
    @link PATH -> TARGET
    @folder PATH
    @node PATH MAJOR MINOR    a character device (root only)
    @gpu ADDRESS DEVICE CLASS DRIVER [WIDTH/MAX]   a PCI device of NVIDIA's, as sysfs shows it
    @library FOLDER NAME VERSION SONAME...         a driver library, and its links
    @remove PATH              of what was included
"""
import os
import pathlib
import shutil
import stat

TREES = pathlib.Path(__file__).parent / "trees"


def inside(root, path):
    place = root / path.lstrip("/")
    place.parent.mkdir(parents=True, exist_ok=True)
    return place


def add_link(root, path, target):
    place = inside(root, path)
    if place.is_symlink():
        place.unlink()
    place.symlink_to(target)


def add_gpu(root, address, device, device_class, driver, width="16/16"):
    bridge = "0000:00:01.0"
    folder = f"/sys/devices/pci0000:00/{bridge}/{address}"
    now, most = width.split("/")
    ids = {"vendor": "0x10de", "device": f"0x{device}", "subsystem_vendor": "0x10de", "subsystem_device": "0x0001",
           "class": f"0x{device_class}", "current_link_width": now, "max_link_width": most,
           "modalias": f"pci:v000010DEd0000{device.upper()}sv000010DEsd00000001bc{device_class[:2]}sc{device_class[2:4]}i{device_class[4:]}"}
    for name, value in ids.items():
        inside(root, f"{folder}/{name}").write_text(value + "\n")
    add_link(root, f"/sys/bus/pci/devices/{address}", f"../../../devices/pci0000:00/{bridge}/{address}")
    if driver != "none":
        inside(root, f"/sys/bus/pci/drivers/{driver}/module")
        add_link(root, f"{folder}/driver", f"../../../../bus/pci/drivers/{driver}")


def add_library(root, folder, name, version, *sonames):
    inside(root, f"{folder}/{name}.so.{version}").write_bytes(b"\x7fELF")
    for soname in sonames:
        add_link(root, f"{folder}/{soname}", f"{name}.so.{version}")


def remove(root, path):
    place = root / path.lstrip("/")
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink()


def apply(root, words, body):
    kind = words[0]
    if kind == "@include":
        build(words[1], root)
    elif kind == "@file":
        inside(root, words[1]).write_text(body)
    elif kind == "@bytes":
        inside(root, words[1]).write_bytes(bytes.fromhex("".join(words[2:])))
    elif kind == "@link":
        add_link(root, words[1], words[3])
    elif kind == "@folder":
        (root / words[1].lstrip("/")).mkdir(parents=True, exist_ok=True)
    elif kind == "@node":
        os.mknod(inside(root, words[1]), stat.S_IFCHR | 0o666, os.makedev(int(words[2]), int(words[3])))
    elif kind == "@gpu":
        add_gpu(root, *words[1:])
    elif kind == "@library":
        add_library(root, *words[1:])
    elif kind == "@remove":
        remove(root, words[1])
    else:
        raise ValueError(f"unknown entry {kind}")


def build(name, root):
    """Lays trees/NAME.tree out under `root`, a folder."""
    root = pathlib.Path(root)
    entry, body = None, []
    for line in (TREES / f"{name}.tree").read_text().splitlines() + ["@end"]:
        if not line.startswith("@"):
            if entry is not None:
                body.append(line)
            continue
        if entry is not None:
            while body and not body[-1]:  # the blank line before the next entry
                body.pop()
            apply(root, entry, "".join(text + "\n" for text in body))
        entry, body = line.split(), []


def needs_device_nodes(name):
    text = (TREES / f"{name}.tree").read_text()
    included = [line.split()[1] for line in text.splitlines() if line.startswith("@include")]
    return "\n@node" in text or any(needs_device_nodes(other) for other in included)
