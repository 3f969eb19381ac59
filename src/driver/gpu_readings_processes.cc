// Who uses the GPU, and where it hangs in the machine.
#include <algorithm>
#include <map>

#include "driver/gpu_section_readers.h"
#include "driver/gpu_snapshot_reader.h"

namespace pagoda::driver {
namespace {

Reading<std::vector<GpuProcess>> named_processes(const Nvml& nvml, const Gpu& gpu, ProcessKind kind) {
  const auto listed = gpu.processes(kind);
  if (!listed) return tl::unexpected<Absence>(listed.error());
  std::vector<GpuProcess> processes;
  for (const NvmlProcess& process : *listed) {
    GpuProcess row;
    row.pid = process.pid;
    row.name = nvml.text(nvml::kSystemGetProcessName, process.pid);
    row.memory = as_count(process.used_bytes);
    row.compute = kind != ProcessKind::kGraphics;
    row.graphics = kind == ProcessKind::kGraphics;
    row.mps = kind == ProcessKind::kMpsCompute;
    row.gpu_instance = process.gpu_instance;
    row.compute_instance = process.compute_instance;
    processes.push_back(std::move(row));
  }
  return processes;
}

// A value above 100 % means that there was no sample of this engine.
Reading<unsigned> sampled_percent(unsigned value) {
  if (value > 100) return absent(NVML_ERROR_NO_DATA);
  return value;
}

using Utilizations = std::vector<nvmlProcessUtilizationInfo_v1_t>;

Reading<Utilizations> newer_utilization(const Gpu& gpu, unsigned long long since_us) {
  return gpu.run<Utilizations>(
      nvml::kDeviceGetProcessesUtilizationInfo,
      [since_us](auto* function, nvmlDevice_t device, Utilizations& list) {
        nvmlProcessesUtilizationInfo_t info{};
        info.version = nvmlProcessesUtilizationInfo_v1;
        info.lastSeenTimeStamp = since_us;
        nvmlReturn_t code = function(device, &info);
        if (code != NVML_SUCCESS && code != NVML_ERROR_INSUFFICIENT_SIZE) return code;
        list.resize(info.processSamplesCount);
        if (list.empty()) return NVML_SUCCESS;
        info.procUtilArray = list.data();
        code = function(device, &info);
        list.resize(code == NVML_SUCCESS ? std::min<size_t>(info.processSamplesCount, list.size()) : 0);
        return code;
      });
}

constexpr unsigned kWords = 64;  // of 64 CPUs each

// Bits of NVML's sets are unsigned longs.
std::vector<unsigned> set_bits(const std::vector<unsigned long>& words) {
  constexpr unsigned kBits = 8 * sizeof(unsigned long);
  std::vector<unsigned> bits;
  for (unsigned i = 0; i < words.size() * kBits; ++i) {
    if ((words[i / kBits] >> (i % kBits) & 1) != 0) bits.push_back(i);
  }
  return bits;
}

}  // namespace

Reading<std::vector<ProcessUtilization>> read_process_utilization(const Gpu& gpu,
                                                                  unsigned long long since_us) {
  std::vector<ProcessUtilization> out;
  const auto newer = newer_utilization(gpu, since_us);
  if (newer) {
    for (const auto& s : *newer) {
      out.push_back({s.pid, sampled_percent(s.smUtil), sampled_percent(s.memUtil), sampled_percent(s.encUtil),
                     sampled_percent(s.decUtil), sampled_percent(s.jpgUtil), sampled_percent(s.ofaUtil)});
    }
    return out;
  }
  if (newer.error().reason != AbsenceReason::kLibraryTooOld) {
    // NVML_ERROR_NOT_FOUND: no process has a sample in this time.
    if (newer.error().code == NVML_ERROR_NOT_FOUND) return out;
    return tl::unexpected<Absence>(newer.error());
  }
  const auto older = gpu.process_utilization(since_us);
  if (!older) {
    if (older.error().code == NVML_ERROR_NOT_FOUND) return out;
    return tl::unexpected<Absence>(older.error());
  }
  for (const auto& s : *older) {
    out.push_back({s.pid, sampled_percent(s.smUtil), sampled_percent(s.memUtil), sampled_percent(s.encUtil),
                   sampled_percent(s.decUtil), absent(NVML_ERROR_FUNCTION_NOT_FOUND),
                   absent(NVML_ERROR_FUNCTION_NOT_FOUND)});
  }
  return out;
}

void read_processes(const Nvml& nvml, const Gpu& gpu, GpuSnapshot& out) {
  out.compute_processes = named_processes(nvml, gpu, ProcessKind::kCompute);
  out.graphics_processes = named_processes(nvml, gpu, ProcessKind::kGraphics);
  const auto mps = named_processes(nvml, gpu, ProcessKind::kMpsCompute);
  if (!mps || !out.compute_processes) return;
  std::vector<GpuProcess> all = *out.compute_processes;
  all.insert(all.end(), mps->begin(), mps->end());
  out.compute_processes = std::move(all);
}

void read_accounted(const Gpu& gpu, GpuSnapshot& out) {
  const auto pids = gpu.list(nvml::kDeviceGetAccountingPids);
  if (!pids) {
    out.accounted = tl::unexpected<Absence>(pids.error());
    return;
  }
  std::vector<AccountedProcess> list;
  for (const unsigned pid : *pids) {
    const auto stats = gpu.read(nvml::kDeviceGetAccountingStats, pid);
    AccountedProcess row;
    row.pid = pid;
    row.gpu_percent = number_of(stats, &nvmlAccountingStats_t::gpuUtilization);
    row.memory_percent = number_of(stats, &nvmlAccountingStats_t::memoryUtilization);
    row.memory_max = count_of(stats, &nvmlAccountingStats_t::maxMemoryUsage);
    row.time_ms = count_of(stats, &nvmlAccountingStats_t::time);
    row.running = stats && stats->isRunning != 0;
    list.push_back(std::move(row));
  }
  out.accounted = std::move(list);
}

void read_affinity(const Gpu& gpu, GpuSnapshot& out) {
  using Words = std::vector<unsigned long>;
  out.cpus = gpu.run<Words>(nvml::kDeviceGetCpuAffinity,
                            [](auto* function, nvmlDevice_t device, Words& words) {
                              words.assign(kWords, 0);
                              return function(device, kWords, words.data());
                            })
                 .map(set_bits);
  out.numa_nodes = gpu.run<Words>(nvml::kDeviceGetMemoryAffinity,
                                  [](auto* function, nvmlDevice_t device, Words& words) {
                                    words.assign(kWords, 0);
                                    return function(device, kWords, words.data(), NVML_AFFINITY_SCOPE_NODE);
                                  })
                       .map(set_bits);
  out.numa_node = gpu.read(nvml::kDeviceGetNumaNodeId);
}

}  // namespace pagoda::driver
