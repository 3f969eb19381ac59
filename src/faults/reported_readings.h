// What one report says of one GPU, whatever its form: table, -q, CSV, dmon, or NVML itself (live_readings.h
// makes one from the driver floor's typed snapshot). Each reading keeps the line that says it: the evidence.
// Every reading may be absent, and absent is neither zero nor healthy.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "faults/line_time.h"

namespace pagoda::faults {

enum class Quantity {
  kTemperature,          // °C, as are all temperatures
  kSlowdownTemperature,  // where the GPU slows itself down
  kShutdownTemperature,
  kMargin,          // T.Limit: degrees left; signed
  kSlowdownMargin,  // the margin at which it slows down
  kShutdownMargin,
  kMemoryTemperature,
  kMemoryMaxTemperature,
  kPowerDraw,             // W
  kPowerLimit,            // W
  kGpuUtilization,        // percent
  kMemoryUtilization,     // percent
  kMemoryUsed,            // MiB
  kMemoryTotal,           // MiB
  kClockReasons,          // bits of nvmlClocksEventReason
  kPerformanceState,      // 0–15
  kEccVolatile,           // uncorrected errors since the driver was loaded
  kEccAggregate,          // uncorrected errors in the GPU's life
  kSramThreshold,         // 1: exceeded
  kChannelRepairPending,  // 1: yes; so are all that follow with "pending"
  kTpcRepairPending,
  kUnrepairableMemory,
  kRetiredDoubleBit,  // pages
  kRetiredSingleBit,  // pages
  kRetirementPending,
  kRemappedRows,  // after uncorrected errors
  kRemapPending,
  kRemapFailure,
  kRemapBanksNone,  // banks without spare rows
  kPcieGeneration,
  kPcieGenerationMax,  // of card and slot together
  kPcieWidth,          // lanes
  kPcieWidthMax,
  kRecoveryAction,  // text
  kFabricState,     // text
  kFabricStatus,    // text
  // Profiling, where the GPU has it (GPM): percent of time or of the peak, over the time between two samples.
  kGraphicsActivity,
  kSmActivity,
  kSmOccupancy,
  kTensorActivity,
  kDramActivity,
  kPcieFromHost,  // MB/s
  kCount,
};

// Where each quantity stands in each form.
struct QuantityRow {
  Quantity quantity;
  std::string_view csv;    // query field
  std::string_view query;  // end of the path in -q: "Temperature/GPU Current Temp"
  double bit = 0;          // >0: the value is a flag, and this its bit in the quantity
  bool sum = false;        // several lines of -q add up
};
struct Reading {
  std::optional<double> value;
  std::string text;      // as written, of texts and failures
  bool failed = false;   // it was asked for, and an error came: "ERR!", "[Unknown Error]"
  int64_t line = 0;      // of the source
  std::string evidence;  // that line
};

// One line of `nvidia-smi nvlink -s`.
struct NvLinkReading {
  std::string link;
  bool active = false;
  int64_t line = 0;
  std::string evidence;
};

struct GpuReadings {
  std::string index, name, uuid, address;  // empty: not said; address without function
  std::array<Reading, static_cast<size_t>(Quantity::kCount)> readings;
  int asked = 0;     // readings that the output holds, with failed and unjudged ones, without absent ones
  int failures = 0;  // of them
  std::vector<NvLinkReading> links;
  std::optional<int> processes;  // that the output lists for this GPU
  int64_t line = 0;              // where it begins
  std::string evidence;          // that line

  Reading& operator[](Quantity q) { return readings[static_cast<size_t>(q)]; }
  const Reading& operator[](Quantity q) const { return readings[static_cast<size_t>(q)]; }
  // Takes one value as nvidia-smi writes it ("65C", "45 %", "N/A", "ERR!", "Yes", "0x4").
  void take(const QuantityRow& row, std::string_view value, int64_t line, std::string_view evidence);
  void take(Quantity q, std::string_view value, int64_t line, std::string_view evidence);
  // The address, else the index, else the UUID; "?" when the output does not say.
  std::string label() const;
};

struct Snapshot {
  std::string kind;          // "nvidia-smi table", "nvidia-smi -q", …
  std::string driver, cuda;  // versions; empty: not said
  LineTime when;             // without its text
  std::string time;          // as written
  std::vector<GpuReadings> gpus;

  void take_time(std::string_view text);
};

std::span<const QuantityRow> quantity_rows();
std::string_view name_of(Quantity quantity);

}  // namespace pagoda::faults
