#include "faults/reported_readings.h"

#include <algorithm>
#include <charconv>

namespace pagoda::faults {
namespace {

using enum Quantity;

constexpr QuantityRow kRows[] = {
    {kTemperature, "temperature.gpu", "Temperature/GPU Current Temp"},
    {kSlowdownTemperature, "", "Temperature/GPU Slowdown Temp"},
    {kShutdownTemperature, "", "Temperature/GPU Shutdown Temp"},
    {kMargin, "temperature.gpu.tlimit", "Temperature/GPU T.Limit Temp"},
    {kSlowdownMargin, "", "Temperature/GPU Slowdown T.Limit Temp"},
    {kShutdownMargin, "", "Temperature/GPU Shutdown T.Limit Temp"},
    {kMemoryTemperature, "temperature.memory", "Temperature/Memory Current Temp"},
    {kMemoryMaxTemperature, "", "Temperature/Memory Max Operating Temp"},
    {kPowerDraw, "power.draw", "Power Readings/Power Draw"},
    {kPowerDraw, "", "GPU Power Readings/Power Draw"},
    {kPowerDraw, "power.draw.average", "GPU Power Readings/Average Power Draw"},
    {kPowerLimit, "enforced.power.limit", "Power Readings/Enforced Power Limit"},
    {kPowerLimit, "power.limit", "GPU Power Readings/Current Power Limit"},
    {kGpuUtilization, "utilization.gpu", "Utilization/Gpu"},
    {kGpuUtilization, "", "Utilization/GPU"},
    {kMemoryUtilization, "utilization.memory", "Utilization/Memory"},
    {kMemoryUsed, "memory.used", "FB Memory Usage/Used"},
    {kMemoryTotal, "memory.total", "FB Memory Usage/Total"},
    {kClockReasons, "clocks_event_reasons.active", ""},
    {kClockReasons, "clocks_throttle_reasons.active", ""},
    {kClockReasons, "clocks_event_reasons.gpu_idle", "Reasons/Idle", 0x1},
    {kClockReasons, "clocks_event_reasons.sw_power_cap", "Reasons/SW Power Cap", 0x4},
    {kClockReasons, "clocks_throttle_reasons.sw_power_cap", "", 0x4},
    {kClockReasons, "clocks_event_reasons.hw_slowdown", "Reasons/HW Slowdown", 0x8},
    {kClockReasons, "clocks_throttle_reasons.hw_slowdown", "", 0x8},
    {kClockReasons, "clocks_event_reasons.sw_thermal_slowdown", "Reasons/SW Thermal Slowdown", 0x20},
    {kClockReasons, "clocks_throttle_reasons.sw_thermal_slowdown", "", 0x20},
    {kClockReasons, "clocks_event_reasons.hw_thermal_slowdown", "HW Slowdown/HW Thermal Slowdown", 0x40},
    {kClockReasons, "clocks_throttle_reasons.hw_thermal_slowdown", "", 0x40},
    {kClockReasons, "clocks_event_reasons.hw_power_brake_slowdown", "HW Slowdown/HW Power Brake Slowdown",
     0x80},
    {kClockReasons, "clocks_throttle_reasons.hw_power_brake_slowdown", "", 0x80},
    {kPerformanceState, "pstate", "Performance State"},
    {kEccVolatile, "ecc.errors.uncorrected.volatile.total", "Volatile/SRAM Uncorrectable", 0, true},
    {kEccVolatile, "", "Volatile/SRAM Uncorrectable Parity", 0, true},
    {kEccVolatile, "", "Volatile/SRAM Uncorrectable SEC-DED", 0, true},
    {kEccVolatile, "", "Volatile/DRAM Uncorrectable", 0, true},
    {kEccVolatile, "", "Volatile/Double Bit/Total", 0, true},
    {kEccAggregate, "ecc.errors.uncorrected.aggregate.total", "Aggregate/SRAM Uncorrectable", 0, true},
    {kEccAggregate, "", "Aggregate/SRAM Uncorrectable Parity", 0, true},
    {kEccAggregate, "", "Aggregate/SRAM Uncorrectable SEC-DED", 0, true},
    {kEccAggregate, "", "Aggregate/DRAM Uncorrectable", 0, true},
    {kEccAggregate, "", "Aggregate/Double Bit/Total", 0, true},
    {kSramThreshold, "ecc.errors.uncorrected.aggregate.sram.thresholdExceeded",
     "Aggregate/SRAM Threshold Exceeded"},
    {kChannelRepairPending, "", "ECC Errors/Channel Repair Pending"},
    {kTpcRepairPending, "", "ECC Errors/TPC Repair Pending"},
    {kUnrepairableMemory, "", "ECC Errors/Unrepairable Memory"},
    {kRetiredDoubleBit, "retired_pages.double_bit.count", "Retired Pages/Double Bit ECC"},
    {kRetiredSingleBit, "retired_pages.single_bit_ecc.count", "Retired Pages/Single Bit ECC"},
    {kRetirementPending, "retired_pages.pending", "Retired Pages/Pending Page Blacklist"},
    {kRetirementPending, "", "Retired Pages/Pending"},
    {kRemappedRows, "remapped_rows.uncorrectable", "Remapped Rows/Uncorrectable Error"},
    {kRemapPending, "remapped_rows.pending", "Remapped Rows/Pending"},
    {kRemapFailure, "remapped_rows.failure", "Remapped Rows/Remapping Failure Occurred"},
    {kRemapBanksNone, "remapped_rows.histogram.none", "Bank Remap Availability Histogram/None"},
    {kPcieGeneration, "pcie.link.gen.current", "PCIe Generation/Current"},
    {kPcieGeneration, "pcie.link.gen.gpucurrent", ""},
    {kPcieGenerationMax, "pcie.link.gen.max", "PCIe Generation/Max"},
    {kPcieWidth, "pcie.link.width.current", "Link Width/Current"},
    {kPcieWidthMax, "pcie.link.width.max", "Link Width/Max"},
    {kRecoveryAction, "gpu_recovery_action", "GPU Recovery Action"},
    {kFabricState, "fabric.state", "Fabric/State"},
    {kFabricStatus, "fabric.status", "Fabric/Status"},
};

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

bool is_failure(std::string_view value) {
  for (const std::string_view word : {"ERR!", "Unknown Error", "GPU is lost", "GPU requires reset"}) {
    if (value.find(word) != std::string_view::npos) return true;
  }
  return false;
}

std::optional<double> number_of(std::string_view value) {
  if (value == "Yes" || value == "Active" || value == "Enabled") return 1;
  if (value == "No" || value == "Not Active" || value == "Disabled") return 0;
  if (value.starts_with("0x")) {
    uint64_t bits = 0;
    const auto parsed = std::from_chars(value.data() + 2, value.data() + value.size(), bits, 16);
    if (parsed.ec != std::errc()) return std::nullopt;
    return static_cast<double>(bits);
  }
  if (value.size() >= 2 && value.front() == 'P') value.remove_prefix(1);  // P0
  double number = 0;
  const auto parsed =
      std::from_chars(value.data(), value.data() + value.size(), number, std::chars_format::fixed);
  if (parsed.ec != std::errc()) return std::nullopt;
  return number;
}

}  // namespace

std::span<const QuantityRow> quantity_rows() {
  return kRows;
}

std::string_view name_of(Quantity quantity) {
  const auto row = std::find_if(std::begin(kRows), std::end(kRows),
                                [&](const QuantityRow& r) { return r.quantity == quantity; });
  return row == std::end(kRows) ? "?" : row->csv.empty() ? row->query : row->csv;
}

void GpuReadings::take(const QuantityRow& row, std::string_view value, int64_t at, std::string_view whole) {
  value = trim(value);
  Reading& reading = (*this)[row.quantity];
  if (is_failure(value)) {
    ++asked;
    ++failures;
    if (reading.value) return;
    reading.failed = true;
    reading.text = value;
    reading.line = at;
    reading.evidence = whole;
    return;
  }
  if (value.empty() || value == "N/A" || value.front() == '[' || value == "-" || value == "?") return;
  ++asked;
  std::optional<double> number = number_of(value);
  const double before = reading.value.value_or(0);
  if (number && row.bit > 0) {
    const auto bits = static_cast<uint64_t>(before), bit = static_cast<uint64_t>(row.bit);
    number = static_cast<double>(*number != 0 ? bits | bit : bits);
  }
  if (number && row.sum) number = *number + before;
  // Of several lines that make one number, the one that made it larger is the evidence.
  const bool adds = (row.bit > 0 || row.sum) && reading.value;
  reading.failed = false;
  if (adds && number == reading.value) return;
  reading.value = number;
  reading.text = value;
  reading.line = at;
  reading.evidence = whole;
}

void GpuReadings::take(Quantity q, std::string_view value, int64_t at, std::string_view whole) {
  take(QuantityRow{q, {}, {}}, value, at, whole);
}

void Snapshot::take_time(std::string_view text) {
  when = time_of_line(text);
  time = when.text;
  when.text = {};
}

std::string GpuReadings::label() const {
  for (const std::string* text : {&address, &index, &uuid}) {
    if (!text->empty()) return *text;
  }
  return "?";
}

}  // namespace pagoda::faults
