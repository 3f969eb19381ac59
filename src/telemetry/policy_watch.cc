#include "telemetry/policy_watch.h"

#include <array>

#include "base/format.h"

namespace pagoda::telemetry {
namespace {

std::optional<double> number(const EntityReadings& gpu, unsigned field) {
  const FieldReading reading = read_field(*find_field(field), gpu);
  return reading ? std::optional(to_number(*reading)) : std::nullopt;
}

// Conditions that are violated when a counter goes up; the sentences are dcgmi's.
struct CounterRow {
  Policy::Condition condition;
  unsigned field;
  std::string_view sentence, count_name;
};
constexpr std::array kCounters = {
    CounterRow{Policy::kDoubleBit, 311, "A double-bit ECC error has violated policy manager values.",
               "DBE error count"},
    CounterRow{Policy::kPcie, 202, "A PCIe replay event has violated policy manager values.",
               "PCIe replay count"},
    CounterRow{Policy::kNvLink, 409, "NVLink Counter 409 has violated policy manager values.",
               "NVLink Counter value"},
    CounterRow{Policy::kNvLink, 419, "NVLink Counter 419 has violated policy manager values.",
               "NVLink Counter value"},
    CounterRow{Policy::kNvLink, 429, "NVLink Counter 429 has violated policy manager values.",
               "NVLink Counter value"},
    CounterRow{Policy::kNvLink, 439, "NVLink Counter 439 has violated policy manager values.",
               "NVLink Counter value"},
};

}  // namespace

SampleNeeds policy_needs(unsigned conditions) {
  SampleNeeds needs;
  const auto add = [&](unsigned condition, unsigned sections) {
    if ((conditions & condition) != 0) needs.sections |= sections;
  };
  add(Policy::kDoubleBit, driver::kEccSection);
  add(Policy::kPcie, driver::kPciSection);
  add(Policy::kRetiredPages, driver::kRetiredSection);
  add(Policy::kThermal, driver::kTemperatureSection);
  add(Policy::kPower, driver::kPowerSection);
  add(Policy::kNvLink, driver::kNvLinkSection);
  needs.xids = (conditions & Policy::kXid) != 0;
  return needs;
}

void PolicyWatch::look_at_gpu(const EntityReadings& gpu, const Policy& policy, Memory& memory,
                              std::vector<Violation>& out) const {
  const unsigned index = gpu.snapshot().index;
  for (const CounterRow& row : kCounters) {
    const auto value = (policy.conditions & row.condition) != 0 ? number(gpu, row.field) : std::nullopt;
    if (!value) continue;
    const auto before = memory.counters.find(row.field);
    if (before != memory.counters.end() && *value > before->second)
      out.push_back(
          {index, row.condition, {std::string(row.sentence), format("{}: {:.0f}", row.count_name, *value)}});
    memory.counters[row.field] = *value;
  }
  const auto crossed = [&](Policy::Condition condition, bool readable, double value, double limit) {
    if ((policy.conditions & condition) == 0 || !readable) return false;
    const bool was_above = memory.above[condition];
    memory.above[condition] = value > limit;
    return value > limit && !was_above;
  };
  const auto temperature = number(gpu, 150), power = number(gpu, 155);
  if (crossed(Policy::kThermal, temperature.has_value(), temperature.value_or(0), policy.max_temperature_c))
    out.push_back({index,
                   Policy::kThermal,
                   {"The maximum thermal limit has violated policy manager values.",
                    format("Temperature: {:.0f}", *temperature)}});
  if (crossed(Policy::kPower, power.has_value(), power.value_or(0), policy.max_power_w))
    out.push_back(
        {index,
         Policy::kPower,
         {"The maximum power limit has violated policy manager values.", format("Power: {:.0f}", *power)}});
  const auto single_bit = number(gpu, 390), double_bit = number(gpu, 391);
  const double single_pages = single_bit.value_or(0), double_pages = double_bit.value_or(0);
  if (crossed(Policy::kRetiredPages, single_bit || double_bit, single_pages + double_pages, policy.max_pages))
    out.push_back({index,
                   Policy::kRetiredPages,
                   {"The maximum number of retired pages has violated policy manager values.",
                    format("SBE page retirement count: {:.0f}", single_pages),
                    format("DBE page retirement count: {:.0f}", double_pages)}});
}

std::vector<Violation> PolicyWatch::look_at(const GpuSample& sample) {
  std::vector<Violation> violations;
  for (size_t i = 0; i < sample.machine.gpus.size(); ++i) {
    const unsigned index = sample.machine.gpus[i].index;
    const auto policy = policies_.find(index);
    if (policy != policies_.end())
      look_at_gpu(EntityReadings{sample, i, {}}, policy->second, memory_[index], violations);
  }
  return violations;
}

std::vector<Violation> PolicyWatch::look_at(const std::vector<XidEvent>& xids) const {
  std::vector<Violation> violations;
  for (const XidEvent& event : xids) {
    const auto policy = policies_.find(event.gpu);
    if (policy != policies_.end() && (policy->second.conditions & Policy::kXid) != 0)
      violations.push_back({event.gpu, Policy::kXid, {format("XID error {} detected.", event.xid)}});
  }
  return violations;
}

}  // namespace pagoda::telemetry
