// The table of fields that DCGM has names and numbers for: what each is called, its unit and type, and where
// it is read from. dcgmi and the exporter walk it. Sources of the facts: the field identifiers that NVIDIA
// documents for DCGM 3, 4 and 4.6; the column heads are those of `dcgmi dmon`.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "telemetry/field_value.h"
#include "telemetry/gpu_sample.h"

namespace pagoda::telemetry {

enum class FieldType { kInteger, kReal, kText };
// How Prometheus sees it: a level, a total that only grows, or a text that becomes a label.
enum class FieldKind { kGauge, kCounter, kLabel };
// The smallest thing that has a value of its own. Of anything smaller there is none: the temperature is the
// board's, not a MIG device's.
enum class FieldLevel { kSystem, kGpu, kGpuInstance, kComputeInstance };

struct FieldRow;
using FieldRead = FieldReading (*)(const FieldRow& row, const EntityReadings& entity);

struct FieldRow {
  unsigned id = 0;
  std::string_view name;      // in DCGM 3 and 4: "DCGM_FI_DEV_GPU_TEMP"
  std::string_view new_name;  // since DCGM 4.6: "DCGM_FI_DEV_GPU_TEMP_CELSIUS"; empty: the same
  std::string_view tag;       // "gpu_temp", the long name of `dcgmi dmon -l`
  std::string_view column;    // "TMPTR", the head of its column
  std::string_view unit;      // "C", "W", "MHz"; empty: a count, a state, a text
  FieldType type = FieldType::kInteger;
  FieldKind kind = FieldKind::kGauge;
  FieldLevel level = FieldLevel::kGpu;
  unsigned sections = 0;  // driver::Section bits that it is read from
  FieldRead read = nullptr;
  std::string_view help;
  unsigned width = 5;  // characters that a value needs
  unsigned gpm = 0;    // NVML_GPM_METRIC_…, where that is its source
  unsigned index = 0;  // of one of several: the NVLink, the part of a mask
};

// All rows, by id.
std::span<const FieldRow> field_rows();

const FieldRow* find_field(unsigned id);
// By old name, new name or tag; capitals do not matter, and "DCGM_FI_" may be left out.
const FieldRow* find_field(std::string_view name);
// By number or by name: "1001", "DCGM_FI_PROF_GR_ENGINE_ACTIVE", "gr_engine_active".
const FieldRow* find_field_word(std::string_view word);

// Why DCGM knows a number that is not in the table: the thing it belongs to, as "NVSwitches"; empty: DCGM
// does not know it either.
std::optional<std::string_view> owner_of_unread_field(unsigned id);

// The field's value of that entity. Of a MIG device a field of a larger thing is absent (kUnsupported).
FieldReading read_field(const FieldRow& row, const EntityReadings& entity);

}  // namespace pagoda::telemetry
