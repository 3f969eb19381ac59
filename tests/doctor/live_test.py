"""Live examinations of simulated machines: every kind of fault gets its verdict, every healthy machine none."""
import os
import subprocess
import sys
import time

from simulated import SimulatedMachine

PROGRAM = sys.argv[1]

HEALTHY = ["h100x8", "h100x8:training", "h100x2:inference", "a100x2:training", "a100:inference", "a100-mig", "h100-mig",
           "h200", "b200x2:training", "gb200", "l40s:inference", "t4", "rtx4090:training", "rtx3080:inference",
           "mixed-fleet", "no-permission"]

# scenario, seconds since it began, severity, root of the worst story, all findings that must be there, words of its
# cause, words of what to do
FAULTS = [
    ("thermal-throttle", 100, "warning", {"thermal-slowdown", "margin-used-up"}, ["thermal-slowdown", "margin-used-up"],
     ["GPU 0000:"], ["better cooling", "power limit"]),
    ("power-brake", 30, "warning", {"power-brake"}, ["power-brake"], ["power supply or the chassis"],
     ["check the power supply"]),
    ("bad-memory", 60, "fault", None, ["ecc-uncorrected", "remapped-rows", "remap-pending", "recovery-action"],
     ["uncorrected memory errors"], ["GPU reset"]),
    ("remap-failure", 60, "fault", {"remap-failed", "ecc-uncorrected-again"},
     ["remap-failed", "ecc-uncorrected-again", "remapped-rows", "remap-banks-used-up"], [], ["replace the card"]),
    ("nvlink-down", 60, "warning", {"nvlink-inactive", "nvlink-errors"}, ["nvlink-inactive", "nvlink-errors"],
     [], ["check the links"]),
    ("lost-gpu", 60, "fault", {"gpu-lost"}, ["gpu-lost"], ["is lost"], ["drain the node", "reboot the node"]),
    ("hanging-gpu", 1, "fault", {"gpu-hangs"}, ["gpu-hangs"], ["hangs"], ["drain the node", "reboot the node"]),
    ("driver-mismatch", 1, "fault", {"nvml-mismatch"}, ["nvml-mismatch"], ["595.71.05", "upgrade without a reboot"],
     ["reload the modules", "reboot the node"]),
    ("driver-not-loaded", 1, "fault", {"nvml-not-running"}, ["nvml-not-running"], ["module is not loaded"],
     ["load the module"]),
    ("no-gpus", 1, "fault", {"no-devices"}, ["no-devices"], ["has no GPU"], ["on the bus"]),
]

ONE = "pagoda_scenario: 1\ngpus:\n  - {}\n"
# A machine, and words of what is said of its load, or of its findings.
LOADS = [
    ("h100x2:training", ["compute-bound", "power cap as designed (0x4)", "SM ", "memory bandwidth", "mean of"], []),
    ("h100:inference", ["bandwidth-bound"], []),
    ("a100:inference", ["bandwidth-bound"], []),
    ("h100", ["idle"], []),
    (ONE.format("{model: h100, utilization: {gpu: 96, memory: 20}, gpm: {graphics_util: 96, sm_util: 14, sm_occupancy: 4, "
                "any_tensor_util: 3, dram_bw_util: 12}}"), ["few of its units"], []),
    (ONE.format("{model: a100, memory: {used: 40 GiB}, processes: []}"), ["holds memory"], ["memory-without-process"]),
    (ONE.format("{model: rtx4090, pstate: 2, utilization: {gpu: 99, memory: 30}, pcie: {link_gen: {current: 4}}}"),
     ["compute-bound", "P2"], []),
    (ONE.format("{model: a100, pstate: 8, utilization: {gpu: 99, memory: 30}}"), ["compute-bound"],
     ["low-state-under-load"]),
    # A link rests when the GPU does: judged only under load.
    (ONE.format("{model: a100, pcie: {link_gen: {current: 1}, link_width: {current: 8}}}"), [], []),
    (ONE.format("{model: a100, utilization: {gpu: 99, memory: 30}, pcie: {link_width: {current: 8}}}"), [],
     ["pcie-narrow"]),
    (ONE.format("{model: a100, pcie: {replays: {slope: {from: 0, per_second: 200}}}}"), [], ["pcie-replays"]),
    # One reading in a window that is over the threshold is no fault; half of them are.
    (ONE.format("{model: a100, utilization: {gpu: 99, memory: 30}, clocks: {event_reasons: {steps: [[0, 0x40], [0.05, 0x0]]}}}"),
     [], []),
    # The limit is each card's own: 88 degrees is nothing to one that slows down at 98.
    (ONE.format("{model: rtx4090, temperature: {gpu: 86, threshold: {slowdown: 98, shutdown: 103}}}"), [], []),
    (ONE.format("{model: rtx4090, temperature: {gpu: 99, threshold: {slowdown: 98, shutdown: 103}}}"), [], ["too-hot"]),
    (ONE.format("{model: rtx4090, temperature: {gpu: 104, threshold: {slowdown: 98, shutdown: 103}}}"), [],
     ["shutdown-heat"]),
    (ONE.format("{model: h100, power: {draw_mw: UNKNOWN}}"), [], ["reading-failed"]),
]


def ids_of(report):
    return [finding["id"] for story in report["stories"] for finding in story["findings"]]


def healthy(faults):
    for scenario in HEALTHY:
        with SimulatedMachine(PROGRAM, scenario) as machine:
            machine.begin(120)
            report = machine.examine()
        if report["stories"] or report["severity"] != "none":
            faults.append(f"{scenario}: {[story['cause'] for story in report['stories']]}")
        if not any("NVML" == seen["subject"] for seen in report["observations"]):
            faults.append(f"{scenario}: NVML was not read: {report['gaps']}")


def faulty(faults):
    for scenario, begun, severity, roots, ids, causes, actions in FAULTS:
        with SimulatedMachine(PROGRAM, scenario) as machine:
            machine.begin(begun)
            report = machine.examine()
        found = ids_of(report)
        if report["severity"] != severity or not report["stories"]:
            faults.append(f"{scenario}: {report['severity']} {found}, not {severity}")
            continue
        worst = report["stories"][0]
        root = worst["findings"][0]["id"]
        if roots and root not in roots:
            faults.append(f"{scenario}: root {root}, not {roots}")
        if sorted(set(found)) != sorted(ids):
            faults.append(f"{scenario}: findings {sorted(set(found))}, not {sorted(ids)}")
        told = " | ".join(story["cause"] for story in report["stories"])
        to_do = " | ".join(action["text"] for story in report["stories"] for action in story["actions"])
        faults += [f"{scenario}: no '{words}' in: {told}" for words in causes if words not in told]
        faults += [f"{scenario}: no '{words}' in: {to_do}" for words in actions if words not in to_do]


def loads(faults):
    for scenario, words, ids in LOADS:
        with SimulatedMachine(PROGRAM, scenario) as machine:
            report = machine.examine(window="1.6")
        seen = " | ".join(f"{o['subject']}: {o['text']}" for o in report["observations"])
        if ids_of(report) != ids:
            faults.append(f"{scenario}: {ids_of(report)}, not {ids}")
        faults += [f"{scenario}: '{text}' is not in: {seen}" for text in words if text not in seen]


BUSY = "import sys\nwhile True: pass"
WAITING = ("pagoda_scenario: 1\ngpus: [{{model: a100, memory: {{used: 40 GiB}}, utilization: {{gpu: 12, memory: 3}}, "
           "processes: [{{pid: {}, name: python3, type: C, used_memory: 39 GiB}}]}}]\n")


def waits_for_the_cpu(faults):
    """A real process stands for the GPU's: one that keeps a CPU busy, and one that sleeps."""
    for code, words in ((BUSY, "waits for the CPU (one thread of process"), ("import time\ntime.sleep(99)", "waits for work")):
        child = subprocess.Popen([sys.executable, "-c", code])
        try:
            time.sleep(0.3)
            with SimulatedMachine(PROGRAM, WAITING.format(child.pid)) as machine:
                # The machine that runs the tests may be busy itself: then the CPU share of the loop is small.
                for _ in range(5):
                    report = machine.examine(window="2")
                    seen = " | ".join(o["text"] for o in report["observations"])
                    if words in seen:
                        break
                else:
                    faults.append(f"{words}: not in {seen}")
        finally:
            child.kill()
            child.wait()


def events(faults):
    """An XID that NVML tells during the window; with its GPU lost it is the story's root."""
    with SimulatedMachine(PROGRAM, "lost-gpu") as machine:
        machine.begin(8.5)  # it falls at 10
        report = machine.examine(window="4")
    found = [[finding["id"] for finding in story["findings"]] for story in report["stories"]]
    if found != [["xid-79", "gpu-lost"]]:
        faults.append(f"XID 79 while looking: {found}")
    for xid, severity in ((48, "fault"), (63, "warning"), (13, "warning")):
        events = ", ".join(f"{{at_s: {at}, xid: {xid}}}" for at in (1, 2, 3, 4))
        scenario = ONE.format(f"{{model: h100, xids: [{events}]}}")
        with SimulatedMachine(PROGRAM, scenario) as machine:
            machine.begin(0)
            report = machine.examine(window="3")  # one of them falls into it, however slowly the program starts
        if ids_of(report) != [f"xid-{xid}"] or report["severity"] != severity:
            faults.append(f"XID {xid}: {ids_of(report)} {report['severity']}")


def this_machine(faults):
    """Whatever this machine has: doctor comes to an end, says what it saw, and its gaps name NVML where there is none."""
    done = subprocess.run([PROGRAM, "doctor", "--window", "0.2"], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "PAGODA_SIMULATE": ""} if "PAGODA_SIMULATE" in os.environ else None)
    if done.returncode not in (0, 1, 2) or done.stderr or "pagoda doctor:" not in done.stdout:
        faults.append(f"this machine: {done.returncode} {done.stderr} {done.stdout[:500]}")


def main():
    faults = []
    for test in (healthy, faulty, loads, waits_for_the_cpu, events, this_machine):
        test(faults)
    for fault in faults:
        print(fault)
    print(f"{len(faults)} faults" if faults else
          f"ok: {len(HEALTHY)} healthy machines, {len(FAULTS)} faulty ones, {len(LOADS)} loads")
    sys.exit(1 if faults else 0)


main()
