// What the sources say of the machine itself: which GPUs it has, and how they were doing over all readings.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "faults/process_activity.h"
#include "faults/reported_readings.h"

namespace pagoda::faults {

// All values of one quantity.
struct Course {
  int64_t count = 0;
  double sum = 0;
  void add(double value) {
    ++count;
    sum += value;
  }
  double mean() const { return count == 0 ? 0 : sum / static_cast<double>(count); }
};

struct GpuRecord {
  std::string index, address, name;
  std::array<Course, static_cast<size_t>(Quantity::kCount)> courses;
  GpuReadings last;  // the newest value of each quantity
  // What its processes did meanwhile, where it was watched.
  std::vector<ProcessActivity> processes;
  NetworkActivity network;

  const Course& operator[](Quantity q) const { return courses[static_cast<size_t>(q)]; }
  // Readings of its load.
  int64_t samples() const { return (*this)[Quantity::kGpuUtilization].count; }
};

class MachineRecord {
 public:
  static constexpr size_t kMostGpus = 1024;

  void add(const Snapshot& snapshot);
  // What the processes of a GPU that is there already did; `label` as find() takes it.
  void add_activity(std::string_view label, std::vector<ProcessActivity> processes,
                    const NetworkActivity& network);
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
