#!/usr/bin/env python3
"""A scenario of simulated GPUs from a text capture of nvidia-smi's outputs.

    tools/scenario_from_capture.py CAPTURE --phase load --moment table > scenario.yaml

A capture holds one section per command, `# PHASE :: TITLE`, `# $ COMMAND` and what it printed. The scenario holds what
NVML must have answered (numbers, enums, versions), never text of the output. A capture's sections were taken seconds
apart, so that power and temperature differ between them: --moment says of which section the values are. What a capture
does not tell is left out, and NVML then answers that it is not supported.
"""
import argparse
import pathlib
import re
import sys

from capture_tables import CSV_KEYS, QUERY_KEYS
from capture_values import Converter, convert, is_absent

HEAD = re.compile(r"^#{80}\n# ([^\n]*?) :: ([^\n]*)\n((?:# [^\n]*\n)*)#{80}\n", re.MULTILINE)
MOMENTS = ("table", "query", "csv", "apps", "pmon", "dmon", "capabilities")

def sections(text):
    """(phase, command) → what it printed."""
    found = {}
    heads = list(HEAD.finditer(text))
    for head, following in zip(heads, heads[1:] + [None]):
        command = re.search(r"^# \$ (.*)$", head.group(3), re.MULTILINE)
        if command:
            body = text[head.end():following.start() if following else len(text)]
            # Two empty lines stand between sections, one before those that hold no output, none at the end.
            for empty_lines in (2, 1):
                if body.endswith("\n" * (empty_lines + 1)):
                    body = body[:-empty_lines]
                    break
            found[head.group(1), command.group(1).strip()] = body
    return found


def section(found, phase, beginning):
    for (of_phase, command), body in found.items():
        if of_phase == phase and (command == beginning or command.startswith(beginning + " ")
                                  or command.startswith(beginning + "=")):
            return body
    return ""


def lines_of_query(body):
    """(path of labels, value) of each line of one GPU of -q; values of headings are None."""
    path = []
    for line in body.splitlines():
        if not line.startswith(" "):
            continue
        depth = (len(line) - len(line.lstrip())) // 4
        label, colon, value = line.strip().partition(" : ")
        path = path[:depth - 1] + [label.strip()]
        yield tuple(path), value.strip() if colon else None


def gpus_of_query(body):
    """The text of each GPU's part."""
    parts = re.split(r"^GPU [0-9A-F:.]+$", body, flags=re.MULTILINE)
    return parts[1:]


def values_of_query(part):
    values = {}
    for path, value in lines_of_query(part):
        row = QUERY_KEYS.get("/".join(path))
        if row is None or value is None:
            continue
        how, keys = row
        converted = convert(how, value)
        if converted is not None:
            values.update({key: converted for key in keys})
    return values


def mig_devices(part, listed):
    """The MIG devices of one GPU: -q has their sizes, -L (the lines `listed`) their names and UUIDs."""
    devices = []
    keys = {"GPU Instance ID": "gpu_instance", "Compute Instance ID": "compute_instance",
            "Multiprocessor count": "sm_count", "Copy Engine count": "copy_engines", "Encoder count": "encoders",
            "Decoder count": "decoders", "OFA count": "ofas", "JPG count": "jpegs",
            "SRAM Uncorrectable": "ecc.uncorrected.volatile.sram"}
    for path, value in lines_of_query(part):
        if path[0] != "MIG Device":
            continue
        if len(path) == 1:
            devices.append({})
        elif value is not None and not is_absent(value):
            if path[-2] in ("Shared FB Memory Usage", "FB Memory Usage"):
                devices[-1]["memory." + path[-1].lower()] = Converter.mib(value)
            elif path[-2] in ("Shared BAR1 Memory", "BAR1 Memory Usage"):
                devices[-1]["bar1." + path[-1].lower()] = Converter.mib(value)
            elif path[-1] in keys:
                devices[-1][keys[path[-1]]] = Converter.number(value)
    for device, (profile, uuid) in zip(devices, listed):
        device.update(name="MIG " + profile, uuid=uuid)
        slices = re.match(r"(\d+)g\.", profile)
        if slices:
            device.update(gpu_slices=int(slices.group(1)), compute_slices=int(slices.group(1)))
        if "memory.total" in device:
            device["memory_mib"] = Converter.number(device["memory.total"])
    return devices


def processes_of_query(part):
    processes = []
    for path, value in lines_of_query(part):
        if path[0] != "Processes" or value is None:
            continue
        label = path[-1]
        if label == "GPU instance ID":
            processes.append({})
        if not processes or is_absent(value):
            continue
        if label == "GPU instance ID":
            processes[-1]["gpu_instance"] = int(value)
        elif label == "Compute instance ID":
            processes[-1]["compute_instance"] = int(value)
        elif label == "Process ID":
            processes[-1]["pid"] = int(value)
        elif label == "Type":
            processes[-1]["type"] = value
        elif label == "Name":
            processes[-1]["name"] = value
        elif label == "Used GPU Memory":
            processes[-1]["used_memory"] = Converter.mib(value)
    return processes


def in_driver_order(processes, apps):
    """NVML lists computing processes in an order of its own, which --query-compute-apps keeps."""
    order = [int(line.split(", ")[5]) for line in apps.splitlines()[1:] if line.count(", ") >= 5]
    place = {pid: index for index, pid in enumerate(order)}
    return sorted(processes, key=lambda process: (place.get(process["pid"], len(order)), process["pid"]))


def csv_rows(body):
    lines = body.splitlines()
    if len(lines) < 2:
        return []
    names = [name.split(" [")[0] for name in lines[0].split(", ")]
    return [dict(zip(names, line.split(", "))) for line in lines[1:] if line]


def values_of_csv(row):
    values = {}
    for field, value in row.items():
        if field not in CSV_KEYS:
            continue
        how, keys = CSV_KEYS[field]
        converted = "" if how == "text" and value == "" else convert(how, value)
        if converted is not None:
            values.update({key: converted for key in keys})
    if "compute_cap" in row and not is_absent(row["compute_cap"]):
        major, minor = row["compute_cap"].split(".")
        values.update({"compute_capability.major": int(major), "compute_capability.minor": int(minor)})
    if "ecc.sram.volatile.parity" in values:
        values.update({"ecc.sram.volatile.corrected": 0, "ecc.sram.aggregate.corrected": 0})
    return values


def values_of_table(rows):
    """From the two lines of a GPU in the table."""
    first, second = rows
    fan, temperature, state, power = re.match(r"\|\s*(\S+)\s+(\S+)\s+(\S+)\s+(\S+) /", second).groups()
    used, total = re.search(r"(\d+)MiB /\s*(\d+)MiB", second).groups()
    busy = second.split("|")[3].split()[0]
    values = {"temperature.gpu": Converter.number(temperature), "pstate": Converter.state(state),
              "memory.used": f"{used} MiB", "memory.total": f"{total} MiB"}
    for key, cell, scale in (("fans.speed_percent", fan, 1), ("power.draw_mw", power, 1000),
                             ("utilization.gpu", busy, 1)):
        if cell != "N/A":
            values[key] = Converter.number(cell) * scale
    return values


def gpus_of_table(body):
    lines = [line for line in body.splitlines() if re.match(r"\|.*\|.*\|.*\|$", line)]
    begin = [i for i, line in enumerate(lines) if re.match(r"\|\s+\d+  \S.*[0-9A-F]{8}:", line)]
    return [(lines[i], lines[i + 1]) for i in begin]


DMON_KEYS = {"pwr": ("power.draw_mw", 1000), "gtemp": ("temperature.gpu", 1), "mtemp": ("temperature.memory", 1),
             "sm": ("utilization.gpu", 1), "mem": ("utilization.memory", 1), "enc": ("utilization.encoder", 1),
             "dec": ("utilization.decoder", 1), "jpg": ("utilization.jpeg", 1), "ofa": ("utilization.ofa", 1),
             "mclk": ("clocks.current.memory", 1), "pclk": ("clocks.current.graphics", 1)}


def steps(samples):
    """One value per second; a constant where they are all the same."""
    if len(set(samples)) == 1:
        return samples[0]
    return {"steps": [[second, value] for second, value in enumerate(samples)]}


def values_of_dmon(body, gpu):
    names = body.splitlines()[0].split()[2:]
    rows = [line.split() for line in body.splitlines()[2:] if line.strip()]
    rows = [row[1:] for row in rows if row[0] == str(gpu)]
    values = {}
    for column, name in enumerate(names):
        samples = [row[column] for row in rows]
        if name in DMON_KEYS and samples and "-" not in samples:
            key, scale = DMON_KEYS[name]
            values[key] = steps([int(sample) * scale for sample in samples])
    return values


def add_pmon(processes, body, gpu):
    """Each process's utilization, second by second; where a unit has no sample the driver gives no data."""
    names = ["sm_util", "mem_util", "enc_util", "dec_util", "jpg_util", "ofa_util"]
    of = {}
    for line in body.splitlines()[2:]:
        cells = line.split()
        if len(cells) > 8 and cells[0] == str(gpu) and cells[1] != "-":
            of.setdefault(int(cells[1]), []).append(cells[3:9])
    for process in processes:
        rows = of.get(process["pid"], [])
        if not rows or all(cell == "-" for row in rows for cell in row):
            continue
        for column, name in enumerate(names):
            # 255: above 100, which says that there was none.
            samples = [255 if row[column] == "-" else int(row[column]) for row in rows]
            process[name] = steps(samples)


def values_of_capabilities(found, index):
    values = {}
    body = section(found, "capabilities", "nvidia-smi topo -m")
    for line in body.splitlines():
        cells = line.split("\t")
        if cells[0] == f"GPU{index}" and len(cells) > 4:
            affinity = [cell for cell in cells[1:] if cell]
            cpus, nodes = affinity[-3], affinity[-2]
            values.update({key: text for key, text in
                           (("affinity.cpus", cpus), ("affinity.memory_nodes", nodes)) if text != "N/A"})
    links, of_gpu = [], ""
    for line in section(found, "capabilities", "nvidia-smi nvlink -s").splitlines():
        head = re.match(r"GPU (\d+):", line)
        of_gpu = head.group(1) if head else of_gpu
        link = re.match(r"\s+Link \d+: (\S+)", line)
        if of_gpu == str(index) and link:
            links.append(link.group(1))
        if of_gpu == str(index) and "all links are inActive" in line:
            values.update({"nvlink.count": 1, "nvlink.state": 0})
    if links:
        speeds = [round(float(speed) * 1000) for speed in links if speed[0] != "<"]
        values.update({"nvlink.count": len(links), "nvlink.state": 1, "nvlink.speed_mbps": max(speeds)})
        down = [{"link": number, "state": 0} for number, speed in enumerate(links) if speed[0] == "<"]
        if down:
            values["nvlink.links"] = down
    return values


def listed_mig(found, index):
    listed, of_gpu = [], ""
    for line in section(found, "capabilities", "nvidia-smi -L").splitlines():
        head = re.match(r"GPU (\d+):", line)
        of_gpu = head.group(1) if head else of_gpu
        device = re.match(r"\s+MIG (\S+)\s+Device\s+\d+: \(UUID: (\S+)\)", line)
        if of_gpu == str(index) and device:
            listed.append(device.groups())
    return listed


def system_values(found):
    body = section(found, "capabilities", "nvidia-smi --version")
    words = dict(re.findall(r"^(.*?)\s*: (.*)$", body, re.MULTILINE))
    driver = words["NVIDIA-SMI version"]
    cuda = next(words[name] for name in ("CUDA UMD version", "CUDA Version", "CUDA version") if name in words)
    major, minor = cuda.split(".")
    return {"driver_version": driver, "nvml_version": f"{major}.{driver}",
            "cuda_version": int(major) * 1000 + int(minor) * 10}


def gpu_values(found, phase, moment, index):
    part = gpus_of_query(section(found, phase, "nvidia-smi -q"))[index]
    query = values_of_query(part)
    rows = csv_rows(section(found, phase, "nvidia-smi --query-gpu"))
    csv = values_of_csv(rows[index]) if index < len(rows) else {}
    values = {**query, **csv} if moment == "csv" else {**csv, **query}
    values.update(values_of_capabilities(found, index))
    if moment == "table":
        values.update(values_of_table(gpus_of_table(section(found, phase, "nvidia-smi"))[index]))
    if moment == "dmon":
        values.update(values_of_dmon(section(found, phase, "nvidia-smi dmon"), index))
    processes = in_driver_order(processes_of_query(part), section(found, phase, "nvidia-smi --query-compute-apps"))
    if moment == "pmon":
        add_pmon(processes, section(found, phase, "nvidia-smi pmon"), index)
    if processes:
        values["processes"] = processes
    devices = mig_devices(part, listed_mig(found, index))
    if devices:
        values.update({"mig.devices": devices, "mig.max_devices": 7})
    return values


def yaml_value(value):
    if isinstance(value, str):
        return value if re.fullmatch(r"\d+ MiB", value) else '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, list):
        return "[" + ", ".join(yaml_value(entry) for entry in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {yaml_value(entry)}" for key, entry in value.items()) + "}"
    return str(value)


def yaml(found, phase, moment, description):
    lines = ["pagoda_scenario: 1", f"description: {description}", f"system: {yaml_value(system_values(found))}", "gpus:"]
    for index in range(len(gpus_of_query(section(found, phase, "nvidia-smi -q")))):
        mark = "  - "
        for key, value in sorted(gpu_values(found, phase, moment, index).items()):
            if isinstance(value, list):
                lines.append(f"{mark}{key}:")
                lines += [f"      - {yaml_value(entry)}" for entry in value]
            else:
                lines.append(f"{mark}{key}: {yaml_value(value)}")
            mark = "    "
    return "\n".join(lines) + "\n"


def scenario(path, phase, moment):
    found = sections(pathlib.Path(path).read_text(encoding="utf-8"))
    if not section(found, phase, "nvidia-smi -q"):
        sys.exit(f"{path}: no section `# {phase} :: …` with `# $ nvidia-smi -q`")
    description = f"{phase}, as {moment} showed it"
    return yaml(found, phase, "query" if moment == "capabilities" else moment, description)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("capture")
    parser.add_argument("--phase", default="idle")
    parser.add_argument("--moment", default="query", choices=MOMENTS)
    arguments = parser.parse_args()
    sys.stdout.write(scenario(arguments.capture, arguments.phase, arguments.moment))


if __name__ == "__main__":
    main()
