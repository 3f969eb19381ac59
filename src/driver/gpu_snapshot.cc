#include "driver/gpu_snapshot.h"

#include <algorithm>
#include <map>

namespace pagoda::driver {

Reading<std::vector<GpuProcess>> running_processes(const GpuSnapshot& gpu) {
  if (!gpu.compute_processes && !gpu.graphics_processes) return tl::unexpected(gpu.compute_processes.error());
  std::map<std::pair<unsigned, unsigned>, GpuProcess> by_pid;  // and by GPU instance
  for (const auto* list : {&gpu.compute_processes, &gpu.graphics_processes}) {
    if (!*list) continue;
    for (const GpuProcess& process : **list) {
      const auto key = std::pair(process.pid, process.gpu_instance ? *process.gpu_instance : 0);
      const auto [place, is_new] = by_pid.emplace(key, process);
      if (is_new) continue;
      place->second.compute |= process.compute;
      place->second.graphics |= process.graphics;
      place->second.mps |= process.mps;
    }
  }
  std::vector<GpuProcess> merged;
  for (auto& [key, process] : by_pid) merged.push_back(std::move(process));
  return merged;
}

}  // namespace pagoda::driver
