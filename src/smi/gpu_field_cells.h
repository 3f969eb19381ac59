// Cells that take more than one reading, for fields of --query-gpu and lines of -q.
#pragma once

#include "smi/gpu_field.h"

namespace pagoda::smi {

// "2026/07/14 09:00:27.792" in the machine's time zone.
std::string csv_time(std::chrono::system_clock::time_point time);

Cell compute_capability(const driver::GpuSnapshot& gpu);
Cell inforom_validity(const driver::GpuSnapshot& gpu);
Cell performance_state(const driver::GpuSnapshot& gpu);
Cell edpp_percent(const driver::GpuSnapshot& gpu);
Cell page_count(const driver::Field<std::vector<driver::RetiredPage>>& pages);
// A clock that newer drivers call deprecated.
Cell application_clock(const FieldContext& f, const driver::Number& mhz);

enum class SmoothingForm {
  kPlain,
  kWatts,
  kPercent,
  kYesNo,
  kEnabledDisabled,
  kMilliseconds,
  kWattsPerSecond
};
using enum SmoothingForm;
// A field of power smoothing, by its NVML id.
Cell smoothing(const driver::GpuSnapshot& gpu, unsigned field, SmoothingForm form);

// Fabric values count only where the GPU belongs to one.
Cell fabric_cell(const driver::GpuSnapshot& gpu, Cell cell);
Cell fabric_state(const driver::GpuSnapshot& gpu);
Cell fabric_status(const driver::GpuSnapshot& gpu);
Cell fabric_health(const driver::GpuSnapshot& gpu, unsigned shift);
Cell fabric_configuration(const driver::GpuSnapshot& gpu);

}  // namespace pagoda::smi
