// What inference servers and training jobs write: memory, NCCL, engines that ended.
#include "faults/fault_catalogue.h"

namespace pagoda::faults {
namespace {

using enum Kind;
using enum Step;
using enum Severity;
using enum Confidence;
using enum Drain;

constexpr FaultRow kRows[] = {
    {"cuda-out-of-memory", kGpuOutOfMemory, kLogs, kFault, kHigh, kNo, "CUDA out of memory",
     "CUDA out of memory[ on GPU {gpu_index}][: wanted {wanted}][, {free} free][ of {total}][; held by "
     "{holder}][; "
     "{fragmented}]",
     "use-4bit shorten-context lower-utilization more-gpus find-holders", "CUDA ran out of memory",
     "gpu_index"},
    {"gpu-memory-fragmented", kGpuOutOfMemory, kLogs, kFault, kMedium, kNo, "GPU memory is fragmented",
     "CUDA out of memory[ on GPU {gpu_index}][: wanted {wanted}][, {free} free][ of {total}], while "
     "{unallocated} are "
     "reserved and unused: fragmentation[; held by {holder}]",
     "drained-restart expandable-segments use-4bit shorten-context lower-utilization more-gpus",
     "CUDA ran out of memory", "gpu_index"},
    {"no-kv-memory", kGpuOutOfMemory, kLogs, kFault, kHigh, kNo, "no memory left for the KV cache",
     "the weights leave no memory for the KV cache", "use-4bit raise-utilization shorten-context more-gpus",
     "", ""},
    {"utilization-not-free", kGpuOutOfMemory, kLogs, kFault, kHigh, kNo, "less memory free than asked for",
     "only {free} of {total} GiB are free, and --gpu-memory-utilization {utilization} asks for {wanted} GiB: "
     "something "
     "else holds the rest",
     "find-holders lower-utilization", "", ""},
    {"kv-too-small", kGpuOutOfMemory, kLogs, kFault, kHigh, kNo, "context longer than the KV cache",
     "the model's context ({wanted}) is longer than the KV cache holds ({available})[; {estimate} would fit]",
     "shorten-context-to raise-utilization use-4bit more-gpus", "", ""},
    {"context-too-long", kSetup, kLogs, kFault, kHigh, kNo, "context longer than the model's",
     "--max-model-len {wanted} is longer than the model's own context ({available})", "shorten-context", "",
     ""},
    {"host-out-of-memory", kHostOutOfMemory, kLogs, kFault, kHigh, kNo, "killed for memory",
     "the kernel killed {process} (pid {pid}) because the machine ran out of memory[ ({times})]",
     "more-host-memory", "the kernel killed {process} (pid {pid}) for memory", "process"},
    {"cgroup-out-of-memory", kHostOutOfMemory, kLogs, kFault, kHigh, kNo, "killed for its memory limit",
     "the kernel killed {process} (pid {pid}) because its container reached its memory limit[ ({times})]",
     "raise-container-memory", "the kernel killed {process} (pid {pid}) for memory", "process"},
    {"shared-memory", kSetup, kLogs, kFault, kHigh, kNo, "shared memory too small",
     "/dev/shm is too small[ ({detail})]", "raise-shm", "/dev/shm is full", ""},
    {"shared-memory-default", kSetup, kLogs, kNote, kHigh, kNo, "shared memory at Docker's default",
     "the container has Docker's default of 64 MB of shared memory", "raise-shm", "", ""},
    {"nccl-lagging-rank", kNccl, kLogs, kFault, kHigh, kNo, "a rank lags",
     "rank {rank} is {behind} behind ({seq} against {seq_others}[, {op}]): it lags", "look-at-rank",
     "then the collectives timed out", ""},
    {"nccl-mismatched-collective", kNccl, kLogs, kFault, kHigh, kNo, "ranks call different collectives",
     "at the same step ({seq}) the ranks call different collectives ({ops}): the program's ranks have parted",
     "fix-collectives", "", ""},
    {"nccl-timeout", kNccl, kLogs, kFault, kMedium, kNo, "collective timed out everywhere",
     "all {ranks} ranks that report wait in the same collective ({seq}[, {op}])[; rank {rank_silent} reports "
     "nothing: look at it "
     "first][{same}]",
     "check-network nccl-debug check-nvlink", "then the collectives timed out", "rank"},
    {"nccl-timeout-one", kNccl, kLogs, kFault, kLow, kNo, "collective timed out",
     "a collective timed out on rank {rank} ({seq}[, {op}]); the other ranks' logs are needed to tell who "
     "lags",
     "collect-rank-logs check-network nccl-debug", "then a collective timed out", ""},
    {"nccl-network", kNccl, kLogs, kFault, kMedium, kNo, "NCCL lost the network",
     "NCCL cannot reach a peer[ ({detail})]", "check-network nccl-interface nccl-debug", "NCCL lost a peer",
     ""},
    {"nccl-infiniband", kNccl, kLogs, kFault, kHigh, kNo, "InfiniBand error",
     "InfiniBand gave up on a peer[ ({detail})]: cable, port or fabric", "check-infiniband nccl-debug",
     "NCCL lost a peer", ""},
    {"nccl-no-interface", kNccl, kLogs, kFault, kHigh, kNo, "NCCL finds no network interface",
     "NCCL finds no network interface[ ({detail})]", "nccl-interface", "", ""},
    {"nccl-duplicate-gpu", kNccl, kLogs, kFault, kHigh, kNo, "two ranks on one GPU",
     "two ranks use the same GPU[ ({detail})]", "one-gpu-per-rank", "", ""},
    {"nccl-crash", kNccl, kLogs, kFault, kMedium, kNo, "NCCL crashed",
     "{process}[ (pid {pid})] crashed inside {library}", "update-nccl nccl-debug", "NCCL crashed", "library"},
    {"nccl-system-error", kNcclSymptom, kLogs, kFault, kLow, kNo, "NCCL system error",
     "NCCL failed in a system call[ ({detail})]", "nccl-debug raise-shm check-network", "NCCL failed", ""},
    {"nccl-warning", kNcclSymptom, kLogs, kWarning, kLow, kNo, "NCCL warning", "NCCL warns[: {detail}]",
     "nccl-debug", "NCCL warns", ""},
    {"nccl-remote-exited", kNcclSymptom, kLogs, kFault, kMedium, kNo, "another rank ended",
     "another rank ended or was unreachable: its own log holds the cause", "collect-rank-logs",
     "other ranks lost it", ""},
    {"memlock-limit", kSetup, kLogs, kFault, kHigh, kNo, "locked memory limited",
     "memory cannot be locked for RDMA: the memlock limit is too low", "raise-memlock", "", ""},
    {"open-files-limit", kSetup, kLogs, kFault, kHigh, kNo, "too many open files",
     "the limit of open files is reached[ ({times})]", "raise-nofile", "", ""},
    {"engine-ended", kServerEnd, kLogs, kFault, kLow, kNo, "engine ended",
     "the server's engine ended; its cause stands further up and is not in this log", "find-earlier-log",
     "the engine ended", ""},
    {"worker-killed", kServerEnd, kLogs, kFault, kLow, kNo, "worker killed",
     "a worker process was killed (signal {signal})", "find-kernel-log", "a worker was killed", ""},
    {"triton-load-failed", kServerEnd, kLogs, kFault, kMedium, kNo, "Triton could not load a model",
     "Triton could not load model {model}[: {detail}]", "look-at-model-config",
     "Triton could not load model {model}", "model"},
    {"trt-version", kSetup, kLogs, kFault, kHigh, kNo, "engine of another TensorRT",
     "the TensorRT engine was built by another TensorRT version or for another GPU", "rebuild-engine", "",
     ""},
};

}  // namespace

std::span<const FaultRow> serving_rows() {
  return kRows;
}

}  // namespace pagoda::faults
