// One line of `-q` as data: where it stands, what it is called in text and in XML, which displays of -d show
// it, for which drivers and GPUs, and how it is read. The tables of query_rows_*.cc are the whole of -q, -x
// and their JSON.
#pragma once

#include <span>
#include <string_view>

#include "smi/cell.h"
#include "smi/output_style.h"
#include "smi/query_report.h"

namespace pagoda::smi {

// Displays of -d. A row without any is shown by a plain -q alone.
enum Display : unsigned {
  kNoDisplay = 0,
  kMemory = 1u << 0,
  kUtilization = 1u << 1,
  kEcc = 1u << 2,
  kTemperature = 1u << 3,
  kPower = 1u << 4,
  kClock = 1u << 5,
  kCompute = 1u << 6,
  kPids = 1u << 7,
  kPerformance = 1u << 8,
  kSupportedClocks = 1u << 9,
  kPageRetirement = 1u << 10,
  kAccounting = 1u << 11,
  kEncoderStats = 1u << 12,
  kSupportedTargetTemp = 1u << 13,
  kVoltage = 1u << 14,
  kFbcStats = 1u << 15,
  kRowRemapper = 1u << 16,
  kGspFirmware = 1u << 17,
  kPowerSmoothing = 1u << 18,
  kPowerProfiles = 1u << 19,
  kOnlyByDisplay = 1u << 31,  // a plain -q leaves it out
};

struct DisplayName {
  std::string_view name;
  unsigned display;
  unsigned sections;  // driver::Section: what it shows
};
std::span<const DisplayName> display_names();

// What a row's condition may look at.
struct RowContext {
  const driver::GpuSnapshot& gpu;
  const OutputStyle& style;
};

struct QueryRow {
  int depth;                                           // 1: directly below the GPU
  std::string_view label;                              // in text
  std::string_view tag;                                // in XML and JSON
  unsigned displays;                                   // of rows of depth 1; those below follow
  Cell (*read)(const driver::GpuSnapshot&) = nullptr;  // none: a heading
  bool (*when)(const RowContext&) = nullptr;           // none: always
  // Adds nodes under this row's (read's place), for lists.
  void (*expand)(const RowContext&, ReportNode&) = nullptr;
};

// In the order of the output.
std::span<const QueryRow> identity_rows();
std::span<const QueryRow> bus_rows();
std::span<const QueryRow> activity_rows();
std::span<const QueryRow> ecc_rows();
std::span<const QueryRow> power_rows();
std::span<const QueryRow> clock_rows();
std::span<const QueryRow> process_rows();

}  // namespace pagoda::smi
