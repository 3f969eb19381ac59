// NVML's answers as a report: the driver floor's typed snapshot, each value with the words that show it as
// evidence.
#pragma once

#include <string>
#include <string_view>

#include "driver/gpu_snapshot.h"
#include "faults/reported_readings.h"

namespace pagoda::faults {

// How a live reading is named and shown: "temperature.gpu", "°C".
struct LiveQuantity {
  Quantity quantity;
  std::string_view name, unit;
};
// nullptr: NVML does not tell it.
const LiveQuantity* find_live_quantity(Quantity quantity);

// Sets a value and its evidence: "temperature.gpu: 91 °C".
void state(GpuReadings& gpu, Quantity quantity, double value);

// One report of kind "NVML". A GPU whose identity cannot be read is in it, named by its index.
Snapshot report_of(const driver::MachineSnapshot& machine);
GpuReadings report_of(const driver::GpuSnapshot& gpu);

// What became of a GPU that answers nothing, as its absent readings tell.
enum class Answering { kYes, kLost, kHangs };
Answering answering(const driver::GpuSnapshot& gpu);

}  // namespace pagoda::faults
