"""Every error that the guide's path may meet, as the tools print it, through the command that a person would type:
the paste into standard input, and the file."""
import pathlib
import sys
import tempfile

from doctor import examine

PROGRAM = sys.argv[1]

# what the guide calls it: (the paste, the finding, words of its cause, words of what to do, a command)
ERRORS = {
    'could not select device driver "" with capabilities: [[gpu]]': (
        'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].\n\n'
        "Run 'docker run --help' for more information\n",
        "docker-no-gpu-driver", ["container toolkit is not installed"], ["toolkit", "restart Docker"], "pagoda ctk install"),
    "the same from compose": (
        'Error response from daemon: could not select device driver "nvidia" with capabilities: [[gpu utility]]\n',
        "docker-no-gpu-driver", ["container toolkit"], ["tell Docker of it"], "pagoda ctk runtime configure --runtime=docker"),
    "unknown or invalid runtime name: nvidia": (
        "docker: Error response from daemon: unknown or invalid runtime name: nvidia.\nSee 'docker run --help'.\n",
        "docker-unknown-runtime", ["daemon.json"], ["restart Docker"], "systemctl restart docker"),
    "nvidia-container-cli: initialization error: … driver not loaded": (
        "docker: Error response from daemon: failed to create task for container: failed to create shim task: OCI runtime create "
        "failed: runc create failed: unable to start container process: error during container init: error running prestart hook "
        "#0: exit status 1, stdout: , stderr: Auto-detected mode as 'legacy'\nnvidia-container-cli: initialization error: nvml "
        "error: driver not loaded: unknown.\n",
        "container-driver-not-loaded", ["host's driver is not loaded"], ["load the module"], "modprobe nvidia"),
    "unsatisfied condition: cuda>=…": (
        "nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.4, please update your driver to a newer "
        "version, or use an earlier cuda container: unknown.\n",
        "container-condition", ["cuda>=12.4", "550.54.14"], ["install a newer driver", "older CUDA"], "pagoda driver"),
    "unresolvable CDI devices nvidia.com/gpu=…": (
        "Error: setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=all\n",
        "cdi-unresolvable", ["nvidia.com/gpu=all"], ["generate the specification"], "pagoda ctk cdi generate"),
    "the same from Docker": (
        "docker: Error response from daemon: CDI device injection failed: unresolvable CDI devices nvidia.com/gpu=0\n",
        "cdi-unresolvable", ["nvidia.com/gpu=0"], ["which devices it names"], "pagoda ctk cdi list"),
    "nvidia-smi: command not found": (
        "$ nvidia-smi\nbash: nvidia-smi: command not found\n",
        "smi-missing", ["nvidia-smi is not installed"], ["install the driver"], "pagoda driver install"),
    "libcuda.so.1: cannot open shared object file": (
        'Traceback (most recent call last):\n  File "/usr/bin/x.py", line 1, in <module>\n    import torch\nImportError: '
        "libcuda.so.1: cannot open shared object file: No such file or directory\n",
        "libcuda-missing", ["libcuda.so.1 is missing"], ["install the driver", "start it with its GPUs"], "docker run --gpus all"),
    "CUDA driver version is insufficient for CUDA runtime version": (
        "CUDA error at main.cu:12 code=35(cudaErrorInsufficientDriver)\nCUDA driver version is insufficient for CUDA runtime "
        "version\n",
        "cuda-driver-old", ["too old for this program's CUDA"], ["install a newer driver"], "pagoda driver recommend"),
    "no kernel image is available for execution on the device": (
        "RuntimeError: CUDA error: no kernel image is available for execution on the device\nCUDA kernel errors might be "
        "asynchronously reported at some other API call\n",
        "cuda-no-kernel-image", ["no code for this GPU"], ["architecture"], ""),
    "The model's max seq len (…) is larger than the maximum number of tokens that can be stored in KV cache (…)": (
        "ERROR 11-30 09:12:00 engine.py:366] The model's max seq len (32768) is larger than the maximum number of tokens that "
        "can be stored in KV cache (17728). Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when "
        "initializing the engine.\n",
        "kv-too-small", ["32768", "17728 tokens"], ["shorter context"], "--max-model-len 17728"),
    "address already in use (vLLM)": (
        "ERROR:    [Errno 98] error while attempting to bind on address ('0.0.0.0', 8000): address already in use\n",
        "port-in-use", ["8000", "vLLM and Triton both want 8000"], ["see who has it", "another port"], "sport = :8000"),
    "address already in use (Triton)": (
        "E1130 09:12:00.120000 1 server.cc:1] failed to start HTTP service: Unavailable - Socket '0.0.0.0:8000' already in use "
        "\nerror: creating server: Internal - failed to start HTTP service: address already in use\n",
        "port-in-use", ["vLLM and Triton both want 8000"], ["another port"], "tritonserver --http-port"),
    "address already in use (Docker)": (
        "docker: Error response from daemon: driver failed programming external connectivity on endpoint x: Bind for "
        "0.0.0.0:8000 failed: port is already allocated.\n",
        "port-in-use", ["8000"], ["another port"], "ss -ltnp"),
    "shared memory too small": (
        "RuntimeError: DataLoader worker (pid 77) is killed by signal: Bus error. It is possible that dataloader's workers are "
        "out of shared memory. Please try to raise your shared memory limit.\n",
        "shared-memory", ["/dev/shm is too small"], ["more shared memory"], "docker run --shm-size=16g …\ndocker run --ipc=host …"),
    "shared memory too small (NCCL)": (
        "node0:1:1 [0] misc/shmutils.cc:72 NCCL WARN Error while creating shared memory segment /dev/shm/nccl-8Fbn1s (size "
        "9637888)\n",
        "shared-memory", ["/dev/shm is too small"], ["more shared memory"], "--ipc=host"),
    "the model's folder not found inside the container": (
        "huggingface_hub.errors.HFValidationError: Repo id must be in the form 'repo_name' or 'namespace/repo_name': "
        "'/models/Qwen2.5-7B-Instruct'. Use `repo_type` argument if needed.\n",
        "model-folder-missing", ["/models/Qwen2.5-7B-Instruct", "container"], ["mount the folder"],
        "docker run -v /path/to/models:/models"),
    "the model's folder without a config": (
        "OSError: /models/Qwen does not appear to have a file named config.json. Checkout 'https://example.com' for available "
        "files.\n",
        "model-not-a-folder", ["/models/Qwen"], ["mount the folder"], "docker run -v"),
    "CUDA out of memory, old wording": (
        "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 1; 23.69 GiB total capacity; 22.04 GiB already "
        "allocated; 7.94 MiB free; 22.20 GiB reserved in total by PyTorch)\n",
        "cuda-out-of-memory", ["GPU 1", "wanted 20 MiB"], ["4-bit", "shorter context"], "--max-model-len"),
    "DRIVER version mismatch": (
        "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 570.195\n",
        "nvml-mismatch", ["570.195", "upgrade without a reboot"], ["reload the modules", "reboot the node"], "modprobe nvidia"),
    "nvidia-smi fails": (
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver "
        "is installed and running.\n\n",
        "nvml-not-running", ["module is not loaded or failed to start"], ["what the kernel says"], "dmesg"),
}


def check(name, report, row, faults):
    _, finding, causes, actions, command = row
    stories = report["stories"]
    if [story["findings"][0]["id"] for story in stories] != [finding]:
        faults.append(f"{name}: {[story['findings'][0]['id'] for story in stories]}, not {finding}")
        return
    told = stories[0]["cause"]
    to_do = " | ".join(action["text"] for action in stories[0]["actions"])
    commands = "\n".join(action["command"] or "" for action in stories[0]["actions"])
    faults += [f"{name}: no '{words}' in: {told}" for words in causes if words not in told]
    faults += [f"{name}: no '{words}' in: {to_do}" for words in actions if words not in to_do]
    if command not in commands:
        faults.append(f"{name}: no '{command}' among: {commands}")
    evidence = stories[0]["findings"][0]["evidence"]
    if not evidence or not evidence[0]["line"]:
        faults.append(f"{name}: without its line")


def main():
    faults = []
    for name, row in ERRORS.items():
        check(name, examine(PROGRAM, "-", stdin=row[0].encode()), row, faults)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "paste.txt"
            path.write_text("root@node:~# docker compose up\n" + row[0] + "root@node:~#\n")
            check(f"{name}, a file", examine(PROGRAM, path), row, faults)
    for fault in faults:
        print(fault)
    print(f"{len(faults)} faults" if faults else f"ok: {len(ERRORS)} errors")
    sys.exit(1 if faults else 0)


main()
