// Reads a MachineSnapshot through NVML: only the sections asked for, all GPUs at once, so that `-L` costs a
// few calls and a GPU that hangs costs one deadline.
#pragma once

#include <vector>

#include "driver/gpu_snapshot.h"
#include "driver/nvml.h"

namespace pagoda::driver {

enum Section : unsigned {
  kIdentitySection = 1u << 0,
  kInforomSection = 1u << 1,
  kPlatformSection = 1u << 2,
  kPciSection = 1u << 3,
  kModesSection = 1u << 4,
  kClockEventsSection = 1u << 5,
  kMemorySection = 1u << 6,
  kUtilizationSection = 1u << 7,
  kSamplesSection = 1u << 8,
  kEncoderSection = 1u << 9,
  kEccSection = 1u << 10,
  kRetiredSection = 1u << 11,
  kRemappedSection = 1u << 12,
  kTemperatureSection = 1u << 13,
  kPowerSection = 1u << 14,
  kPowerSmoothingSection = 1u << 15,
  kClocksSection = 1u << 16,
  kSupportedClocksSection = 1u << 17,
  kFabricSection = 1u << 18,
  kVgpuSection = 1u << 19,
  kNvLinkSection = 1u << 20,
  kMigSection = 1u << 21,
  kMigProfilesSection = 1u << 22,
  kProcessesSection = 1u << 23,
  kProcessUtilizationSection = 1u << 24,
  kAccountedSection = 1u << 25,
  kTopologySection = 1u << 26,     // of all GPUs of the snapshot
  kPerformanceSection = 1u << 27,  // fan, performance state
  kAllSections = (1u << 28) - 1,   // that nvidia-smi shows
  kViolationsSection = 1u << 28,
};

DriverReadings read_driver(const Nvml& nvml);

// One GPU; without kTopologySection, which needs the others.
GpuSnapshot read_gpu(const Nvml& nvml, const Gpu& gpu, unsigned sections);

// `gpus`: those to read, in this order; empty: all.
MachineSnapshot read_machine(const Nvml& nvml, unsigned sections, const std::vector<Gpu>& gpus = {});

// Processes' utilization needs a time to begin at: samples later than this (µs since 1970; 0: all that there
// is).
Reading<std::vector<ProcessUtilization>> read_process_utilization(const Gpu& gpu,
                                                                  unsigned long long since_us);

}  // namespace pagoda::driver
