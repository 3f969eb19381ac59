#include "telemetry/exporter_plan.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "telemetry/health_window.h"

namespace pagoda::telemetry {
namespace {

struct DerivedRow {
  std::string_view name;
  DerivedSeries series;
};
constexpr std::array kDerived{
    DerivedRow{"DCGM_EXP_XID_ERRORS_COUNT", DerivedSeries::kXidErrorsCount},
    DerivedRow{"DCGM_EXP_XID_ERRORS_TOTAL", DerivedSeries::kXidErrorsTotal},
    DerivedRow{"DCGM_EXP_CLOCK_EVENTS_COUNT", DerivedSeries::kClockEventsCount},
    DerivedRow{"DCGM_EXP_CLOCK_EVENTS_TOTAL", DerivedSeries::kClockEventsTotal},
    DerivedRow{"DCGM_EXP_P2P_STATUS", DerivedSeries::kP2pStatus},
    DerivedRow{"DCGM_EXP_GPU_HEALTH_STATUS", DerivedSeries::kGpuHealthStatus},
};

// Fields of things that are not GPUs: a file made for a whole node names them, and they are left out.
struct OtherThing {
  std::string_view prefix, thing;
};
constexpr std::array kOtherThings{
    OtherThing{"DCGM_FI_DEV_NVSWITCH_", "NVSwitches"},
    OtherThing{"DCGM_FI_NVSWITCH_", "NVSwitches"},
    OtherThing{"DCGM_FI_DEV_CPU_", "Grace CPUs"},
    OtherThing{"DCGM_FI_DEV_CONNECTX_", "ConnectX adapters"},
};

// Read in any case: who a GPU is, whether it answers, and what pagoda's own series show.
constexpr unsigned kOwnSections = driver::kIdentitySection | driver::kPciSection | driver::kModesSection |
                                  driver::kMemorySection | driver::kTemperatureSection |
                                  driver::kClockEventsSection | driver::kNvLinkSection | driver::kMigSection;

Unexpected wrong(const std::string& source, const CounterLine& line, std::string_view what) {
  return fail(ErrorCode::kInvalidArgument, format("{}, line {}: {} {}", source, line.line, line.name, what));
}

// "DCGM_FI_DEV_GPU_TEMP", as the catalogue has it; tags and numbers, which it also finds, are not meant here.
const FieldRow* find_exact(const std::string& name) {
  const FieldRow* field = find_field(name);
  return field != nullptr && (field->name == name || field->new_name == name) ? field : nullptr;
}

const OtherThing* belongs_to(std::string_view name) {
  const auto found = std::find_if(kOtherThings.begin(), kOtherThings.end(),
                                  [&](const OtherThing& other) { return name.starts_with(other.prefix); });
  return found == kOtherThings.end() ? nullptr : &*found;
}

Status bind_field(const CounterLine& line, const FieldRow& field, const std::string& source,
                  ExporterPlan& plan) {
  if (line.kind == CounterKind::kLabel) {
    plan.labels.push_back({line, &field, std::nullopt});
    return {};
  }
  if (field.type == FieldType::kText)
    return wrong(source, line, "is a text: its type is label, not gauge or counter");
  plan.series.push_back({line, &field, std::nullopt});
  return {};
}

}  // namespace

bool ExporterPlan::has(DerivedSeries wanted) const {
  return std::any_of(series.begin(), series.end(),
                     [&](const ExportColumn& column) { return column.derived == wanted; });
}

Result<ExporterPlan> plan_export(const std::vector<CounterLine>& lines, const std::string& source) {
  ExporterPlan plan;
  std::vector<const FieldRow*> fields;
  for (const CounterLine& line : lines) {
    const auto derived = std::find_if(kDerived.begin(), kDerived.end(),
                                      [&](const DerivedRow& row) { return row.name == line.name; });
    if (derived != kDerived.end()) {
      if (line.kind == CounterKind::kLabel) return wrong(source, line, "is a number: it cannot be a label");
      plan.series.push_back({line, nullptr, derived->series});
    } else if (const FieldRow* field = find_exact(line.name)) {
      PAGODA_TRY(bind_field(line, *field, source, plan));
      fields.push_back(field);
    } else if (const OtherThing* other = belongs_to(line.name)) {
      plan.warnings.push_back(format("{}, line {}: {} belongs to {}, which are not read: left out", source,
                                     line.line, line.name, other->thing));
    } else {
      return wrong(source, line, "is not a field of DCGM that is known here");
    }
  }
  plan.needs = needs_of(fields);
  plan.needs.sections |= kOwnSections;
  plan.needs.xids = true;
  plan.p2p = plan.has(DerivedSeries::kP2pStatus);
  plan.health = plan.has(DerivedSeries::kGpuHealthStatus);
  if (plan.health) plan.needs.sections |= health_needs(kJudgedHealth).sections;
  std::sort(plan.labels.begin(), plan.labels.end(),
            [](const ExportColumn& a, const ExportColumn& b) { return a.line.name < b.line.name; });
  return plan;
}

std::string_view built_in_counters() {
  return R"(# The fields that pagoda exporter shows, one a line: FIELD, type, help.
# Types: gauge, counter, and label (no series: a label of the others). A line that begins with # is passed over.

# Clocks
DCGM_FI_DEV_SM_CLOCK, gauge, Clock of the multiprocessors (in MHz).
DCGM_FI_DEV_MEM_CLOCK, gauge, Clock of the memory (in MHz).
DCGM_FI_DEV_CLOCKS_EVENT_REASONS, gauge, Why the clock is lower than asked for (bits).
# DCGM_EXP_CLOCK_EVENTS_COUNT, gauge, Readings of the last minutes with a reason for a lower clock.
# DCGM_EXP_CLOCK_EVENTS_TOTAL, counter, How often a reason for a lower clock began.

# Heat and power
DCGM_FI_DEV_MEMORY_TEMP, gauge, Temperature of the memory (in C).
DCGM_FI_DEV_GPU_TEMP, gauge, Temperature of the GPU (in C).
DCGM_FI_DEV_POWER_USAGE, gauge, Power drawn (in W).
DCGM_FI_DEV_POWER_MGMT_LIMIT, gauge, Power limit (in W).
DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION, counter, Energy used since the driver was loaded (in mJ).

# Load; the time over which the driver takes its means differs by product
DCGM_FI_DEV_GPU_UTIL, gauge, Share of time in which a kernel ran (in %).
DCGM_FI_DEV_MEM_COPY_UTIL, gauge, Share of time in which memory was read or written (in %).
DCGM_FI_DEV_ENC_UTIL, gauge, Load of the video encoder (in %).
DCGM_FI_DEV_DEC_UTIL, gauge, Load of the video decoder (in %).

# Memory
DCGM_FI_DEV_FB_FREE, gauge, Memory that is free (in MiB).
DCGM_FI_DEV_FB_USED, gauge, Memory in use (in MiB).
DCGM_FI_DEV_FB_RESERVED, gauge, Memory that the driver keeps for itself (in MiB).

# Errors
DCGM_FI_DEV_XID_ERRORS, gauge, The last XID since the exporter began; 0 is none.
# DCGM_EXP_XID_ERRORS_COUNT, gauge, XIDs of the last minutes.
# DCGM_EXP_XID_ERRORS_TOTAL, counter, XIDs since the exporter began.
# DCGM_EXP_GPU_HEALTH_STATUS, gauge, "0 well, 10 a warning, 20 a failure; by system."
DCGM_FI_DEV_PCIE_REPLAY_COUNTER, counter, Packets that PCIe sent again.
DCGM_FI_DEV_ECC_SBE_VOL_TOTAL, counter, Corrected memory errors since the driver was loaded.
DCGM_FI_DEV_ECC_DBE_VOL_TOTAL, counter, Uncorrected memory errors since the driver was loaded.
# DCGM_FI_DEV_ECC_SBE_AGG_TOTAL, counter, Corrected memory errors in the board's life.
# DCGM_FI_DEV_ECC_DBE_AGG_TOTAL, counter, Uncorrected memory errors in the board's life.
# DCGM_FI_DEV_RETIRED_SBE, counter, Memory pages retired after corrected errors.
# DCGM_FI_DEV_RETIRED_DBE, counter, Memory pages retired after an uncorrected error.
DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS, counter, Memory rows replaced after uncorrected errors.
DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS, counter, Memory rows replaced after corrected errors.
DCGM_FI_DEV_ROW_REMAP_FAILURE, gauge, 1: a memory row could not be replaced.
DCGM_FI_DEV_ROW_REMAP_PENDING, gauge, 1: a memory row is replaced at the next reset.

# NVLink
DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL, gauge, Traffic over all NVLinks (in MB per second).
# DCGM_EXP_P2P_STATUS, gauge, NVLink between two GPUs: 0 is well.

# vGPU
DCGM_FI_DEV_VGPU_LICENSE_STATUS, gauge, State of the vGPU licence.

# Labels
DCGM_FI_DRIVER_VERSION, label, Version of the driver.

# Profiling: ratios of 0 to 1; Hopper and later
DCGM_FI_PROF_GR_ENGINE_ACTIVE, gauge, Share of time in which the graphics and compute engine was busy.
DCGM_FI_PROF_SM_ACTIVE, gauge, Share of cycles in which a multiprocessor had a warp to run.
# DCGM_FI_PROF_SM_OCCUPANCY, gauge, Resident warps against the most that fit.
DCGM_FI_PROF_PIPE_TENSOR_ACTIVE, gauge, Share of cycles in which the tensor cores were busy.
DCGM_FI_PROF_DRAM_ACTIVE, gauge, Share of cycles in which data came from or went to memory.
# DCGM_FI_PROF_PIPE_FP64_ACTIVE, gauge, Share of cycles in which the FP64 units were busy.
# DCGM_FI_PROF_PIPE_FP32_ACTIVE, gauge, Share of cycles in which the FP32 units were busy.
# DCGM_FI_PROF_PIPE_FP16_ACTIVE, gauge, Share of cycles in which the FP16 units were busy.
DCGM_FI_PROF_PCIE_TX_BYTES, gauge, "Sent over PCIe, headers included (in bytes per second)."
DCGM_FI_PROF_PCIE_RX_BYTES, gauge, "Received over PCIe, headers included (in bytes per second)."
)";
}

}  // namespace pagoda::telemetry
