#include "faults/load_words.h"

#include <algorithm>

#include "base/format.h"

namespace pagoda::faults {
namespace {

using enum Quantity;

// Percent of utilization from which a unit counts as busy, and below which as idle.
constexpr double kHigh = 70, kLow = 40, kIdle = 5;
// The same for profiled activity, which counts cycles and not time: full speed is well below 100 %.
constexpr double kDramBound = 60, kSmBusy = 60, kTensorBusy = 40, kEngineBusy = 50;
constexpr int64_t kJudgedFrom = 3;  // readings: one may have met a pause
// Of a process on the machine's side.
constexpr double kThreadBusy = 0.85, kDiskWait = 0.3, kDiskMbPerS = 100, kNetworkShare = 0.7;

std::string named(const ProcessActivity& process) {
  return format("process {} {}", process.pid, process.name);
}

// What a GPU that does little waits for.
std::string waits_for(const GpuRecord& gpu) {
  for (const ProcessActivity& process : gpu.processes) {
    if (process.in_disk_wait >= kDiskWait || process.disk_mb_per_s >= kDiskMbPerS)
      return format("waits for the disk ({} moves {:.0f} MB/s and sleeps for it in {:.0f} % of the looks)",
                    named(process), process.disk_mb_per_s, 100 * process.in_disk_wait);
  }
  for (const ProcessActivity& process : gpu.processes) {
    if (process.busiest_thread >= kThreadBusy)
      return format(
          "waits for the CPU (one thread of {} runs or is ready to in {:.0f} % of the time, {:.1f} CPUs in "
          "all)",
          named(process), 100 * std::min(1.0, process.busiest_thread), process.cpus);
  }
  const NetworkActivity& network = gpu.network;
  if (network.speed_mb_per_s > 0 && network.mb_per_s >= kNetworkShare * network.speed_mb_per_s)
    return format("waits for the network ({} carries {:.0f} of {:.0f} MB/s)", network.interface,
                  network.mb_per_s, network.speed_mb_per_s);
  if (!gpu.processes.empty())
    return "waits for work: neither CPU, disk nor network is busy for it, so requests come one at a time or "
           "not at all";
  return "waits for the CPU, the disk, the network, or one request at a time";
}

std::string_view profiled_load(const GpuRecord& gpu) {
  if (gpu[kDramActivity].mean() >= kDramBound) return "bandwidth-bound";
  if (gpu[kSmActivity].mean() >= kSmBusy || gpu[kTensorActivity].mean() >= kTensorBusy)
    return "compute-bound";
  if (gpu[kGraphicsActivity].mean() >= kEngineBusy)
    return "busy with few of its units: small kernels, or one request at a time";
  return {};
}

std::string_view utilized_load(const GpuRecord& gpu) {
  const double compute = gpu[kGpuUtilization].mean(), memory = gpu[kMemoryUtilization].mean();
  const bool memory_known = gpu[kMemoryUtilization].count > 0;
  if (memory_known && memory >= kHigh) return "bandwidth-bound";
  if (compute >= kHigh) return memory_known ? "compute-bound" : "busy";
  if (memory_known && memory >= kHigh - 10 && compute < kLow) return "bandwidth-bound";
  return compute >= kLow ? "partly busy" : "";
}

}  // namespace

std::string load_in_words(const GpuRecord& gpu) {
  const bool profiled = gpu[kSmActivity].count > 0;
  if (gpu.samples() == 0 && !profiled) return {};
  std::string_view busy = profiled ? profiled_load(gpu) : std::string_view();
  if (busy.empty()) busy = utilized_load(gpu);
  if (!busy.empty()) return std::string(busy);
  const double compute =
      profiled && gpu.samples() == 0 ? gpu[kGraphicsActivity].mean() : gpu[kGpuUtilization].mean();
  const bool holds_memory =
      gpu.last[kMemoryUsed].value.value_or(0) > 0.1 * gpu.last[kMemoryTotal].value.value_or(1e12);
  if (compute < kIdle && !holds_memory) return "idle";
  if (std::max(gpu.samples(), gpu[kSmActivity].count) < kJudgedFrom)
    return compute < kIdle ? "holds memory and computes nothing right now" : "little load";
  if (gpu.processes.empty() && compute < kIdle) return "holds memory and waits for work";
  return waits_for(gpu);
}

}  // namespace pagoda::faults
