#include "kubelet/gpu_closeness.h"

#include <algorithm>

#include "driver/gpu_snapshot_reader.h"

namespace pagoda::kubelet {
namespace {

// nvmlGpuTopologyLevel_t counts from 0 (one board) to 50 (over the link between the processors).
constexpr int kFarthest = NVML_TOPOLOGY_SYSTEM;

int links_between(const driver::GpuSnapshot& from, const driver::GpuSnapshot& to) {
  if (!to.pci.bus_id) return 0;
  return static_cast<int>(
      std::count_if(from.nvlink.links.begin(), from.nvlink.links.end(), [&](const driver::NvLink& link) {
        return link.active.value_or(false) && link.remote_bus_id && *link.remote_bus_id == *to.pci.bus_id;
      }));
}

// Links into a switch reach every GPU that has such links.
int links_to_switch(const driver::GpuSnapshot& gpu) {
  return static_cast<int>(
      std::count_if(gpu.nvlink.links.begin(), gpu.nvlink.links.end(), [](const driver::NvLink& link) {
        return link.active.value_or(false) && link.remote_type &&
               *link.remote_type == NVML_NVLINK_DEVICE_TYPE_SWITCH;
      }));
}

}  // namespace

GpuCloseness GpuCloseness::read(const driver::Nvml& nvml) {
  const auto machine =
      driver::read_machine(nvml, driver::kPciSection | driver::kNvLinkSection | driver::kTopologySection);
  GpuCloseness closeness;
  for (size_t i = 0; i < machine.gpus.size(); ++i) {
    for (size_t j = i + 1; j < machine.gpus.size(); ++j) {
      const auto& a = machine.gpus[i];
      const auto& b = machine.gpus[j];
      const int links = links_between(a, b) + std::min(links_to_switch(a), links_to_switch(b));
      const bool known = j < a.nearness.size() && a.nearness[j].has_value();
      const int path = known ? kFarthest - static_cast<int>(*a.nearness[j]) : 0;
      closeness.set(static_cast<int>(a.index), static_cast<int>(b.index), links * kPerNvLink + path);
    }
  }
  return closeness;
}

void GpuCloseness::set(int a, int b, int closeness) {
  pairs_[std::minmax(a, b)] = closeness;
}

int GpuCloseness::of(int a, int b) const {
  if (a == b) return kSame;
  const auto found = pairs_.find(std::minmax(a, b));
  return found == pairs_.end() ? 0 : found->second;
}

}  // namespace pagoda::kubelet
