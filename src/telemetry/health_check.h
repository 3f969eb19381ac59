// The rules by which `dcgmi health` judges a GPU: readings of now, and what grew since the watch began.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "telemetry/gpu_sampler.h"
#include "telemetry/watch_state.h"

namespace pagoda::telemetry {

// DCGM's bits.
enum HealthSystem : unsigned {
  kPcieHealth = 0x1,
  kNvLinkHealth = 0x2,
  kPmuHealth = 0x4,
  kMcuHealth = 0x8,
  kMemoryHealth = 0x10,
  kSmHealth = 0x20,
  kInforomHealth = 0x40,
  kThermalHealth = 0x80,
  kPowerHealth = 0x100,
  kDriverHealth = 0x200,
  kAllHealth = 0x3FF,
};

enum class Health { kPass, kWarning, kFailure };

struct HealthSystemRow {
  HealthSystem system;
  std::string_view name;    // "PCIe", in the list of watches
  std::string_view report;  // "PCIe system", in the report
};
std::span<const HealthSystemRow> health_systems();
std::string_view name_of(Health health);  // "Healthy", "Warning", "Failure"

struct Incident {
  HealthSystem system = kDriverHealth;
  Health health = Health::kWarning;
  std::string message;  // the cause and the remedy
};

// What the rules read. XIDs come beside them.
SampleNeeds health_needs(unsigned systems);

// The counters that rules compare, as they are now.
HealthBaseline health_baseline(const EntityReadings& gpu, std::int64_t time_us);

// `before`: when the watch began, or null. `xids`: those since then. An unreadable GPU is a failure; a value
// that this kind of GPU has not is no incident; one that failed to be read is a warning.
std::vector<Incident> check_health(const EntityReadings& gpu, unsigned systems, const HealthBaseline* before,
                                   std::int64_t time_us, const std::vector<XidEvent>& xids);

// PCIe packets sent again per minute above which a link is ill.
double pcie_replay_limit(unsigned generation, unsigned lanes);

}  // namespace pagoda::telemetry
