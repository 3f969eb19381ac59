#include "telemetry/field_catalogue.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace pagoda::telemetry {
namespace {

GpuSample one_gpu() {
  GpuSample sample;
  sample.machine.gpus.resize(1);
  sample.activity.resize(1);
  return sample;
}

FieldReading value(const GpuSample& sample, unsigned id, std::optional<size_t> mig = {}) {
  return read_field(*find_field(id), EntityReadings{sample, 0, mig});
}

TEST(FieldCatalogue, EveryRowIsWhole) {
  std::set<unsigned> ids;
  std::set<std::string_view> names;
  for (const FieldRow& row : field_rows()) {
    EXPECT_TRUE(ids.insert(row.id).second) << row.id << " twice";
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " twice";
    EXPECT_TRUE(names.insert(row.tag).second) << row.tag << " twice";
    EXPECT_TRUE(row.name.starts_with("DCGM_FI_")) << row.name;
    EXPECT_NE(row.read, nullptr) << row.name;
    EXPECT_FALSE(row.help.empty()) << row.name;
    EXPECT_FALSE(row.column.empty()) << row.name;
    EXPECT_LE(row.column.size(), 9u) << row.name;  // as DCGM's own
    EXPECT_EQ(row.type == FieldType::kText, row.kind == FieldKind::kLabel) << row.name;
  }
  EXPECT_GT(ids.size(), 350u);
}

TEST(FieldCatalogue, TheGuidesFieldsAreActivityNotTemperature) {
  EXPECT_EQ(find_field(1001)->name, "DCGM_FI_PROF_GR_ENGINE_ACTIVE");
  EXPECT_EQ(find_field(1002)->name, "DCGM_FI_PROF_SM_ACTIVE");
  EXPECT_EQ(find_field(1003)->name, "DCGM_FI_PROF_SM_OCCUPANCY");
  EXPECT_EQ(find_field(1004)->name, "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE");
}

TEST(FieldCatalogue, OldNameNewNameTagAndNumberFindTheSameRow) {
  for (const char* word : {"150", "DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_GPU_TEMP_CELSIUS", "gpu_temp",
                           "GPU_TEMP_CELSIUS", "dcgm_fi_dev_gpu_temp", "DEV_GPU_TEMP"}) {
    const FieldRow* row = find_field_word(word);
    ASSERT_NE(row, nullptr) << word;
    EXPECT_EQ(row->id, 150u) << word;
  }
  EXPECT_EQ(find_field("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS")->id, 112u);
  EXPECT_EQ(find_field("DCGM_FI_DEV_BOARD_POWER_WATTS")->id, 155u);
  EXPECT_EQ(find_field("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL")->id, 449u);
  EXPECT_EQ(find_field("DCGM_FI_DEV_NVLINK_THROUGHPUT_TOTAL")->id, 449u);
  EXPECT_EQ(find_field("DCGM_FI_DEV_ECC_DBE_AGG_TOTAL")->id, 313u);
  EXPECT_EQ(find_field("DCGM_FI_DEV_ECC_SBE_VOL_DEV")->id, 318u);
  EXPECT_EQ(find_field("DCGM_FI_DEV_ECC_DBE_AGG_TEX")->id, 333u);
  EXPECT_EQ(find_field("DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L12")->id, 406u);
  EXPECT_EQ(find_field("DCGM_FI_DEV_NVLINK_REPLAY_ERROR_L17_TOTAL")->id, 489u);
  EXPECT_EQ(find_field("DCGM_FI_PROF_NVLINK_L17_RX_BYTES")->id, 1075u);
}

TEST(FieldCatalogue, WhatItDoesNotHave) {
  EXPECT_EQ(find_field("DCGM_FI_DEV_GPU_TEMPERATURE"), nullptr);
  EXPECT_EQ(find_field(99999), nullptr);
  EXPECT_EQ(owner_of_unread_field(780), "NVSwitches");
  EXPECT_EQ(owner_of_unread_field(1110), "CPUs");
  EXPECT_EQ(owner_of_unread_field(99999), std::nullopt);
  EXPECT_EQ(owner_of_unread_field(150), std::nullopt);
}

TEST(FieldCatalogue, NothingReadIsNothingToldNeverZero) {
  const GpuSample sample = one_gpu();
  for (const FieldRow& row : field_rows()) {
    if (row.id == 4 || row.id == 52) continue;  // how many GPUs, and which: known without asking
    EXPECT_FALSE(read_field(row, EntityReadings{sample, 0, {}})) << row.name;
  }
}

TEST(FieldCatalogue, Units) {
  GpuSample sample = one_gpu();
  driver::GpuSnapshot& gpu = sample.machine.gpus[0];
  gpu.power.usage = 71150u;
  gpu.memory.used = std::uint64_t{3} << 30;
  gpu.memory.total = std::uint64_t{10} << 30;
  gpu.memory.reserved = std::uint64_t{4} << 30;
  gpu.violations.power_ns = std::uint64_t{1500};
  sample.machine.driver.cuda = 13010u;
  sample.activity[0].profile = std::map<unsigned, driver::Reading<double>>{
      {NVML_GPM_METRIC_SM_UTIL, 55.0}, {NVML_GPM_METRIC_PCIE_TX_PER_SEC, 2.0}};
  EXPECT_DOUBLE_EQ(to_number(*value(sample, 155)), 71.15);
  EXPECT_EQ(to_text(*value(sample, 155)), "71.150");
  EXPECT_EQ(to_text(*value(sample, 252)), "3072");
  EXPECT_DOUBLE_EQ(to_number(*value(sample, 254)), 0.5);
  EXPECT_EQ(to_text(*value(sample, 240)), "1500");
  EXPECT_EQ(to_text(*value(sample, 5)), "13100");
  EXPECT_EQ(to_text(*value(sample, 1002)), "0.550");
  EXPECT_EQ(to_text(*value(sample, 1009)), "2097152");
  EXPECT_FALSE(value(sample, 1003));  // a metric that was not among those read
}

TEST(FieldCatalogue, AnXidIsZeroOnlyWhereSomebodyListens) {
  GpuSample sample = one_gpu();
  EXPECT_FALSE(value(sample, 230));
  sample.activity[0].last_xid = std::optional<XidEvent>();
  EXPECT_EQ(to_text(*value(sample, 230)), "0");
  sample.activity[0].last_xid = std::optional<XidEvent>(XidEvent{0, 79, {}, {}, {}});
  EXPECT_EQ(to_text(*value(sample, 230)), "79");
}

TEST(FieldCatalogue, AMigDeviceHasItsOwnMemoryAndActivityAndNoTemperature) {
  GpuSample sample = one_gpu();
  driver::GpuSnapshot& gpu = sample.machine.gpus[0];
  gpu.temperature.gpu = 40;
  gpu.memory.used = std::uint64_t{9} << 20;
  gpu.mig.devices.resize(1);
  gpu.mig.devices[0].gpu_instance = 2u;
  gpu.mig.devices[0].memory.used = std::uint64_t{4} << 20;
  sample.activity[0].instance_profile[2] =
      std::map<unsigned, driver::Reading<double>>{{NVML_GPM_METRIC_SM_UTIL, 10.0}};
  EXPECT_EQ(to_text(*value(sample, 252, 0)), "4");
  EXPECT_EQ(to_text(*value(sample, 252)), "9");
  EXPECT_EQ(to_text(*value(sample, 1002, 0)), "0.100");
  EXPECT_EQ(value(sample, 150, 0).error().reason, driver::AbsenceReason::kUnsupported);
}

TEST(FieldCatalogue, SumsOfLinksLeaveOutThoseThatDoNotAnswer) {
  GpuSample sample = one_gpu();
  driver::GpuSnapshot& gpu = sample.machine.gpus[0];
  gpu.nvlink.count = 2u;
  gpu.nvlink.links.resize(2);
  EXPECT_FALSE(value(sample, 429));
  gpu.nvlink.links[1].replays = std::uint64_t{7};
  EXPECT_EQ(to_text(*value(sample, 429)), "7");
  EXPECT_EQ(to_text(*value(sample, 421)), "7");
  EXPECT_FALSE(value(sample, 420));
  EXPECT_EQ(value(sample, 422).error().reason, driver::AbsenceReason::kNotFound);
  sample.activity[0].links = {LinkRate{2000.0, 1000.0}, LinkRate{500.0, 500.0}};
  EXPECT_EQ(to_text(*value(sample, 449)), "4");
  EXPECT_EQ(to_text(*value(sample, 843)), "2");
}

}  // namespace
}  // namespace pagoda::telemetry
