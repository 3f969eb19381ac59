#include "faults/machine_record.h"

#include <algorithm>

namespace pagoda::faults {

GpuRecord& MachineRecord::record_of(const GpuReadings& gpu) {
  for (GpuRecord& record : records_) {
    const bool same_address = !gpu.address.empty() && record.address == gpu.address;
    const bool same_index = !gpu.index.empty() && record.index == gpu.index;
    const bool differ = !gpu.address.empty() && !record.address.empty() && record.address != gpu.address;
    if (same_address || (same_index && !differ)) return record;
  }
  if (records_.size() < kMostGpus) records_.emplace_back();
  return records_.back();
}

void MachineRecord::add(const Snapshot& snapshot) {
  if (!snapshot.driver.empty()) driver_ = snapshot.driver;
  for (const GpuReadings& gpu : snapshot.gpus) {
    if (!gpu.index.empty() && !gpu.address.empty()) {
      const auto [known, is_new] = address_by_index_.try_emplace(gpu.index, gpu.address);
      if (!is_new && known->second != gpu.address) known->second.clear();
    }
    GpuRecord& record = record_of(gpu);
    if (!gpu.index.empty()) record.index = gpu.index;
    if (!gpu.address.empty()) record.address = gpu.address;
    if (!gpu.name.empty()) record.name = gpu.name;
    for (size_t i = 0; i < gpu.readings.size(); ++i) {
      const auto q = static_cast<Quantity>(i);
      if (gpu[q].value) record.courses[i].add(*gpu[q].value);
      if (gpu[q].value || !gpu[q].text.empty()) record.last[q] = gpu[q];
    }
    if (gpu.processes) record.last.processes = gpu.processes;
  }
}

void MachineRecord::add_activity(std::string_view label, std::vector<ProcessActivity> processes,
                                 const NetworkActivity& network) {
  for (GpuRecord& record : records_) {
    if (&record != find(label)) continue;
    record.processes = std::move(processes);
    record.network = network;
    return;
  }
}

std::vector<const GpuRecord*> MachineRecord::gpus() const {
  std::vector<const GpuRecord*> all;
  for (const GpuRecord& record : records_) {
    // A GPU that one source names by index and another by address is one GPU.
    const std::string address = record.address.empty() ? address_of(record.index) : record.address;
    const bool shown_elsewhere = record.address.empty() && !address.empty() && find(address) != nullptr;
    if (!shown_elsewhere) all.push_back(&record);
  }
  return all;
}

const GpuRecord* MachineRecord::find(std::string_view label) const {
  for (const GpuRecord& record : records_) {
    if (record.address == label || (record.index == label && !record.index.empty())) return &record;
  }
  return nullptr;
}

std::string MachineRecord::address_of(std::string_view label) const {
  const auto found = address_by_index_.find(label);
  return found == address_by_index_.end() ? std::string() : found->second;
}

}  // namespace pagoda::faults
