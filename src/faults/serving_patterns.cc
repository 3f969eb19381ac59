// Sentences of vLLM, PyTorch, Triton, TensorRT-LLM, NCCL and pagoda's own server.
#include "faults/log_pattern.h"

namespace pagoda::faults {
namespace {

constexpr LogPattern kRows[] = {
    // Memory for the KV cache.
    {"No available memory for the cache blocks", "", "no-kv-memory"},
    {"the model does not fit: of ", "", "no-kv-memory"},
    {"is less than desired GPU memory utilization",
     R"(\((?<free>[\d.]+)/(?<total>[\d.]+) GiB\).*utilization \((?<utilization>[\d.]+), (?<wanted>[\d.]+) GiB\))",
     "utilization-not-free"},
    {"is larger than the maximum number of tokens that can be stored in KV cache",
     R"(max seq len \((?<wanted>\d+)\) is larger than .*KV cache \((?<fits>\d+)\))", "kv-too-small",
     Reader::kMemory},
    {"GiB KV cache is needed",
     R"(max seq len \((?<wanted>\d+)\).*?larger than the available KV cache memory \((?<available>[\d.]+ GiB)\)(?:.*estimated maximum model length is (?<fits>\d+))?)",
     "kv-too-small", Reader::kMemory},
    {"is greater than the derived max_model_len",
     R"(max_model_len \((?<wanted>\d+)\) is greater than the derived max_model_len \(\w+=(?<available>\d+))",
     "context-too-long"},
    // NCCL. The time-outs themselves are put together over all ranks (nccl_watchdog.h).
    {"Watchdog caught collective operation timeout",
     R"(Rank (?<rank>\d+)\].*?WorkNCCL\(SeqNum=(?<seq>\d+), OpType=(?<op>\w+)(?:, NumelIn=(?<numel>\d+))?)",
     "nccl-timeout"},
    {"Duplicate GPU detected", R"(Duplicate GPU detected : (?<detail>.*))", "nccl-duplicate-gpu"},
    {"no socket interface found", R"((?<detail>no socket interface found.*))", "nccl-no-interface"},
    {"Got completion from peer",
     R"((?<detail>Got completion from peer .*? with (?:error|status)[= ]\S+.*?)(?:,|$))", "nccl-infiniband"},
    {"NCCL WARN", R"(NCCL WARN.*(?<detail>Error while creating shared memory segment.*))", "shared-memory"},
    {"NCCL WARN",
     R"(NCCL WARN.*(?<detail>(?:Call to (?:connect|recv|send)|Connect to|socketProgress|Net :|Connection closed by remote peer|socketStartConnect).*))",
     "nccl-network"},
    {"NCCL WARN",
     R"(NCCL WARN (?<detail>.*(?:fail|error|timeout|timed out|mismatch|invalid|abort|cannot|could not).*))",
     "nccl-warning"},
    {"unhandled system error", R"(NCCL)", "nccl-system-error"},
    {"ncclSystemError", "", "nccl-system-error"},
    {"remote process exited or there was a network error", "", "nccl-remote-exited"},
    {"ncclRemoteError", "", "nccl-remote-exited"},
    // Host memory, limits.
    {"out of shared memory", R"(dataloader's workers are (?<detail>out of shared memory))", "shared-memory"},
    {"killed by signal: Bus error", R"(DataLoader worker .*(?<detail>killed by signal: Bus error))",
     "shared-memory"},
    {"No space left on device", R"((?<detail>No space left on device.*/dev/shm\S*))", "shared-memory"},
    {"No space left on device", R"(No space left on device(?:: '(?<path>[^']+)')?)", "disk-full"},
    {"The SHMEM allocation limit is set to the default of 64MB", "", "shared-memory-default"},
    {"failed to create shared memory region", "", "shared-memory"},
    {"Unable to increase the shared memory", "", "shared-memory"},
    {"ibv_reg_mr", R"(ibv_reg_mr\w* failed.*Cannot allocate memory|ibv_reg_mr.*errno 12)", "memlock-limit"},
    {"memlock", R"(memlock.{0,60}(?:too low|too small|insufficient))", "memlock-limit"},
    {"Too many open files", "", "open-files-limit"},
    // Ends whose cause stands elsewhere.
    {"Engine core initialization failed", "", "engine-ended"},
    {"EngineDeadError", "", "engine-ended"},
    {"Background loop has errored already", "", "engine-ended"},
    {"died unexpectedly", R"(engine|worker)", "engine-ended"},
    {"ChildFailedError", "", "engine-ended"},
    {"was terminated due to signal", R"(due to signal (?:Signals\.)?(?<signal>\w+))", "worker-killed"},
    {"exitcode: -9", R"(exitcode: -(?<signal>9))", "worker-killed"},
    {"failed to load '", R"(failed to load '(?<model>[^']+)' version \d+: (?<detail>.*))",
     "triton-load-failed"},
    {"The engine plan file is", R"(not compatible|incompatible|different)", "trt-version"},
    {"Serialized Engine Version", R"(Current Version)", "trt-version"},
};

}  // namespace

std::span<const LogPattern> serving_patterns() {
  return kRows;
}

}  // namespace pagoda::faults
