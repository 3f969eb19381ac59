#include "faults/reading_rules.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "faults/event_reader.h"
#include "faults/evidence_text.h"
#include "faults/fault_catalogue.h"

namespace pagoda::faults {
namespace {

using enum Quantity;
using namespace thresholds;

// nvmlClocksEventReason bits.
constexpr uint64_t kIdle = 0x1, kHwSlowdown = 0x8, kSwThermal = 0x20, kHwThermal = 0x40, kPowerBrake = 0x80;

// The rules of one GPU; each member is one topic.
class Judge {
 public:
  Judge(const Snapshot& snapshot, const GpuReadings& gpu, const std::string& source, const EventSink& sink)
      : snapshot_(snapshot), gpu_(gpu), source_(source), sink_(sink) {}

  void run() {
    failures();
    heat();
    clocks();
    ecc();
    retirement();
    pcie();
    state();
    memory();
  }

 private:
  double value(Quantity q) const { return gpu_[q].value.value_or(std::nan("")); }
  bool is(Quantity q) const { return value(q) == 1; }

  void say(std::string_view id, const Reading& reading,
           std::initializer_list<std::pair<std::string_view, std::string>> fields = {}) {
    say_at(id, reading.line, reading.evidence, fields);
  }
  void say_at(std::string_view id, int64_t line, const std::string& text,
              std::initializer_list<std::pair<std::string_view, std::string>> fields) {
    Event event;
    event.fault = find_fault(id);
    event.fields.set("gpu", gpu_.label());
    for (const auto& [name, text_of_field] : fields) event.fields.set(name, text_of_field);
    event.when = snapshot_.when;
    event.evidence = {source_, line, snapshot_.time, evidence_text(text)};
    sink_(std::move(event));
  }

  void failures() {
    if (gpu_.failures == 0) return;
    if (gpu_.failures >= 3 && 3 * gpu_.failures >= gpu_.asked) {
      say_at("gpu-not-answering", gpu_.line, gpu_.evidence,
             {{"detail", format("{} of {} readings failed", gpu_.failures, gpu_.asked)}});
      return;
    }
    for (size_t i = 0; i < gpu_.readings.size(); ++i) {
      const Reading& reading = gpu_.readings[i];
      if (!reading.failed) continue;
      const bool lost = reading.text.find("GPU is lost") != std::string::npos;
      say(lost ? "gpu-lost" : "reading-failed", reading,
          {{"what", std::string(name_of(static_cast<Quantity>(i)))}, {"value", reading.text}});
    }
  }

  void heat() {
    const double temperature = value(kTemperature), margin = value(kMargin);
    if (value(kTemperature) >= value(kShutdownTemperature)) {
      say("shutdown-heat", gpu_[kTemperature],
          {{"temperature", format("{:.0f} °C", temperature)},
           {"threshold", format("{:.0f} °C", value(kShutdownTemperature))}});
    } else if (margin <= value(kShutdownMargin)) {
      say("shutdown-heat", gpu_[kMargin],
          {{"temperature", format("T.Limit {:.0f} °C", margin)},
           {"threshold", format("T.Limit {:.0f} °C", value(kShutdownMargin))}});
    } else if (gpu_[kSlowdownTemperature].value) {
      if (temperature >= value(kSlowdownTemperature))
        say("too-hot", gpu_[kTemperature],
            {{"temperature", format("{:.0f}", temperature)},
             {"threshold", format("its own slowdown threshold of {:.0f} °C", value(kSlowdownTemperature))}});
    } else if (gpu_[kMargin].value) {
      const double limit = gpu_[kSlowdownMargin].value.value_or(0);
      if (margin <= limit)
        say("margin-used-up", gpu_[kMargin],
            {{"margin", format("{:.0f}", margin)}, {"threshold", format("{:.0f} °C", limit)}});
    } else if (temperature > kHotWithoutOwnThreshold) {
      say("too-hot", gpu_[kTemperature],
          {{"temperature", format("{:.0f}", temperature)},
           {"assumed", "yes"},
           {"threshold",
            format("{:.0f} °C (its own threshold is not in this output)", kHotWithoutOwnThreshold)}});
    }
    if (value(kMemoryTemperature) > value(kMemoryMaxTemperature))
      say("memory-too-hot", gpu_[kMemoryTemperature],
          {{"temperature", format("{:.0f}", value(kMemoryTemperature))},
           {"threshold", format("its maximum of {:.0f} °C", value(kMemoryMaxTemperature))}});
  }

  void clocks() {
    const Reading& reading = gpu_[kClockReasons];
    const auto bits = static_cast<uint64_t>(std::clamp(reading.value.value_or(0), 0.0, 1e15));
    std::string thermal;
    if (bits & kHwThermal) thermal = "HW thermal slowdown";
    if (bits & kSwThermal) thermal += thermal.empty() ? "SW thermal slowdown" : " and SW thermal slowdown";
    if (!thermal.empty()) say("thermal-slowdown", reading, {{"reasons", thermal}});
    if (bits & kPowerBrake) say("power-brake", reading, {{"reasons", "HW power brake slowdown"}});
    if ((bits & kHwSlowdown) && !(bits & (kHwThermal | kPowerBrake | kIdle)))
      say("hardware-slowdown", reading, {{"reasons", "HW slowdown"}});
    if (value(kPerformanceState) >= kLowPerformanceState && value(kGpuUtilization) >= kBusyPercent)
      say("low-state-under-load", gpu_[kPerformanceState],
          {{"load", format("{:.0f}", value(kGpuUtilization))},
           {"pstate", format("P{:.0f}", value(kPerformanceState))}});
  }

  void ecc() {
    const double now = value(kEccVolatile), life = value(kEccAggregate);
    if (now > 0 && life > now) {
      say("ecc-uncorrected-again", gpu_[kEccVolatile],
          {{"count", format("{:.0f}", now)}, {"life", format("{:.0f}", life)}});
    } else if (now > 0) {
      say("ecc-uncorrected", gpu_[kEccVolatile],
          {{"count", format("{:.0f}", now)}, {"period", "since the driver was loaded"}});
    } else if (life > 0) {
      say("ecc-uncorrected", gpu_[kEccAggregate],
          {{"count", format("{:.0f}", life)},
           {"period", now == 0 ? "in its life, none since the driver was loaded" : "in its life"}});
    }
    if (is(kSramThreshold)) say("sram-threshold", gpu_[kSramThreshold]);
    if (is(kUnrepairableMemory)) say("unrepairable-memory", gpu_[kUnrepairableMemory]);
    if (is(kChannelRepairPending))
      say("repair-pending", gpu_[kChannelRepairPending], {{"what", "memory channel"}});
    if (is(kTpcRepairPending)) say("repair-pending", gpu_[kTpcRepairPending], {{"what", "TPC"}});
  }

  void retirement() {
    const double pages = value(kRetiredDoubleBit), rows = value(kRemappedRows);
    const double all_pages = pages + gpu_[kRetiredSingleBit].value.value_or(0);
    const std::string page_count = format("{:.0f}", all_pages), row_count = format("{:.0f}", rows);
    if (all_pages >= kMostRetiredPages) {
      say("retired-pages-full", gpu_[kRetiredDoubleBit], {{"count", page_count}});
    } else if (pages > 0) {
      say("retired-pages", gpu_[kRetiredDoubleBit], {{"count", format("{:.0f}", pages)}});
    }
    if (is(kRetirementPending)) say("retirement-pending", gpu_[kRetirementPending]);
    if (rows >= kMostRemappedRows) {
      say("remapped-rows-full", gpu_[kRemappedRows], {{"count", row_count}});
    } else if (rows > 0) {
      say("remapped-rows", gpu_[kRemappedRows], {{"count", row_count}});
    }
    if (is(kRemapPending)) say("remap-pending", gpu_[kRemapPending]);
    if (is(kRemapFailure)) say("remap-failed", gpu_[kRemapFailure]);
    if (value(kRemapBanksNone) > 0)
      say("remap-banks-used-up", gpu_[kRemapBanksNone],
          {{"count", format("{:.0f}", value(kRemapBanksNone))}});
  }

  // A link rests when the GPU does: it is judged only under load.
  void pcie() {
    if (!(value(kGpuUtilization) >= kLoadedPercent)) return;
    if (value(kPcieWidth) < value(kPcieWidthMax))
      say("pcie-narrow", gpu_[kPcieWidth],
          {{"width", format("{:.0f}", value(kPcieWidth))},
           {"width_max", format("{:.0f}", value(kPcieWidthMax))},
           {"port", gpu_.label()}});
    if (value(kPcieGeneration) < value(kPcieGenerationMax))
      say("pcie-slow", gpu_[kPcieGeneration],
          {{"generation", format("{:.0f}", value(kPcieGeneration))},
           {"generation_max", format("{:.0f}", value(kPcieGenerationMax))},
           {"port", gpu_.label()}});
  }

  void state() {
    const Reading& action = gpu_[kRecoveryAction];
    if (!action.failed && !action.text.empty() && action.text != "None") {
      Fields fields;
      fields.set("gpu", gpu_.label());
      fields.set("action", action.text);
      set_recovery_action(recovery_number(action.text), fields);
      say("recovery-action", action,
          {{"action", std::string(fields.get("action"))},
           {"action_command", std::string(fields.get("action_command"))}});
    }
    const Reading& fabric = gpu_[kFabricState];
    if (fabric.text == "In Progress" || fabric.text == "Not Started")
      say("fabric-not-ready", fabric, {{"state", fabric.text}, {"status", gpu_[kFabricStatus].text}});
  }

  static int recovery_number(const std::string& text) {
    const auto has = [&](std::string_view word) { return text.find(word) != std::string::npos; };
    if (has("Reboot")) return 2;
    if (has("IMEX")) return 5;
    if (has("Drain")) return has("Reset") ? 4 : 3;
    return has("Reset") ? 1 : 0;
  }

  void memory() {
    const bool idle = value(kGpuUtilization) == 0;
    if (gpu_.processes == 0 && idle && value(kMemoryUsed) >= kHeldWithoutProcessMib &&
        value(kMemoryUsed) >= kHeldShare * value(kMemoryTotal))
      say("memory-without-process", gpu_[kMemoryUsed], {{"used", format("{:.0f}", value(kMemoryUsed))}});
  }

  const Snapshot& snapshot_;
  const GpuReadings& gpu_;
  const std::string& source_;
  const EventSink& sink_;
};

size_t active_links(const GpuReadings& gpu) {
  return static_cast<size_t>(
      std::count_if(gpu.links.begin(), gpu.links.end(), [](const auto& l) { return l.active; }));
}

// Boards whose links are all wired, so that one that is down is a fault even without a sister to compare
// with.
bool all_links_wired(const std::string& name) {
  for (const char* word : {"SXM", "HBM3", "B200", "B300"}) {
    if (name.find(word) != std::string::npos) return true;
  }
  return false;
}

// A GPU has links down when sisters of its kind have more of them up.
void judge_links(const Snapshot& snapshot, const std::string& source, const EventSink& sink) {
  for (const GpuReadings& gpu : snapshot.gpus) {
    size_t most = all_links_wired(gpu.name) ? gpu.links.size() : 0;
    for (const GpuReadings& other : snapshot.gpus) {
      if (other.name == gpu.name) most = std::max(most, active_links(other));
    }
    const size_t active = active_links(gpu);
    if (gpu.links.empty() || active >= most || most == 0) continue;
    if (active == 0 && most == gpu.links.size() && snapshot.gpus.size() == 1)
      continue;  // links not in use here
    Event event;
    event.fault = find_fault("nvlink-inactive");
    std::string links;
    const NvLinkReading* first = nullptr;
    for (const NvLinkReading& link : gpu.links) {
      if (link.active) continue;
      if (first == nullptr) first = &link;
      links += (links.empty() ? "" : ", ") + link.link;
    }
    event.fields.set("gpu", gpu.label());
    event.fields.set("count", std::to_string(gpu.links.size() - active));
    event.fields.set("total", std::to_string(gpu.links.size()));
    event.fields.set("links", links);
    event.evidence = {source, first->line, "", evidence_text(first->evidence)};
    sink(std::move(event));
  }
}

}  // namespace

void judge_snapshot(const Snapshot& snapshot, const std::string& source, const EventSink& sink) {
  for (const GpuReadings& gpu : snapshot.gpus) Judge(snapshot, gpu, source, sink).run();
  judge_links(snapshot, source, sink);
}

}  // namespace pagoda::faults
