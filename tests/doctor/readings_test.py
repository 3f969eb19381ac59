"""Readings against thresholds: what is wrong is found with its line, what is well is left alone. One machine in each form."""
import sys

from doctor import examine

PROGRAM = sys.argv[1]


def query(**changes):
    """A healthy H100's -q, in the words of R590, with some of its values changed."""
    values = {
        "GPU Recovery Action": "None", "Performance State": "P0", "HW Slowdown": "Not Active",
        "HW Thermal Slowdown": "Not Active", "HW Power Brake Slowdown": "Not Active", "SW Power Cap": "Active",
        "SW Thermal Slowdown": "Not Active", "GPU": "97 %", "Memory": "40 %", "Max gen": "5", "Current gen": "5",
        "Max width": "16x", "Current width": "16x", "Volatile DRAM": "0", "Aggregate DRAM": "0", "Threshold": "No",
        "Remap uncorrectable": "0", "Remap pending": "No", "Remap failure": "No", "Banks none": "0 bank(s)",
        "Current Temp": "66 C", "Limit Temp": "21 C", "Slowdown": "-2 C", "Shutdown": "-8 C", "State": "Completed",
        "Status": "Success", "Unrepairable": "No",
    }
    unknown = set(changes) - set(values)
    assert not unknown, unknown
    values |= changes
    return """==============NVSMI LOG==============

Driver Version                                         : 590.48.01
Attached GPUs                                          : 1
GPU 00000000:3B:00.0
    Product Name                                       : NVIDIA H100 80GB HBM3
    GPU Recovery Action                                : {GPU Recovery Action}
    PCI
        GPU Link Info
            PCIe Generation
                Max                                    : {Max gen}
                Current                                : {Current gen}
            Link Width
                Max                                    : {Max width}
                Current                                : {Current width}
    Performance State                                  : {Performance State}
    Clocks Event Reasons
        Idle                                           : Not Active
        SW Power Cap                                   : {SW Power Cap}
        HW Slowdown                                    : {HW Slowdown}
            HW Thermal Slowdown                        : {HW Thermal Slowdown}
            HW Power Brake Slowdown                    : {HW Power Brake Slowdown}
        SW Thermal Slowdown                            : {SW Thermal Slowdown}
    FB Memory Usage
        Total                                          : 81559 MiB
        Used                                           : 60000 MiB
    Utilization
        GPU                                            : {GPU}
        Memory                                         : {Memory}
    ECC Errors
        Volatile
            SRAM Uncorrectable Parity                  : 0
            DRAM Uncorrectable                         : {Volatile DRAM}
        Aggregate
            SRAM Uncorrectable Parity                  : 0
            DRAM Uncorrectable                         : {Aggregate DRAM}
            SRAM Threshold Exceeded                    : {Threshold}
        Unrepairable Memory                            : {Unrepairable}
    Remapped Rows
        Uncorrectable Error                            : {Remap uncorrectable}
        Pending                                        : {Remap pending}
        Remapping Failure Occurred                     : {Remap failure}
        Bank Remap Availability Histogram
            None                                       : {Banks none}
    Temperature
        GPU Current Temp                               : {Current Temp}
        GPU T.Limit Temp                               : {Limit Temp}
        GPU Shutdown T.Limit Temp                      : {Shutdown}
        GPU Slowdown T.Limit Temp                      : {Slowdown}
    Fabric
        State                                          : {State}
        Status                                         : {Status}
    Processes
        GPU instance ID                                : N/A
            Process ID                                 : 4121
""".format_map(values)



# Changes → ids of the stories' roots, severity.
QUERIES = [
    ({}, [], "none"),
    ({"Current Temp": "88 C", "Limit Temp": "3 C"}, [], "none"),  # hot, and within its own margin
    ({"Limit Temp": "-2 C"}, ["margin-used-up"], "warning"),
    ({"Limit Temp": "-9 C"}, ["shutdown-heat"], "fault"),
    ({"HW Slowdown": "Active", "HW Thermal Slowdown": "Active"}, ["thermal-slowdown"], "warning"),
    ({"HW Slowdown": "Active", "HW Power Brake Slowdown": "Active"}, ["power-brake"], "warning"),
    ({"HW Slowdown": "Active"}, ["hardware-slowdown"], "warning"),
    ({"Volatile DRAM": "1", "Aggregate DRAM": "1"}, ["ecc-uncorrected"], "warning"),
    ({"Volatile DRAM": "0", "Aggregate DRAM": "3"}, ["ecc-uncorrected"], "warning"),
    ({"Volatile DRAM": "1", "Aggregate DRAM": "4"}, ["ecc-uncorrected-again"], "fault"),
    ({"Remap pending": "Yes"}, ["remap-pending"], "warning"),
    ({"Remap failure": "Yes"}, ["remap-failed"], "fault"),
    ({"Remap uncorrectable": "512"}, ["remapped-rows-full"], "fault"),
    ({"Remap uncorrectable": "511"}, ["remapped-rows"], "warning"),
    ({"Banks none": "2 bank(s)"}, ["remap-banks-used-up"], "warning"),
    ({"Threshold": "Yes"}, ["sram-threshold"], "fault"),
    ({"Unrepairable": "Yes"}, ["unrepairable-memory"], "fault"),
    ({"Current width": "8x"}, ["pcie-narrow"], "warning"),
    ({"Current gen": "1"}, ["pcie-slow"], "warning"),
    ({"Current gen": "1", "GPU": "0 %"}, [], "none"),  # links rest
    ({"Performance State": "P8"}, ["low-state-under-load"], "warning"),
    ({"Performance State": "P2"}, [], "none"),
    ({"GPU Recovery Action": "Drain and Reset"}, ["recovery-action"], "fault"),
    ({"State": "In Progress", "Status": "N/A"}, ["fabric-not-ready"], "fault"),
    ({"Current Temp": "N/A", "Limit Temp": "N/A", "GPU": "N/A"}, [], "none"),
    ({"Volatile DRAM": "2", "Aggregate DRAM": "5", "Remap failure": "Yes"}, ["ecc-uncorrected-again"], "fault"),
]

TABLE = """+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 590.48.01              Driver Version: 590.48.01      CUDA Version: 13.1     |
+-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
|   0  NVIDIA A100-SXM4-80GB          On  |   00000000:07:00.0 Off |                    {} |
| N/A   {}    P0             69W /  400W |   {}MiB /  81920MiB |      {}      Default |
|                                         |                        |             Disabled |
+-----------------------------------------+------------------------+----------------------+
|   1  NVIDIA A100-SXM4-80GB          On  |   00000000:0A:00.0 Off |                    0 |
| N/A   41C    P0             69W /  400W |       0MiB /  81920MiB |      0%      Default |
|                                         |                        |             Disabled |
+-----------------------------------------+------------------------+----------------------+

+-----------------------------------------------------------------------------------------+
| Processes:                                                                              |
|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |
|        ID   ID                                                               Usage      |
|=========================================================================================|
|  No running processes found                                                             |
+-----------------------------------------------------------------------------------------+
"""
OLD = """|===============================+======================+======================|
|   0  GeForce RTX 3080    Off  | 00000000:01:00.0  On |                  N/A |
| {}   {}    P0    {} / 320W|   2048MiB / 10240MiB |     {}      Default |
+-------------------------------+----------------------+----------------------+
"""
OLD_HEAD = """+-----------------------------------------------------------------------------+
| NVIDIA-SMI 450.80.02    Driver Version: 450.80.02    CUDA Version: 11.0     |
|-------------------------------+----------------------+----------------------+
| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |
"""
LINKS = "GPU {}: NVIDIA H100 80GB HBM3 (UUID: GPU-0000000{}-1111-2222-3333-444444444444)\n" + "".join(
    f"\t Link {i}: {{}}\n" for i in range(4))
UP, DOWN = "26.562 GB/s", "<inactive>"

TEXTS = [
    (TABLE.format(0, "41C", "    0", "0%"), [], "none"),
    (TABLE.format(0, "86C", "    0", "0%"), ["too-hot"], "warning"),
    (TABLE.format(0, "85C", "    0", "0%"), [], "none"),
    (TABLE.format(2, "41C", "    0", "0%"), ["ecc-uncorrected"], "warning"),
    (TABLE.format(0, "41C", "70000", "0%"), ["memory-without-process"], "note"),
    (TABLE.format(0, "41C", "70000", "99%"), [], "none"),
    (OLD_HEAD + OLD.format("30%", "65°C", "120W", "45%"), [], "none"),
    (OLD_HEAD + OLD.format("30%", "91C", "300W", "99%"), ["too-hot"], "warning"),
    (OLD_HEAD + OLD.format("ERR!", "ERR!", "ERR!", "ERR!"), ["gpu-not-answering"], "fault"),
    (OLD_HEAD + OLD.format("30%", "65C", "ERR!", "45%"), ["reading-failed"], "note"),
    (LINKS.format(0, 0, UP, UP, UP, UP) + LINKS.format(1, 1, UP, UP, UP, UP), [], "none"),
    (LINKS.format(0, 0, UP, UP, UP, UP) + LINKS.format(1, 1, UP, DOWN, UP, UP), ["nvlink-inactive"], "warning"),
    ("index, temperature.gpu, utilization.gpu [%]\n0, 96, 100 %\n", ["too-hot"], "warning"),
    ("utilization.gpu [%], utilization.memory [%]\n99 %, 20 %\n", [], "none"),
    # The threshold stands in another output of the same GPU.
    ("index, pci.bus_id, temperature.gpu, utilization.gpu [%]\n0, 00000000:3B:00.0, 88, 100 %\n\n"
     + query(**{"Current Temp": "88 C", "Limit Temp": "3 C"}), [], "none"),
]


def check(label, report, roots, severity, faults):
    got = [story["findings"][0]["id"] for story in report["stories"]]
    if got != roots or report["severity"] != severity:
        faults.append(f"{label}: {got} {report['severity']}, not {roots} {severity}")
    for story in report["stories"]:
        for finding in story["findings"]:
            if not all(e["line"] and e["text"] for e in finding["evidence"]):
                faults.append(f"{label}: {finding['id']} without its line")


def main():
    faults = []
    for changes, roots, severity in QUERIES:
        check(f"-q with {changes}", examine(PROGRAM, "-", stdin=query(**changes).encode()), roots, severity, faults)
    for text, roots, severity in TEXTS:
        check(text[:3000], examine(PROGRAM, "-", stdin=text.encode()), roots, severity, faults)
    for fault in faults:
        print(fault)
    print(f"{len(faults)} faults" if faults else f"ok: {len(QUERIES) + len(TEXTS)} outputs")
    sys.exit(1 if faults else 0)


main()
