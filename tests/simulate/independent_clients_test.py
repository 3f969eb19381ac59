"""NVML clients that others wrote run unmodified on simulated GPUs and show the scenario's values: nvidia-ml-py, gpustat,
nvitop.

usage: independent_clients_test.py LIBNVIDIA_ML
"""
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LIBRARY = Path()
SCENARIO = """pagoda_scenario: 1
system: {driver_version: 580.95.05, cuda_version: 13000}
gpus:
  - model: h100
    uuid: GPU-00000000-aaaa-bbbb-cccc-000000000001
    temperature: {gpu: 61, memory: 70}
    utilization: {gpu: 83, memory: 37, encoder: 5, decoder: 6}
    memory: {used: 20480 MiB}
    power: {draw_mw: 432100, limit_mw: 650 W}
    ecc: {uncorrected: {volatile: {dram: 2}, aggregate: {dram: 4}}}
    processes: [{pid: OWN_PID, name: python3, type: C, used_memory: 4096 MiB, sm_util: 71, mem_util: 30, enc_util: 0, dec_util: 0}]
  - {model: rtx4090, temperature: {gpu: 44}, fans: {speed_percent: 37}, utilization: {gpu: 9}}
  - {model: h100-mig}
"""

READ_WITH_NVIDIA_ML_PY = """
import json, pynvml as n
n.nvmlInit()
first, second, third = (n.nvmlDeviceGetHandleByIndex(i) for i in range(n.nvmlDeviceGetCount()))
memory = n.nvmlDeviceGetMemoryInfo(first, version=n.nvmlMemory_v2)
try:
    fan = n.nvmlDeviceGetFanSpeed(first)
except n.NVMLError_NotSupported:
    fan = "not supported"
mig = n.nvmlDeviceGetMigDeviceHandleByIndex(third, 1)
process = n.nvmlDeviceGetComputeRunningProcesses(first)[0]
fields = n.nvmlDeviceGetFieldValues(first, [n.NVML_FI_DEV_MEMORY_TEMP, (n.NVML_FI_DEV_POWER_INSTANT, 0)])
print(json.dumps({
    "driver": n.nvmlSystemGetDriverVersion(), "cuda": n.nvmlSystemGetCudaDriverVersion(),
    "names": [n.nvmlDeviceGetName(h) for h in (first, second, third)], "uuid": n.nvmlDeviceGetUUID(first),
    "power": n.nvmlDeviceGetPowerUsage(first), "limit": n.nvmlDeviceGetPowerManagementLimit(first),
    "temperature": n.nvmlDeviceGetTemperatureV(first, n.NVML_TEMPERATURE_GPU), "used": memory.used, "reserved": memory.reserved,
    "utilization": n.nvmlDeviceGetUtilizationRates(first).gpu, "fan": fan, "fan2": n.nvmlDeviceGetFanSpeed(second),
    "ecc": n.nvmlDeviceGetTotalEccErrors(first, n.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, n.NVML_AGGREGATE_ECC),
    "process": [process.pid, process.usedGpuMemory], "name_of_process": n.nvmlSystemGetProcessName(process.pid),
    "fields": [value.value.uiVal for value in fields], "pci": n.nvmlDeviceGetPciInfo(first).busId,
    "mig": [n.nvmlDeviceGetName(mig), n.nvmlDeviceGetGpuInstanceId(mig), n.nvmlDeviceGetMemoryInfo(mig).total],
    "parent": n.nvmlDeviceGetUUID(n.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(mig)) == n.nvmlDeviceGetUUID(third),
}))
n.nvmlDeviceSetPowerManagementLimit(first, 300000)
n.nvmlShutdown()
"""


class IndependentClients(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        scenario = Path(folder.name) / "fleet.yaml"
        scenario.write_text(SCENARIO.replace("OWN_PID", str(os.getpid())))
        self.environment = {"PATH": os.environ["PATH"], "HOME": folder.name, "PAGODA_SIMULATE": str(scenario),
                            "PAGODA_SIMULATE_DIR": folder.name, "LD_LIBRARY_PATH": str(LIBRARY.parent), "TERM": "dumb",
                            "COLUMNS": "200", "LC_ALL": "C.UTF-8"}

    def output_of(self, *command):
        done = subprocess.run([sys.executable, *command], env=self.environment, text=True, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_nvidia_ml_py(self):
        seen = json.loads(self.output_of("-c", READ_WITH_NVIDIA_ML_PY))
        self.assertEqual(seen, {
            "driver": "580.95.05", "cuda": 13000,
            "names": ["NVIDIA H100 80GB HBM3", "NVIDIA GeForce RTX 4090", "NVIDIA H100 80GB HBM3"],
            "uuid": "GPU-00000000-aaaa-bbbb-cccc-000000000001", "power": 432100, "limit": 650000, "temperature": 61,
            "used": 20480 << 20, "reserved": 479 << 20, "utilization": 83, "fan": "not supported", "fan2": 37, "ecc": 4,
            "process": [os.getpid(), 4096 << 20], "name_of_process": "python3", "fields": [70, 432100],
            "pci": "00000000:18:00.0", "mig": ["NVIDIA H100 80GB HBM3 MIG 2g.20gb", 3, 20096 << 20], "parent": True})
        # What this client set, the next one sees.
        self.assertIn("300", self.output_of("-m", "gpustat", "--no-color", "--show-power=limit").splitlines()[1])

    def test_gpustat(self):
        seen = json.loads(self.output_of("-m", "gpustat", "--json"))
        self.assertEqual(seen["driver_version"], "580.95.05")
        first, second, third = seen["gpus"]
        self.assertEqual((first["name"], first["temperature.gpu"], first["utilization.gpu"]), ("NVIDIA H100 80GB HBM3", 61, 83))
        self.assertEqual((first["power.draw"], first["enforced.power.limit"]), (432, 650))
        self.assertIsNone(first["fan.speed"])
        self.assertEqual((first["utilization.enc"], first["utilization.dec"]), (5, 6))
        self.assertEqual(first["processes"][0]["pid"], os.getpid())
        self.assertEqual(first["processes"][0]["gpu_memory_usage"], 4096)
        self.assertEqual((second["fan.speed"], second["utilization.gpu"]), (37, 9))
        self.assertIsNone(third["utilization.gpu"])  # in MIG mode there is none, and it is not shown as 0

    def test_nvitop(self):
        screen = self.output_of("-m", "nvitop", "--once", "--no-unicode")
        self.assertIn("Driver Version: 580.95.05", screen)
        self.assertRegex(screen, r"CUDA (Driver )?Version: 13\.0")
        first = re.search(r"H100 80GB HBM3.*\n.*61C.*432W / 650W.*83%", screen)
        self.assertIsNotNone(first, screen)
        self.assertRegex(screen, r"37%\s+44C")
        self.assertRegex(screen, rf"{os.getpid()} C .*4096MiB +71 +30")
        self.assertRegex(screen, r"MIG|2g\.20gb")


if __name__ == "__main__":
    LIBRARY = Path(sys.argv.pop()).resolve()
    absent = [name for name in ("pynvml", "gpustat", "nvitop") if importlib.util.find_spec(name) is None]
    if absent:
        print(f"skipped: {', '.join(absent)} not installed (tests/requirements.txt)")
        sys.exit(77)
    unittest.main()
