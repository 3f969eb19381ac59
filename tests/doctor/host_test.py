"""A live examination of machines that are laid out in folders: presence of GPU, driver and device files, the kernel's
log, and who holds the GPUs."""
import pathlib
import sys
import tempfile

from doctor import examine

PROGRAM = sys.argv[1]
MODULE = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.172.08  Tue Jul  8 18:20:00 UTC 2025\n"
CONTAINER = "4f3c" * 16


class Machine:
    def __init__(self, folder):
        self.root = pathlib.Path(folder)
        for name in ("proc", "sys/bus/pci/devices", "dev", "usr/lib/x86_64-linux-gnu"):
            (self.root / name).mkdir(parents=True)
        self.file("dev/kmsg", "6,1,100000,-;Linux version 6.1.0\n")

    def file(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def gpu(self, address, driver, device="0x2330", device_class="0x030200"):
        folder = f"sys/bus/pci/devices/{address}"
        self.file(f"{folder}/vendor", "0x10de\n")
        self.file(f"{folder}/device", device + "\n")
        self.file(f"{folder}/class", device_class + "\n")
        if driver:
            (self.root / folder / "driver").symlink_to(f"../../../../bus/pci/drivers/{driver}")

    def driver(self, library="570.172.08"):
        self.file("proc/driver/nvidia/version", MODULE)
        self.file("dev/nvidiactl", "")
        self.file(f"usr/lib/x86_64-linux-gnu/libcuda.so.{library}", "")

    def process(self, pid, name, device, state="S", cgroup="0::/user.slice\n", thread=None):
        folder = f"proc/{pid}"
        self.file(f"{folder}/comm", name + "\n")
        self.file(f"{folder}/stat", f"{pid} ({name}) {state} 1 1\n")
        self.file(f"{folder}/cgroup", cgroup)
        files = self.root / folder / ("fd" if thread is None else f"task/{thread}/fd")
        (self.root / folder / "fd").mkdir(parents=True)
        files.mkdir(parents=True, exist_ok=True)
        (files / "3").symlink_to(device)
        (files / "4").symlink_to("/dev/nvidiactl")


def healthy(machine):
    machine.gpu("0000:3b:00.0", "nvidia")
    machine.driver()
    machine.process(4121, "python3", "/dev/nvidia0", cgroup=f"0::/docker/{CONTAINER}\n")
    return "none", [], ["H", "570.172.08", "process 4121 (python3) holds /dev/nvidia0 from container 4f3c4f3c4f3c"]


def no_gpu(_):
    return "none", [], ["no NVIDIA GPU"]


def nouveau(machine):
    machine.gpu("0000:01:00.0", "nouveau", "0x2204")
    return "fault", ["nouveau owns 0000:01:00.0"], []


def not_loaded(machine):
    machine.gpu("0000:3b:00.0", None)
    machine.gpu("0000:86:00.0", None)
    return "fault", ["2 NVIDIA GPU(s) on the bus (0000:3b:00.0, 0000:86:00.0)"], []


def upgraded(machine):
    machine.gpu("0000:3b:00.0", "nvidia")
    machine.driver("570.195.03")
    return "fault", ["570.195.03", "570.172.08"], []


def kernel_log(machine):
    machine.gpu("0000:3b:00.0", "nvidia")
    machine.driver()
    machine.file("dev/kmsg", "4,900,8123104511,-;NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has "
                             "fallen off the bus.\n SUBSYSTEM=pci\n")
    return "fault", ["GPU 0000:3b:00 fell off the bus (XID 79)"], []


def dead_holder(machine):
    machine.gpu("0000:3b:00.0", "nvidia")
    machine.driver()
    machine.process(77, "trainer", "/dev/nvidia0", state="Z", thread=78)
    return "warning", ["process 77 (trainer) has ended and still holds /dev/nvidia0"], []


def no_device_files(machine):
    machine.gpu("0000:3b:00.0", "nvidia")
    machine.driver()
    (machine.root / "dev/nvidiactl").unlink()
    return "fault", ["/dev/nvidiactl"], []


def no_fabric_manager(machine):
    machine.gpu("0000:3b:00.0", "nvidia")
    machine.gpu("0000:c1:00.0", "nvidia-nvswitch", "0x22a3", "0x068000")
    machine.driver()
    return "fault", ["1 NVSwitches are on the bus and fabric manager is not running"], []


def passed_through(machine):
    machine.gpu("0000:3b:00.0", "vfio-pci")
    return "none", [], ["given to a virtual machine"]


def main():
    faults = []
    machines = [healthy, no_gpu, nouveau, not_loaded, upgraded, kernel_log, dead_holder, no_device_files,
                no_fabric_manager, passed_through]
    for make in machines:
        with tempfile.TemporaryDirectory() as folder:
            severity, causes, seen = make(Machine(folder))
            report = examine(PROGRAM, flags=["--root", folder])
        told = " | ".join(story["cause"] for story in report["stories"])
        shown = " | ".join(f"{o['subject']} {o['text']}" for o in report["observations"])
        if report["severity"] != severity:
            faults.append(f"{make.__name__}: {report['severity']}, not {severity}: {told}")
        faults += [f"{make.__name__}: no '{text}' in: {told}" for text in causes if text not in told]
        faults += [f"{make.__name__}: not seen '{text}': {shown}" for text in seen if text not in shown]
        if not any("NVML" in gap for gap in report["gaps"]):
            faults.append(f"{make.__name__}: it does not say that NVML was not read")
    for fault in faults:
        print(fault)
    print(f"{len(faults)} faults" if faults else f"ok: {len(machines)} machines")
    sys.exit(1 if faults else 0)


main()
