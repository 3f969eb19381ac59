// What the sources say of the machine itself: which GPUs it has, and how they were doing over all readings.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "faults/gpu_readings.h"

namespace pagoda::faults {

struct GpuRecord {
  std::string index, address, name;
  int64_t samples = 0;  // readings of its load
  double gpu_percent_sum = 0, memory_percent_sum = 0;
  int64_t memory_samples = 0;
  GpuReadings last;  // the newest value of each quantity
};

class MachineRecord {
 public:
  static constexpr size_t kMostGpus = 1024;

  void add(const Snapshot& snapshot);
  // By address, where it is known, else by index.
  std::vector<const GpuRecord*> gpus() const;
  // The record that `label` (address or index) names; nullptr: none.
  const GpuRecord* find(std::string_view label) const;
  // The address of a GPU that is named by index, where the sources say it without contradiction.
  std::string address_of(std::string_view label) const;
  const std::string& driver() const { return driver_; }

 private:
  GpuRecord& record_of(const GpuReadings& gpu);

  std::vector<GpuRecord> records_;
  std::map<std::string, std::string, std::less<>> address_by_index_;  // empty: contradicted
  std::string driver_;
};

}  // namespace pagoda::faults
