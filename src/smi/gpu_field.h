// The fields of --query-gpu as data: name, alias, unit, what has to be read, what it means, how it is shown.
// The order is that of the newest driver's own list.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "driver/gpu_snapshot_reader.h"
#include "smi/cell.h"
#include "smi/output_style.h"

namespace pagoda::smi {

struct FieldContext {
  const driver::MachineSnapshot& machine;
  const driver::GpuSnapshot& gpu;
  const OutputStyle& style;
};

struct GpuField {
  std::string_view name;
  std::string_view alias;  // an older name; headers print `name`
  std::string_view unit;   // of the header: "MiB"
  unsigned sections;       // driver::Section
  std::string_view meaning;
  Cell (*read)(const FieldContext&);
  bool bare = false;  // absent is N/A rather than [N/A]
};

std::span<const GpuField> identity_fields();
std::span<const GpuField> activity_fields();
std::span<const GpuField> ecc_fields();
std::span<const GpuField> power_fields();
std::span<const GpuField> clock_and_fabric_fields();

// All of them.
std::vector<const GpuField*> gpu_fields();
// By name or alias; null: no such field.
const GpuField* find_gpu_field(std::string_view name);

}  // namespace pagoda::smi
