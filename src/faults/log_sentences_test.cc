// Sentences as programs print them, and the row that each must find. Every beginner's error is here.
#include <gtest/gtest.h>

#include "faults/examination_fixture.h"

namespace pagoda::faults {
namespace {

struct Sentence {
  std::string_view line, id, cause_holds;
};

class LogSentences : public testing::TestWithParam<Sentence> {};

TEST_P(LogSentences, FindTheirRow) {
  const Sentence& sentence = GetParam();
  const Report report =
      examine_text(std::string("something before\n") + std::string(sentence.line) + "\nsomething after\n");
  ASSERT_EQ(ids_of(report), sentence.id) << sentence.line;
  const Story& story = report.stories.front();
  EXPECT_NE(story.cause.find(sentence.cause_holds), std::string::npos) << story.cause;
  EXPECT_FALSE(story.actions.empty());
  EXPECT_EQ(story.findings.front().events.front().evidence.line, 2);
}

constexpr Sentence kBeginners[] = {
    {R"(docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].)",
     "docker-no-gpu-driver", "toolkit"},
    {"docker: Error response from daemon: unknown or invalid runtime name: nvidia.", "docker-unknown-runtime",
     "daemon.json"},
    {"nvidia-container-cli: initialization error: nvml error: driver not loaded: unknown",
     "container-driver-not-loaded", "host's driver"},
    {"nvidia-container-cli: initialization error: driver rpc error: timed out", "container-cli-error",
     "driver rpc error"},
    {"nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.4, please update your driver "
     "to a newer version",
     "container-condition", "550.54.14"},
    {"Error: setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=all", "cdi-unresolvable",
     "nvidia.com/gpu=all"},
    {"bash: nvidia-smi: command not found", "smi-missing", "nvidia-smi"},
    {"exec: \"nvidia-smi\": executable file not found in $PATH: unknown.", "smi-missing", "container"},
    {"ImportError: libcuda.so.1: cannot open shared object file: No such file or directory",
     "libcuda-missing", "libcuda.so.1"},
    {"RuntimeError: CUDA driver version is insufficient for CUDA runtime version", "cuda-driver-old",
     "too old"},
    {"RuntimeError: The NVIDIA driver on your system is too old (found version 11040). Please update",
     "cuda-driver-old", "CUDA 11.4"},
    {"RuntimeError: CUDA error: no kernel image is available for execution on the device",
     "cuda-no-kernel-image", "no code for this GPU"},
    {"ValueError: The model's max seq len (32768) is larger than the maximum number of tokens that can be "
     "stored in KV cache (17728). Try increasing `gpu_memory_utilization`",
     "kv-too-small", "17728"},
    {"ValueError: To serve at least one request with the models's max seq len (131072), (16.00 GiB KV cache "
     "is needed, which is larger than the available KV cache memory (5.20 GiB). Based on the available "
     "memory, the estimated maximum model length is 42592.",
     "kv-too-small", "42592"},
    {"ERROR:    [Errno 98] error while attempting to bind on address ('0.0.0.0', 8000): address already in "
     "use",
     "port-in-use", "8000"},
    {"E1130 09:12:00.120000 1 server.cc:1] failed to start HTTP service: Unavailable - Socket '0.0.0.0:8000' "
     "already in use: address already in use",
     "port-in-use", "port"},
    {"pagoda serve: 127.0.0.1:8000 is in use by another pagoda (pid 1); end it, or choose another port with "
     "--port",
     "port-in-use", "8000"},
    {"RuntimeError: DataLoader worker (pid 77) is killed by signal: Bus error. It is possible that "
     "dataloader's workers are out of shared memory.",
     "shared-memory", "/dev/shm"},
    {"node0:1:1 [0] misc/shmutils.cc:72 NCCL WARN Error while creating shared memory segment "
     "/dev/shm/nccl-8Fbn1s (size 9637888)",
     "shared-memory", "nccl-8Fbn1s"},
    {"OSError: [Errno 28] No space left on device: '/dev/shm/torch_1_2'", "shared-memory", "/dev/shm"},
    {"huggingface_hub.errors.HFValidationError: Repo id must be in the form 'repo_name' or "
     "'namespace/repo_name': '/models/Qwen2.5-7B-Instruct'. Use `repo_type`",
     "model-folder-missing", "/models/Qwen2.5-7B-Instruct"},
    {"OSError: /models/Qwen does not appear to have a file named config.json. Checkout", "model-not-a-folder",
     "config.json"},
};
INSTANTIATE_TEST_SUITE_P(Beginners, LogSentences, testing::ValuesIn(kBeginners));

constexpr Sentence kCuda[] = {
    {"RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 1; 23.69 GiB total capacity; 22.04 "
     "GiB already allocated; 7.94 MiB free; 22.20 GiB reserved in total by PyTorch)",
     "cuda-out-of-memory", "GPU 1: wanted 20 MiB, 7.94 MiB free of 23.69 GiB"},
    {"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of "
     "79.10 GiB of which 1.50 GiB is free. Including non-PyTorch memory, this process has 77.60 GiB memory "
     "in use. Of the allocated memory 70.00 GiB is allocated by PyTorch, and 6.80 GiB is reserved by PyTorch "
     "but unallocated.",
     "gpu-memory-fragmented", "6.8 GiB are reserved and unused"},
    {"[TensorRT-LLM][ERROR] CUDA runtime error in ::cudaMallocAsync(ptr, n, mPool->getPool(), "
     "mCudaStream->get()): out of memory",
     "cuda-out-of-memory", "out of memory"},
    {"ggml_backend_cuda_buffer_type_alloc_buffer: allocating 4096.00 MiB on device 0: cudaMalloc failed: out "
     "of memory",
     "cuda-out-of-memory", "out of memory"},
    {"ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when "
     "initializing the engine.",
     "no-kv-memory", "KV cache"},
    {"ValueError: Free memory on device (5.20/23.69 GiB) on startup is less than desired GPU memory "
     "utilization (0.9, 21.32 GiB).",
     "utilization-not-free", "5.20 of 23.69 GiB"},
    {"RuntimeError: CUDA error: an illegal memory access was encountered", "cuda-illegal-access", "700"},
    {"RuntimeError: CUDA error: device-side assert triggered", "cuda-device-assert", "index out of range"},
    {"RuntimeError: CUDA error: the provided PTX was compiled with an unsupported toolchain.",
     "cuda-ptx-toolchain", "newer CUDA"},
    {"NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch "
     "installation.",
     "cuda-no-kernel-image", "12.8"},
    {"RuntimeError: CUDA error: system has unsupported display driver / cuda driver combination",
     "cuda-mismatch", "803"},
    {"CUDA error 802: system not yet initialized", "fabric-manager", "fabric manager"},
    {"forward compatibility was attempted on non supported HW", "cuda-forward-compatibility", "804"},
    {"RuntimeError: No CUDA GPUs are available", "cuda-no-device", "no GPU"},
    {"RuntimeError: CUDA error: all CUDA-capable devices are busy or unavailable", "cuda-busy", "46"},
    {"RuntimeError: CUDA error: uncorrectable ECC error encountered", "cuda-ecc", "memory error"},
    {"ImportError: libcudnn.so.9: cannot open shared object file: No such file or directory",
     "cuda-library-missing", "libcudnn.so.9"},
};
INSTANTIATE_TEST_SUITE_P(Cuda, LogSentences, testing::ValuesIn(kCuda));

constexpr Sentence kKernel[] = {
    {"[   12.5] NVRM: GPU 0000:41:00.0: RmInitAdapter failed! (0x62:0x40:2477)", "rm-init-failed",
     "0000:41:00"},
    {"NVRM: GPU 0000:41:00.0 is already bound to vfio-pci.", "other-driver", "vfio-pci"},
    {"[  1.0] pcieport 0000:40:01.1: AER: Uncorrected (Fatal) error received: 0000:40:01.1",
     "aer-uncorrected-elsewhere", "0000:40:01.1"},
    {"[  1.0] NVRM: GPU 0000:41:00.0: GPU has insufficient power on the PCIe slot", "slot-power",
     "0000:41:00"},
    {"modprobe: FATAL: Module nvidia not found in directory /lib/modules/6.1.0-30-amd64", "module-not-found",
     "6.1.0-30-amd64"},
    {"modprobe: ERROR: could not insert 'nvidia': Key was rejected by service", "module-rejected",
     "Secure Boot"},
    {"[ 99.0] python3[4242]: segfault at 8 ip 00007f sp 00007f error 4 in libnccl.so.2.18.1[7f+1000]",
     "nccl-crash", "python3"},
    {"[ 99.0] Out of memory: Killed process 4242 (vllm) total-vm:1kB", "host-out-of-memory",
     "vllm (pid 4242)"},
    {"[ 99.0] Memory cgroup out of memory: Killed process 4242 (vllm) total-vm:1kB", "cgroup-out-of-memory",
     "memory limit"},
    {"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the "
     "latest NVIDIA driver is installed and running.",
     "nvml-not-running", "not loaded"},
    {"Failed to initialize NVML: Unknown Error", "nvml-unknown-error", "daemon-reload"},
    {"No devices were found", "no-devices", "no GPU"},
    {"Unable to determine the device handle for GPU0000:07:00.0: Unknown Error", "device-handle",
     "0000:07:00"},
    {"[ 1.0] nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 30 LTSSM Fault Up", "sxid-fatal",
     "20034, link 30"},
    {"[ 1.0] nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 30 egress non-posted PRIV "
     "error",
     "sxid-non-fatal", "12028"},
    {"[ 1.0] NVRM: Xid (PCI:0000:3b:00): 999, pid=1, name=x, something new", "xid-other", "XID 999"},
    {"[ 1.0] NVRM: Xid (PCI:0000:3b:00): 48, pid=1, name=x, DBE (double bit error) (null)", "xid-48",
     "double-bit"},
    {"[ 1.0] NVRM: Xid (PCI:0000:3b:00): 119, pid=1, name=x, Timeout waiting for RPC from GSP0!", "xid-119",
     "GPU System Processor"},
};
INSTANTIATE_TEST_SUITE_P(Kernel, LogSentences, testing::ValuesIn(kKernel));

TEST(LogSentences, HealthyLogsSayNothing) {
  const Report report = examine_text(
      "[    4.1] nvidia: module license 'NVIDIA' taints kernel.\n"
      "[    4.2] nvidia: module verification failed: signature and/or required key missing - tainting "
      "kernel\n"
      "[    4.3] nvidia-nvlink: Nvlink Core is being initialized, major device number 234\n"
      "[    4.4] NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 01:44:30 UTC 2024\n"
      "[    4.5] nvidia-uvm: Loaded the UVM driver, major device number 511.\n"
      "[    0.5] pcieport 0000:00:01.0: AER: enabled with IRQ 122\n"
      "[    9.0] pcieport 0000:00:1c.0: AER: Corrected error received: 0000:00:1c.0\n"
      "[    9.0] nvme 0000:04:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID)\n"
      "[    9.1] nvme 0000:04:00.0: PCIe Bus Error: severity=Uncorrected (Non-Fatal), type=Transaction "
      "Layer\n"
      "INFO 11-30 09:12:00 [loggers.py:123] Avg prompt throughput: 0.0 tokens/s, GPU KV cache usage: 0.0%\n"
      "INFO 11-30 09:12:01 [gpu_worker.py:98] Memory profiling takes 3.2 seconds, the current vLLM instance "
      "can use "
      "total_gpu_memory (23.69GiB) x gpu_memory_utilization (0.90) = 21.32GiB\n"
      "node0:1:1 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>\n"
      "I1130 09:12:00.000000 1 server.cc:662] +----+ successfully loaded 'model' version 1\n");
  EXPECT_EQ(ids_of(report), "");
  EXPECT_EQ(report.severity(), Severity::kNone);
}

}  // namespace
}  // namespace pagoda::faults
