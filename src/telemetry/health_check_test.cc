#include "telemetry/health_check.h"

#include <gtest/gtest.h>

#include "telemetry/injected_values.h"
#include "telemetry/policy_watch.h"

namespace pagoda::telemetry {
namespace {

constexpr std::int64_t kMinute = 60'000'000;

// A GPU that answers and is well.
GpuSample healthy() {
  GpuSample sample;
  sample.machine.gpus.resize(1);
  sample.activity.resize(1);
  driver::GpuSnapshot& gpu = sample.machine.gpus[0];
  gpu.identity.uuid = std::string("GPU-1");
  gpu.pci.replays = 0u;
  gpu.pci.generation_current = 4u;
  gpu.pci.width_current = 16u;
  gpu.ecc.volatile_uncorrected.total = std::uint64_t{0};
  gpu.remapped.uncorrectable = 0u;
  gpu.remapped.failure = false;
  gpu.remapped.pending = false;
  gpu.inforom.valid = true;
  gpu.temperature.gpu = 40;
  gpu.violations.thermal_ns = std::uint64_t{0};
  gpu.power.usage = 70000u;
  gpu.clock_events.active = std::uint64_t{4};  // at its power limit: no illness
  gpu.modes.recovery_action = 0u;
  gpu.nvlink.count = 2u;
  gpu.nvlink.links.resize(2);
  for (driver::NvLink& link : gpu.nvlink.links) {
    link.active = true;
    link.crc_flit_errors = link.crc_data_errors = link.replays = link.recoveries = std::uint64_t{0};
  }
  return sample;
}

std::vector<Incident> check(const GpuSample& sample, const GpuSample& before, std::int64_t elapsed = kMinute,
                            const std::vector<XidEvent>& xids = {}) {
  const HealthBaseline baseline = health_baseline({before, 0, {}}, 0);
  return check_health({sample, 0, {}}, kAllHealth, &baseline, elapsed, xids);
}

void expect_one(const std::vector<Incident>& incidents, HealthSystem system, Health health,
                const std::string& words) {
  ASSERT_EQ(incidents.size(), 1u);
  EXPECT_EQ(incidents[0].system, system);
  EXPECT_EQ(incidents[0].health, health);
  EXPECT_NE(incidents[0].message.find(words), std::string::npos) << incidents[0].message;
}

TEST(HealthCheck, AWellGpuHasNoIncident) {
  EXPECT_TRUE(check(healthy(), healthy()).empty());
}

TEST(HealthCheck, PcieReplaysPerMinuteOfTheLink) {
  EXPECT_EQ(pcie_replay_limit(1, 1), 1);
  EXPECT_EQ(pcie_replay_limit(3, 16), 8);
  EXPECT_EQ(pcie_replay_limit(4, 16), 16);
  EXPECT_EQ(pcie_replay_limit(6, 16), 62);
  GpuSample sample = healthy();
  sample.machine.gpus[0].pci.replays = 16u;
  EXPECT_TRUE(check(sample, healthy()).empty());
  sample.machine.gpus[0].pci.replays = 17u;
  expect_one(check(sample, healthy()), kPcieHealth, Health::kWarning, "17 PCIe replays per minute");
  EXPECT_TRUE(check(sample, healthy(), 2 * kMinute).empty()) << "8.5 per minute";
}

TEST(HealthCheck, Memory) {
  GpuSample sample = healthy();
  sample.machine.gpus[0].remapped.failure = true;
  expect_one(check(sample, healthy()), kMemoryHealth, Health::kFailure, "could not be remapped");
  sample = healthy();
  sample.machine.gpus[0].remapped.pending = true;
  expect_one(check(sample, healthy()), kMemoryHealth, Health::kWarning, "wait to be remapped");
  sample = healthy();
  sample.machine.gpus[0].remapped.uncorrectable = 512u;
  expect_one(check(sample, healthy()), kMemoryHealth, Health::kFailure, "512 memory rows");
  sample = healthy();
  sample.machine.gpus[0].retired.double_bit = std::vector<driver::RetiredPage>(63);
  expect_one(check(sample, healthy()), kMemoryHealth, Health::kFailure, "63 memory pages");
  sample = healthy();
  sample.machine.gpus[0].ecc.volatile_uncorrected.total = std::uint64_t{1};
  expect_one(check(sample, healthy()), kMemoryHealth, Health::kFailure, "1 uncorrectable");
}

TEST(HealthCheck, NvLink) {
  GpuSample sample = healthy();
  sample.machine.gpus[0].nvlink.links[1].active = false;
  expect_one(check(sample, healthy()), kNvLinkHealth, Health::kFailure, "NVLink 1 is down");
  sample.machine.gpus[0].nvlink.links[0].active = false;
  EXPECT_TRUE(check(sample, healthy()).empty()) << "no bridge is no fault";
  sample = healthy();
  sample.machine.gpus[0].nvlink.links[0].crc_flit_errors = std::uint64_t{6000};
  expect_one(check(sample, healthy()), kNvLinkHealth, Health::kFailure, "100 NVLink CRC errors per second");
  sample.machine.gpus[0].nvlink.links[0].crc_flit_errors = std::uint64_t{5999};
  expect_one(check(sample, healthy()), kNvLinkHealth, Health::kWarning, "5999 NVLink CRC errors");
}

TEST(HealthCheck, HeatPowerInforomDriver) {
  GpuSample sample = healthy();
  sample.machine.gpus[0].violations.thermal_ns = std::uint64_t{2'500'000'000};
  expect_one(check(sample, healthy()), kThermalHealth, Health::kWarning, "2.500 s");
  sample = healthy();
  sample.machine.gpus[0].clock_events.active = std::uint64_t{0x80};
  expect_one(check(sample, healthy()), kPowerHealth, Health::kWarning, "power brake");
  sample = healthy();
  sample.machine.gpus[0].inforom.valid = false;
  expect_one(check(sample, healthy()), kInforomHealth, Health::kWarning, "checksum");
  sample = healthy();
  sample.machine.gpus[0].modes.recovery_action = 2u;
  expect_one(check(sample, healthy()), kDriverHealth, Health::kFailure, "a reboot of the machine");
}

TEST(HealthCheck, XidsByTheirTable) {
  const auto xid = [](unsigned number) { return std::vector<XidEvent>{{0, number, {}, {}, {}}}; };
  for (const unsigned number : {48u, 74u, 79u, 95u, 119u, 120u, 140u}) {
    const auto incidents = check(healthy(), healthy(), kMinute, xid(number));
    ASSERT_EQ(incidents.size(), 1u) << number;
    EXPECT_EQ(incidents[0].health, Health::kFailure) << number;
  }
  expect_one(check(healthy(), healthy(), kMinute, xid(94)), kMemoryHealth, Health::kWarning, "XID 94");
  EXPECT_TRUE(check(healthy(), healthy(), kMinute, xid(31)).empty()) << "the application's own fault";
}

TEST(HealthCheck, ALostGpuIsAFailureAndOneThatHasNotIsNone) {
  GpuSample sample = healthy();
  sample.machine.gpus[0].identity.uuid = tl::unexpected(driver::absence_of(NVML_ERROR_GPU_IS_LOST));
  expect_one(check(sample, healthy()), kDriverHealth, Health::kFailure, "does not answer");
  sample = healthy();
  sample.machine.gpus[0].pci.replays = tl::unexpected(driver::absence_of(NVML_ERROR_NOT_SUPPORTED));
  EXPECT_TRUE(check(sample, healthy()).empty());
  sample.machine.gpus[0].pci.replays = tl::unexpected(driver::absence_of(NVML_ERROR_UNKNOWN));
  expect_one(check(sample, healthy()), kPcieHealth, Health::kWarning, "could not be read");
}

TEST(HealthCheck, OnlyWatchedSystemsAreTold) {
  GpuSample sample = healthy();
  sample.machine.gpus[0].remapped.failure = true;
  EXPECT_TRUE(check_health({sample, 0, {}}, kPcieHealth, nullptr, 0, {}).empty());
}

TEST(HealthCheck, InjectedValuesStandForReadings) {
  GpuSample sample = healthy();
  const auto xids = inject({{0, 395, "1", 0}, {0, 230, "79", 0}}, sample);
  ASSERT_EQ(xids.size(), 1u);
  EXPECT_EQ(xids[0].xid, 79u);
  const auto incidents = check(sample, healthy(), kMinute, xids);
  ASSERT_EQ(incidents.size(), 2u);
  EXPECT_EQ(incidents[0].system, kPcieHealth);
  EXPECT_EQ(incidents[1].system, kMemoryHealth);
  EXPECT_EQ(standing({{0, 395, "1", 100}}, 99).size(), 0u);
  EXPECT_EQ(standing({{0, 395, "1", 100}}, 100).size(), 1u);
  EXPECT_EQ(standing({{0, 395, "1", 100}}, 100 + kInjectionLastsUs).size(), 0u);
  EXPECT_FALSE(parse_value(*find_field(150), "hot"));
}

TEST(PolicyWatch, CountersAreToldWhenTheyGrow) {
  PolicyWatch watch({{0, Policy{Policy::kPcie | Policy::kDoubleBit, 0, 0, 0, 0, 0}}});
  GpuSample sample = healthy();
  sample.machine.gpus[0].pci.replays = 5u;
  EXPECT_TRUE(watch.look_at(sample).empty()) << "what was there before is no violation";
  EXPECT_TRUE(watch.look_at(sample).empty());
  sample.machine.gpus[0].pci.replays = 6u;
  const auto violations = watch.look_at(sample);
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].lines[0], "A PCIe replay event has violated policy manager values.");
  EXPECT_EQ(violations[0].lines[1], "PCIe replay count: 6");
  EXPECT_TRUE(watch.look_at(sample).empty());
}

TEST(PolicyWatch, ThresholdsAreToldWhenTheyAreCrossed) {
  PolicyWatch watch({{0, Policy{Policy::kThermal | Policy::kPower, 0, 85, 300, 0, 0}}});
  GpuSample sample = healthy();
  sample.machine.gpus[0].temperature.gpu = 85;
  EXPECT_TRUE(watch.look_at(sample).empty()) << "85 is not above 85";
  sample.machine.gpus[0].temperature.gpu = 86;
  ASSERT_EQ(watch.look_at(sample).size(), 1u);
  EXPECT_TRUE(watch.look_at(sample).empty()) << "told once";
  sample.machine.gpus[0].temperature.gpu = 80;
  EXPECT_TRUE(watch.look_at(sample).empty());
  sample.machine.gpus[0].temperature.gpu = 90;
  EXPECT_EQ(watch.look_at(sample)[0].lines[1], "Temperature: 90");
  sample.machine.gpus[0].temperature.gpu = tl::unexpected(driver::absence_of(NVML_ERROR_GPU_IS_LOST));
  EXPECT_TRUE(watch.look_at(sample).empty()) << "unread is no violation";
}

TEST(PolicyWatch, XidsOfWatchedGpusOnly) {
  const PolicyWatch watch({{1, Policy{Policy::kXid, 0, 0, 0, 0, 0}}});
  EXPECT_TRUE(watch.look_at(std::vector<XidEvent>{{0, 79, {}, {}, {}}}).empty());
  EXPECT_EQ(watch.look_at(std::vector<XidEvent>{{1, 79, {}, {}, {}}})[0].lines[0], "XID error 79 detected.");
}

}  // namespace
}  // namespace pagoda::telemetry
