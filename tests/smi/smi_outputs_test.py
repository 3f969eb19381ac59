"""Every form of output for four machines, from scenarios of NVML values: SHA-256 of each output with its time stamps
masked. The digests are those of outputs that were equal to real ones byte for byte (tools/compare_captures.py).
`--regenerate` writes them anew; look at the difference of the outputs first."""
import hashlib
import json
import sys

from simulated_smi import HERE, SimulatedMachine, masked

SCENARIOS = ["hopper", "hopper-mig", "ada", "turing"]
APPS = "timestamp,gpu_name,gpu_bus_id,gpu_serial,gpu_uuid,pid,process_name,used_gpu_memory"
COMMANDS = [
    [], ["-L"], ["-q"], ["--version"], ["topo", "-m"], ["nvlink", "-s"], ["nvlink", "-e"],
    ["-q", "-d", "MEMORY,ECC,TEMPERATURE,POWER,CLOCK,COMPUTE,PIDS,PERFORMANCE,PAGE_RETIREMENT,ROW_REMAPPER"],
    ["-q", "-x"], ["--query-compute-apps=" + APPS, "--format=csv"],
    ["--query-retired-pages=timestamp,gpu_uuid,retired_pages.address,retired_pages.cause", "--format=csv"],
    ["dmon", "-c", "1"], ["dmon", "-c", "1", "-s", "pucvmet"], ["pmon", "-c", "1"], ["--style", "R550"],
    ["-q", "--style", "R570"], ["--explain"], ["-q", "--json"],
]
DIGESTS = HERE / "output_digests.json"


def all_fields(machine):
    """Every field that there is, in the order of the list."""
    code, text = machine.smi("--help-query-gpu")
    assert code == 0, text
    return ",".join(line.split('"')[1] for line in text.splitlines() if line.startswith('"'))


def outputs(pagoda, library):
    for scenario in SCENARIOS:
        machine = SimulatedMachine(pagoda, library, scenario)
        for words in COMMANDS + [["--query-gpu=" + all_fields(machine), "--format=csv"]]:
            code, text = machine.smi(*words)
            name = " ".join([scenario] + [word if len(word) < 60 else word.split("=")[0] for word in words])
            yield name, code, text


def main():
    digests, faults = {}, []
    for name, code, text in outputs(sys.argv[1], sys.argv[2]):
        if code != 0:
            faults.append(f"{name}: exit status {code}: {text[:200]}")
        digests[name] = hashlib.sha256(masked(text).encode()).hexdigest()
    if "--regenerate" in sys.argv:
        DIGESTS.write_text(json.dumps(digests, indent=1) + "\n", encoding="utf-8")
    expected = json.loads(DIGESTS.read_text(encoding="utf-8"))
    faults += [f"{name}: another output than was recorded" for name in expected if digests.get(name) != expected[name]]
    faults += [f"{name}: not recorded" for name in digests if name not in expected]
    for fault in faults:
        print(fault)
    print(f"{len(digests)} outputs, {len(faults)} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
