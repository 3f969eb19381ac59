#include "faults/live_readings.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "faults/event_reader.h"

namespace pagoda::faults {
namespace {

using driver::Absence;
using driver::AbsenceReason;
using driver::GpuSnapshot;
using enum Quantity;
using Value = driver::Reading<double>;

constexpr double kBytesPerMib = 1024.0 * 1024.0;

template <class T>
Value number(const driver::Field<T>& field, double scale = 1) {
  if (!field) return tl::unexpected<Absence>(field.error());
  return static_cast<double>(*field) * scale;
}

Value count_of(const driver::Field<std::vector<driver::RetiredPage>>& pages) {
  if (!pages) return tl::unexpected<Absence>(pages.error());
  return static_cast<double>(pages->size());
}

// nvidia-smi's N/A: power of chips without an average is the instantaneous one.
Value power_of(const GpuSnapshot& gpu) {
  return number(gpu.power.usage, 0.001);
}

struct LiveRow {
  LiveQuantity shown;
  Value (*read)(const GpuSnapshot&);  // nullptr: not of a snapshot
};
using G = GpuSnapshot;

constexpr LiveRow kRows[] = {
    {{kTemperature, "temperature.gpu", " °C"}, [](const G& g) { return number(g.temperature.gpu); }},
    {{kSlowdownTemperature, "temperature.slowdown", " °C"},
     [](const G& g) { return number(g.temperature.slowdown); }},
    {{kShutdownTemperature, "temperature.shutdown", " °C"},
     [](const G& g) { return number(g.temperature.shutdown); }},
    {{kMargin, "temperature.gpu.tlimit", " °C"}, [](const G& g) { return number(g.temperature.margin); }},
    {{kSlowdownMargin, "temperature.slowdown.tlimit", " °C"},
     [](const G& g) { return number(g.temperature.slowdown_margin); }},
    {{kShutdownMargin, "temperature.shutdown.tlimit", " °C"},
     [](const G& g) { return number(g.temperature.shutdown_margin); }},
    {{kMemoryTemperature, "temperature.memory", " °C"},
     [](const G& g) { return number(g.temperature.memory); }},
    {{kMemoryMaxTemperature, "temperature.memory.max", " °C"},
     [](const G& g) { return number(g.temperature.memory_max); }},
    {{kPowerDraw, "power.draw", " W"}, power_of},
    {{kPowerLimit, "enforced.power.limit", " W"},
     [](const G& g) { return number(g.power.gpu.limit_enforced, 0.001); }},
    {{kGpuUtilization, "utilization.gpu", " %"}, [](const G& g) { return number(g.utilization.gpu); }},
    {{kMemoryUtilization, "utilization.memory", " %"},
     [](const G& g) { return number(g.utilization.memory); }},
    {{kMemoryUsed, "memory.used", " MiB"},
     [](const G& g) { return number(g.memory.used, 1 / kBytesPerMib); }},
    {{kMemoryTotal, "memory.total", " MiB"},
     [](const G& g) { return number(g.memory.total, 1 / kBytesPerMib); }},
    {{kClockReasons, "clocks_event_reasons.active", ""},
     [](const G& g) { return number(g.clock_events.active); }},
    {{kPerformanceState, "pstate", ""}, [](const G& g) { return number(g.performance_state); }},
    {{kEccVolatile, "ecc.errors.uncorrected.volatile.total", ""},
     [](const G& g) { return number(g.ecc.volatile_uncorrected.total); }},
    {{kEccAggregate, "ecc.errors.uncorrected.aggregate.total", ""},
     [](const G& g) { return number(g.ecc.aggregate_uncorrected.total); }},
    {{kSramThreshold, "ecc.sram.threshold_exceeded", ""},
     [](const G& g) { return number(g.ecc.sram.threshold_exceeded); }},
    {{kChannelRepairPending, "channel_repair_pending", ""},
     [](const G& g) { return number(g.ecc.channel_repair_pending); }},
    {{kTpcRepairPending, "tpc_repair_pending", ""},
     [](const G& g) { return number(g.ecc.tpc_repair_pending); }},
    {{kUnrepairableMemory, "unrepairable_memory", ""},
     [](const G& g) { return number(g.ecc.unrepairable_memory); }},
    {{kRetiredDoubleBit, "retired_pages.double_bit.count", ""},
     [](const G& g) { return count_of(g.retired.double_bit); }},
    {{kRetiredSingleBit, "retired_pages.single_bit_ecc.count", ""},
     [](const G& g) { return count_of(g.retired.single_bit); }},
    {{kRetirementPending, "retired_pages.pending", ""}, [](const G& g) { return number(g.retired.pending); }},
    {{kRemappedRows, "remapped_rows.uncorrectable", ""},
     [](const G& g) { return number(g.remapped.uncorrectable); }},
    {{kRemapPending, "remapped_rows.pending", ""}, [](const G& g) { return number(g.remapped.pending); }},
    {{kRemapFailure, "remapped_rows.failure", ""}, [](const G& g) { return number(g.remapped.failure); }},
    {{kRemapBanksNone, "remapped_rows.histogram.none", ""},
     [](const G& g) { return number(g.remapped.bank_none); }},
    {{kPcieGeneration, "pcie.link.gen.current", ""},
     [](const G& g) { return number(g.pci.generation_current); }},
    {{kPcieGenerationMax, "pcie.link.gen.max", ""}, [](const G& g) { return number(g.pci.generation_max); }},
    {{kPcieWidth, "pcie.link.width.current", ""}, [](const G& g) { return number(g.pci.width_current); }},
    {{kPcieWidthMax, "pcie.link.width.max", ""}, [](const G& g) { return number(g.pci.width_max); }},
    {{kPcieFromHost, "pcie.rx", " MB/s"}, [](const G& g) { return number(g.pci.rx_kb_per_s, 1e-3); }},
    {{kGraphicsActivity, "gpm.graphics", " %"}, nullptr},
    {{kSmActivity, "gpm.sm", " %"}, nullptr},
    {{kSmOccupancy, "gpm.sm_occupancy", " %"}, nullptr},
    {{kTensorActivity, "gpm.tensor", " %"}, nullptr},
    {{kDramActivity, "gpm.dram", " %"}, nullptr},
};

// As nvidia-smi -q words them; nvmlDeviceGpuRecoveryAction_t, nvmlGpuFabricState_t.
constexpr std::array<std::string_view, 6> kRecoveryWords = {
    "None", "Reset", "Reboot", "Drain P2P", "Drain and Reset", "Recover IMEX Domain"};
constexpr std::array<std::string_view, 4> kFabricWords = {"N/A", "Not Started", "In Progress", "Completed"};

template <size_t N>
void state_text(GpuReadings& gpu, Quantity quantity, std::string_view name, const driver::Number& field,
                const std::array<std::string_view, N>& words) {
  if (!field || *field >= N || *field == 0) return;
  Reading& reading = gpu[quantity];
  reading.text = words[*field];
  reading.evidence = format("{}: {}", name, words[*field]);
  ++gpu.asked;
}

// An answer that failed is told. One that the GPU does not have, or this user may not see, is absent; so is
// an argument or state that an older chip refuses.
bool is_failure(const Absence& why) {
  return why.reason == AbsenceReason::kTimedOut || why.reason == AbsenceReason::kLost ||
         why.code == NVML_ERROR_UNKNOWN || why.code == NVML_ERROR_IRQ_ISSUE;
}

void fail_reading(GpuReadings& gpu, const LiveRow& row, const Absence& why) {
  if (!is_failure(why)) return;
  Reading& reading = gpu[row.shown.quantity];
  reading.failed = true;
  reading.text = why.reason == AbsenceReason::kTimedOut ? "no answer in time" : driver::sentence_of(why.code);
  reading.evidence = format("{}: {}", row.shown.name, reading.text);
  ++gpu.asked;
  ++gpu.failures;
}

void add_links(const GpuSnapshot& snapshot, GpuReadings& gpu) {
  for (size_t link = 0; link < snapshot.nvlink.links.size(); ++link) {
    const driver::Flag& active = snapshot.nvlink.links[link].active;
    if (!active) continue;
    gpu.links.push_back(
        {std::to_string(link), *active, 0, format("nvlink {}: {}", link, *active ? "active" : "inactive")});
  }
}

}  // namespace

const LiveQuantity* find_live_quantity(Quantity quantity) {
  const auto row = std::find_if(std::begin(kRows), std::end(kRows),
                                [&](const LiveRow& r) { return r.shown.quantity == quantity; });
  return row == std::end(kRows) ? nullptr : &row->shown;
}

void state(GpuReadings& gpu, Quantity quantity, double value) {
  const LiveQuantity* shown = find_live_quantity(quantity);
  Reading& reading = gpu[quantity];
  reading.value = value;
  reading.failed = false;
  reading.text = quantity == kClockReasons       ? format("0x{:x}", static_cast<uint64_t>(value))
                 : quantity == kPerformanceState ? format("P{:.0f}", value)
                                                 : format("{:.0f}", value);
  reading.evidence =
      shown == nullptr ? reading.text : format("{}: {}{}", shown->name, reading.text, shown->unit);
  ++gpu.asked;
}

GpuReadings report_of(const GpuSnapshot& snapshot) {
  GpuReadings gpu;
  gpu.index = std::to_string(snapshot.index);
  gpu.name = snapshot.identity.name.value_or("");
  gpu.uuid = snapshot.identity.uuid.value_or("");
  if (snapshot.pci.bus_id) gpu.address = short_address(*snapshot.pci.bus_id);
  gpu.evidence = format("GPU {}: {}", snapshot.index, gpu.name.empty() ? "no answer" : gpu.name);
  for (const LiveRow& row : kRows) {
    if (row.read == nullptr) continue;
    const Value value = row.read(snapshot);
    if (value) {
      state(gpu, row.shown.quantity, *value);
    } else {
      fail_reading(gpu, row, value.error());
    }
  }
  state_text(gpu, kRecoveryAction, "recovery action", snapshot.modes.recovery_action, kRecoveryWords);
  state_text(gpu, kFabricState, "fabric state", snapshot.fabric.state, kFabricWords);
  if (const auto running = driver::running_processes(snapshot))
    gpu.processes = static_cast<int>(running->size());
  add_links(snapshot, gpu);
  return gpu;
}

Snapshot report_of(const driver::MachineSnapshot& machine) {
  Snapshot report;
  report.kind = "NVML";
  report.driver = machine.driver.version.value_or("");
  for (const GpuSnapshot& gpu : machine.gpus) report.gpus.push_back(report_of(gpu));
  return report;
}

Answering answering(const GpuSnapshot& gpu) {
  // Asked in every sample; a GPU that is gone fails all of them.
  bool hangs = true, asked = false;
  for (const Absence* why : {gpu.memory.total ? nullptr : &gpu.memory.total.error(),
                             gpu.performance_state ? nullptr : &gpu.performance_state.error(),
                             gpu.temperature.gpu ? nullptr : &gpu.temperature.gpu.error()}) {
    if (why != nullptr && why->reason == AbsenceReason::kLost) return Answering::kLost;
    if (why != nullptr && *why == driver::kNotRead) continue;
    asked = true;
    hangs = hangs && why != nullptr && why->reason == AbsenceReason::kTimedOut;
  }
  return asked && hangs ? Answering::kHangs : Answering::kYes;
}

}  // namespace pagoda::faults
