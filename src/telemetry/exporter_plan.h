// What the exporter shows: the lines of a counters file, each bound to a field of the catalogue or to a
// series that the exporter works out itself, and what must be read for them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "telemetry/counters_file.h"
#include "telemetry/field_catalogue.h"
#include "telemetry/gpu_sampler.h"

namespace pagoda::telemetry {

// DCGM_EXP_…: not fields of DCGM.
enum class DerivedSeries {
  kXidErrorsCount,  // of the window, by XID
  kXidErrorsTotal,
  kClockEventsCount,  // samples of the window, by reason
  kClockEventsTotal,  // how often each reason began
  kP2pStatus,         // NVLink between two GPUs
  kGpuHealthStatus,   // by system
};

struct ExportColumn {
  CounterLine line;
  const FieldRow* field = nullptr;  // else `derived` is there
  std::optional<DerivedSeries> derived;
};

struct ExporterPlan {
  std::vector<ExportColumn> series, labels;
  SampleNeeds needs;
  bool p2p = false, health = false;
  std::vector<std::string> warnings;  // lines that are left out, with the reason

  bool has(DerivedSeries derived) const;
};

// kInvalidArgument: a line that names no field, or a text as a number; the file and the line are named.
Result<ExporterPlan> plan_export(const std::vector<CounterLine>& lines, const std::string& source);

// The built-in counters file: dcgm-exporter's default fields, and what the alert rules need.
std::string_view built_in_counters();

}  // namespace pagoda::telemetry
