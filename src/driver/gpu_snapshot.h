// The machine's GPUs at one moment: what smi, the exporter and doctor show. Plain data; who fills it is
// gpu_snapshot_reader.h. A GPU that does not answer is in it, with readings that say so.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "driver/gpu_readings.h"

namespace pagoda::driver {

struct GpuSnapshot {
  unsigned index = 0;
  Identity identity;
  InforomReadings inforom;
  PlatformReadings platform;
  PciReadings pci;
  ModeReadings modes;
  ClockEvents clock_events;
  ViolationReadings violations;
  Field<unsigned> fan_percent;
  Field<unsigned> performance_state;  // 0 (full speed) … 15
  MemoryUse memory, bar1, protected_memory;
  UtilizationReadings utilization;
  SampleReadings samples;
  SessionStats encoder, capture;
  EccReadings ecc;
  RetirementReadings retired;
  RowRemapReadings remapped;
  TemperatureReadings temperature;
  PowerReadings power;
  PowerSmoothing power_smoothing;
  ClockReadings clocks;
  Field<std::vector<SupportedClock>> supported_clocks;
  FabricReadings fabric;
  VgpuReadings vgpu;
  NvLinkReadings nvlink;
  MigReadings mig;
  Field<std::vector<GpuProcess>> compute_processes, graphics_processes;  // in the driver's order
  Field<std::vector<ProcessUtilization>> process_utilization;
  Field<std::vector<AccountedProcess>> accounted;
  // Topology: how near each GPU of the snapshot is (nvmlGpuTopologyLevel_t), by its place in the snapshot.
  std::vector<Field<unsigned>> nearness;
  Field<std::vector<unsigned>> cpus;        // near ones
  Field<std::vector<unsigned>> numa_nodes;  // near ones
  Field<unsigned> numa_node;                // of its own memory, where that is a node
};

// Compute and graphics processes as one list by pid; one that is both appears once.
Reading<std::vector<GpuProcess>> running_processes(const GpuSnapshot& gpu);

struct DriverReadings {
  Text version;       // "590.48.01"
  Text nvml_version;  // "13.590.48.01"
  Number cuda;        // 13010 is 13.1
};

struct MachineSnapshot {
  std::chrono::system_clock::time_point time;
  DriverReadings driver;
  unsigned attached = 0;  // GPUs that the driver has; `gpus` may be a choice of them
  std::vector<GpuSnapshot> gpus;
};

}  // namespace pagoda::driver
