#include "telemetry/health_check.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/format.h"

namespace pagoda::telemetry {
namespace {

constexpr std::array kSystems = {
    HealthSystemRow{kPcieHealth, "PCIe", "PCIe system"},
    HealthSystemRow{kNvLinkHealth, "NVLINK", "NVLINK system"},
    HealthSystemRow{kPmuHealth, "PMU", "PMU system"},
    HealthSystemRow{kMcuHealth, "MCU", "MCU system"},
    HealthSystemRow{kMemoryHealth, "Memory", "Memory system"},
    HealthSystemRow{kSmHealth, "SM", "SM system"},
    HealthSystemRow{kInforomHealth, "InfoROM", "InfoROM system"},
    HealthSystemRow{kThermalHealth, "Thermal", "Thermal system"},
    HealthSystemRow{kPowerHealth, "Power", "Power system"},
    HealthSystemRow{kDriverHealth, "Driver", "Driver"},
};

// Counters whose growth matters, by DCGM's field ids.
constexpr unsigned kReplays = 202, kThermalViolation = 241, kDoubleBit = 311, kCrcFlit = 409, kCrcData = 419,
                   kLinkReplays = 429, kLinkRecoveries = 439;
// Levels and states.
constexpr unsigned kInforomValid = 84, kClockReasons = 112, kTemperature = 150, kPower = 155,
                   kPcieGeneration = 237, kPcieLanes = 238, kSramExceeded = 346, kRetiredSingle = 390,
                   kRetiredDouble = 391, kRetiredPending = 392, kRemapped = 393, kRemapFailed = 395,
                   kRemapPending = 396, kRecoveryAction = 1523;
constexpr std::array kCounters = {kReplays, kThermalViolation, kDoubleBit,     kCrcFlit,
                                  kCrcData, kLinkReplays,      kLinkRecoveries};

constexpr double kCrcPerSecondLimit = 100;
constexpr double kRetiredPagesLimit = 63, kRemappedRowsLimit = 512;
constexpr std::uint64_t kPowerBrake = 0x80;

struct XidRule {
  unsigned xid;
  HealthSystem system;
  Health health;
  std::string_view words;
};
constexpr std::array kXidRules = {
    XidRule{48, kMemoryHealth, Health::kFailure, "double-bit ECC error: drain the GPU and reset it"},
    XidRule{74, kNvLinkHealth, Health::kFailure, "NVLink error: look at the links, then reset the GPU"},
    XidRule{79, kPcieHealth, Health::kFailure,
            "the GPU fell off the bus: reboot, then look at PCIe, power and heat"},
    XidRule{94, kMemoryHealth, Health::kWarning, "contained ECC error: restart the application"},
    XidRule{95, kMemoryHealth, Health::kFailure, "uncontained ECC error: reset the GPU"},
    XidRule{119, kDriverHealth, Health::kFailure, "the GSP does not answer: reset the GPU"},
    XidRule{120, kDriverHealth, Health::kFailure, "error of the GSP: reset the GPU"},
    XidRule{140, kMemoryHealth, Health::kFailure, "unrecovered ECC error: reset the GPU"},
};

constexpr std::array<std::string_view, 6> kRecoveryActions = {"nothing",
                                                              "a reset of the GPU",
                                                              "a reboot of the machine",
                                                              "that its peers are drained",
                                                              "that it is drained and reset",
                                                              "that the IMEX domain is recovered"};

// Says what it finds to one list.
struct Check {
  const EntityReadings& gpu;
  const HealthBaseline* before;
  double seconds;  // since `before`
  std::vector<Incident>& out;

  void add(HealthSystem system, Health health, std::string message) const {
    out.push_back({system, health, std::move(message)});
  }
  std::optional<double> now(unsigned field) const {
    const FieldReading reading = read_field(*find_field(field), gpu);
    return reading ? std::optional(to_number(*reading)) : std::nullopt;
  }
  // How much a counter grew since the watch began; what was set back counts from 0.
  double growth(unsigned field) const {
    const auto value = now(field);
    if (!value || before == nullptr) return 0;
    const auto earlier = before->counters.find(field);
    if (earlier == before->counters.end()) return 0;
    return *value >= earlier->second ? *value - earlier->second : *value;
  }
  bool is_set(unsigned field) const { return now(field).value_or(0) != 0; }
  // A reading that should be there and failed.
  void readable(HealthSystem system, unsigned field, std::string_view what) const {
    const FieldReading reading = read_field(*find_field(field), gpu);
    if (reading) return;
    const auto reason = reading.error().reason;
    if (reason == driver::AbsenceReason::kTimedOut || reason == driver::AbsenceReason::kFailed)
      add(system, Health::kWarning,
          format("{} could not be read: {}", what, driver::sentence_of(reading.error().code)));
  }
};

void check_pcie(const Check& c) {
  c.readable(kPcieHealth, kReplays, "The PCIe replay counter");
  const double grown = c.growth(kReplays);
  const auto generation = c.now(kPcieGeneration), lanes = c.now(kPcieLanes);
  if (grown <= 0 || !generation || !lanes) return;
  const double limit = pcie_replay_limit(static_cast<unsigned>(*generation), static_cast<unsigned>(*lanes));
  const double per_minute = grown / std::max(1.0, c.seconds / 60);
  if (per_minute > limit)
    c.add(kPcieHealth, Health::kWarning,
          format("{:.0f} PCIe replays per minute, more than the {:.0f} that a link of generation {:.0f} with "
                 "{:.0f} lanes may have: reseat the card, or look at the riser",
                 per_minute, limit, *generation, *lanes));
}

void check_nvlink(const Check& c) {
  const driver::NvLinkReadings& nvlink = c.gpu.snapshot().nvlink;
  std::string down;
  bool any_up = false;
  for (size_t i = 0; i < nvlink.links.size(); ++i) {
    if (!nvlink.links[i].active) continue;
    any_up = any_up || *nvlink.links[i].active;
    if (!*nvlink.links[i].active) down += format("{}{}", down.empty() ? "" : ", ", i);
  }
  if (any_up && !down.empty())
    c.add(kNvLinkHealth, Health::kFailure,
          format("NVLink {} is down while others are up: reset the GPU; if it stays down, look at the bridge "
                 "or baseboard",
                 down));
  const double crc = c.growth(kCrcFlit) + c.growth(kCrcData);
  const double per_second = crc / std::max(1.0, c.seconds);
  if (per_second >= kCrcPerSecondLimit) {
    c.add(
        kNvLinkHealth, Health::kFailure,
        format("{:.0f} NVLink CRC errors per second, at least {:.0f}: reset the GPU, then look at the links",
               per_second, kCrcPerSecondLimit));
  } else if (crc > 0) {
    c.add(kNvLinkHealth, Health::kWarning, format("{:.0f} NVLink CRC errors since the watch began", crc));
  }
  if (const double replays = c.growth(kLinkReplays); replays > 0)
    c.add(kNvLinkHealth, Health::kWarning, format("{:.0f} NVLink replays since the watch began", replays));
  if (const double recoveries = c.growth(kLinkRecoveries); recoveries > 0)
    c.add(kNvLinkHealth, Health::kFailure,
          format("{:.0f} NVLink recoveries since the watch began: reset the GPU", recoveries));
}

void check_rows_and_pages(const Check& c) {
  const double retired = c.now(kRetiredSingle).value_or(0) + c.now(kRetiredDouble).value_or(0);
  const double remapped = c.now(kRemapped).value_or(0);
  if (retired >= kRetiredPagesLimit)
    c.add(kMemoryHealth, Health::kFailure,
          format("{:.0f} memory pages are retired, at least {:.0f}: replace the card", retired,
                 kRetiredPagesLimit));
  if (c.is_set(kRetiredPending))
    c.add(kMemoryHealth, Health::kWarning,
          "Memory pages wait to be retired: reset the GPU, or reboot, when convenient");
  if (c.is_set(kRemapFailed))
    c.add(kMemoryHealth, Health::kFailure, "A memory row could not be remapped: replace the card");
  if (remapped >= kRemappedRowsLimit)
    c.add(
        kMemoryHealth, Health::kFailure,
        format("{:.0f} memory rows are remapped for uncorrectable errors, at least {:.0f}: replace the card",
               remapped, kRemappedRowsLimit));
  if (c.is_set(kRemapPending))
    c.add(kMemoryHealth, Health::kWarning, "Memory rows wait to be remapped: reset the GPU when convenient");
}

void check_memory(const Check& c) {
  c.readable(kMemoryHealth, kDoubleBit, "The count of double-bit errors");
  const auto double_bit = c.now(kDoubleBit);
  if (double_bit && *double_bit > 0)
    c.add(kMemoryHealth, Health::kFailure,
          format("{:.0f} uncorrectable memory errors since the driver was loaded: drain the GPU and reset it",
                 *double_bit));
  if (c.is_set(kSramExceeded))
    c.add(kMemoryHealth, Health::kFailure,
          "Uncorrectable SRAM errors exceed the threshold: replace the card");
  if (c.gpu.snapshot().ecc.unrepairable_memory.value_or(false))
    c.add(kMemoryHealth, Health::kFailure, "Memory is damaged beyond repair: replace the card");
  check_rows_and_pages(c);
}

void check_inforom(const Check& c) {
  if (c.now(kInforomValid) == 0.0)
    c.add(kInforomHealth, Health::kWarning, "The infoROM's checksum is wrong: have it flashed anew");
}

void check_thermal(const Check& c) {
  c.readable(kThermalHealth, kTemperature, "The temperature");
  if (const double ns = c.growth(kThermalViolation); ns > 0)
    c.add(kThermalHealth, Health::kWarning,
          format("Slowed down for heat for {:.3f} s since the watch began: look at fans, air flow and load",
                 ns / 1e9));
}

// A GPU that works is often at its power limit; only what takes power away from it is ill.
void check_power(const Check& c) {
  c.readable(kPowerHealth, kPower, "The power draw");
  const auto reasons = static_cast<std::uint64_t>(c.now(kClockReasons).value_or(0));
  if ((reasons & kPowerBrake) != 0)
    c.add(kPowerHealth, Health::kWarning,
          "The external power brake slows the GPU down: look at power supplies and cabling");
}

void check_driver(const Check& c) {
  const auto action = static_cast<size_t>(c.now(kRecoveryAction).value_or(0));
  if (action > 0)
    c.add(kDriverHealth, Health::kFailure,
          format("The driver asks for {}",
                 action < kRecoveryActions.size() ? kRecoveryActions[action] : "a recovery"));
}

struct Rule {
  HealthSystem system;
  void (*check)(const Check&);
};
constexpr std::array kRules = {
    Rule{kPcieHealth, check_pcie},       Rule{kNvLinkHealth, check_nvlink},
    Rule{kMemoryHealth, check_memory},   Rule{kInforomHealth, check_inforom},
    Rule{kThermalHealth, check_thermal}, Rule{kPowerHealth, check_power},
    Rule{kDriverHealth, check_driver},
};

void check_xids(const Check& c, unsigned systems, const std::vector<XidEvent>& xids) {
  for (const XidRule& rule : kXidRules) {
    const auto times = std::count_if(xids.begin(), xids.end(), [&](const XidEvent& event) {
      return event.gpu == c.gpu.snapshot().index && event.xid == rule.xid;
    });
    if (times > 0 && (systems & rule.system) != 0)
      c.add(rule.system, rule.health,
            times == 1 ? format("XID {}: {}", rule.xid, rule.words)
                       : format("XID {}, {} times: {}", rule.xid, times, rule.words));
  }
}

}  // namespace

std::span<const HealthSystemRow> health_systems() {
  return kSystems;
}

std::string_view name_of(Health health) {
  constexpr std::array<std::string_view, 3> kNames = {"Healthy", "Warning", "Failure"};
  return kNames[static_cast<size_t>(health)];
}

double pcie_replay_limit(unsigned generation, unsigned lanes) {
  constexpr std::array<double, 6> kPerLane = {0.15, 0.3, 0.48, 0.96, 1.92, 3.84};
  const unsigned row = std::clamp(generation, 1u, static_cast<unsigned>(kPerLane.size())) - 1;
  return std::ceil(lanes * kPerLane[row]);
}

SampleNeeds health_needs(unsigned systems) {
  SampleNeeds needs;
  const auto add = [&](unsigned system, unsigned sections) {
    if ((systems & system) != 0) needs.sections |= sections;
  };
  add(kPcieHealth, driver::kPciSection);
  add(kNvLinkHealth, driver::kNvLinkSection);
  add(kMemoryHealth, driver::kEccSection | driver::kRetiredSection | driver::kRemappedSection);
  add(kInforomHealth, driver::kInforomSection);
  add(kThermalHealth, driver::kTemperatureSection | driver::kViolationsSection);
  add(kPowerHealth, driver::kPowerSection | driver::kClockEventsSection);
  add(kDriverHealth, driver::kModesSection);
  return needs;
}

HealthBaseline health_baseline(const EntityReadings& gpu, std::int64_t time_us) {
  HealthBaseline baseline;
  baseline.time_us = time_us;
  for (const unsigned field : kCounters) {
    if (const FieldReading value = read_field(*find_field(field), gpu))
      baseline.counters[field] = to_number(*value);
  }
  return baseline;
}

std::vector<Incident> check_health(const EntityReadings& gpu, unsigned systems, const HealthBaseline* before,
                                   std::int64_t time_us, const std::vector<XidEvent>& xids) {
  std::vector<Incident> incidents;
  const double seconds = before == nullptr ? 0 : static_cast<double>(time_us - before->time_us) / 1e6;
  const Check check{gpu, before, seconds, incidents};
  const driver::Text& uuid = gpu.snapshot().identity.uuid;
  const auto gone = [](driver::AbsenceReason reason) {
    return reason == driver::AbsenceReason::kLost || reason == driver::AbsenceReason::kTimedOut;
  };
  if (!uuid && gone(uuid.error().reason)) {
    check.add(kDriverHealth, Health::kFailure,
              format("The GPU does not answer ({}): reboot the machine, then look at PCIe, power and heat",
                     driver::sentence_of(uuid.error().code)));
  } else {
    for (const Rule& rule : kRules) {
      if ((systems & rule.system) != 0) rule.check(check);
    }
  }
  check_xids(check, systems, xids);
  std::stable_sort(incidents.begin(), incidents.end(),
                   [](const Incident& a, const Incident& b) { return a.system < b.system; });
  return incidents;
}

}  // namespace pagoda::telemetry
