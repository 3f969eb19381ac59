// Watches GPUs for violations of their policies, sample by sample. What is above its threshold is told when
// it gets there, what counts when it counts up.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "telemetry/gpu_sampler.h"
#include "telemetry/watch_state.h"

namespace pagoda::telemetry {

struct Violation {
  unsigned gpu = 0;
  Policy::Condition condition = Policy::kXid;
  std::vector<std::string> lines;  // dcgmi's sentences
};

// What the conditions are read from.
SampleNeeds policy_needs(unsigned conditions);

class PolicyWatch {
 public:
  explicit PolicyWatch(std::map<unsigned, Policy> policies) : policies_(std::move(policies)) {}

  // Violations since the sample before. The first sample is what counters are compared with.
  std::vector<Violation> look_at(const GpuSample& sample);
  // XIDs are told as they come, between samples.
  std::vector<Violation> look_at(const std::vector<XidEvent>& xids) const;

 private:
  struct Memory {
    std::map<unsigned, double> counters;  // by field
    std::map<unsigned, bool> above;       // by condition
  };
  void look_at_gpu(const EntityReadings& gpu, const Policy& policy, Memory& memory,
                   std::vector<Violation>& out) const;

  std::map<unsigned, Policy> policies_;  // by GPU
  std::map<unsigned, Memory> memory_;
};

}  // namespace pagoda::telemetry
