// From typed readings to a report: absent, failed and zero stay three things.
#include "faults/live_readings.h"

#include <gtest/gtest.h>

namespace pagoda::faults {
namespace {

using driver::Absence;
using driver::AbsenceReason;
using enum Quantity;

driver::GpuSnapshot answering_gpu() {
  driver::GpuSnapshot gpu;
  gpu.index = 3;
  gpu.identity.name = std::string("NVIDIA H100 80GB HBM3");
  gpu.pci.bus_id = std::string("00000000:3B:00.0");
  gpu.memory.total = uint64_t{80} << 30;
  gpu.performance_state = 0u;
  gpu.temperature.gpu = 71;
  return gpu;
}

tl::unexpected<Absence> failing(AbsenceReason reason, nvmlReturn_t code) {
  return tl::unexpected<Absence>(Absence{reason, code});
}

TEST(LiveReadings, CarryTheirEvidence) {
  driver::GpuSnapshot gpu = answering_gpu();
  gpu.temperature.margin = -4;
  gpu.clock_events.active = uint64_t{0x68};
  gpu.power.usage = 350500u;
  const GpuReadings report = report_of(gpu);
  EXPECT_EQ(report.label(), "0000:3b:00");
  EXPECT_EQ(report[kTemperature].evidence, "temperature.gpu: 71 °C");
  EXPECT_EQ(report[kMargin].value, -4);
  EXPECT_EQ(report[kClockReasons].evidence, "clocks_event_reasons.active: 0x68");
  EXPECT_DOUBLE_EQ(*report[kPowerDraw].value, 350.5);
  EXPECT_EQ(report[kMemoryTotal].value, 81920);
}

TEST(LiveReadings, WhatAGpuDoesNotHaveIsNoFailure) {
  driver::GpuSnapshot gpu = answering_gpu();
  gpu.temperature.memory = failing(AbsenceReason::kUnsupported, NVML_ERROR_NOT_SUPPORTED);
  gpu.power.usage = failing(AbsenceReason::kNoPermission, NVML_ERROR_NO_PERMISSION);
  gpu.remapped.failure = failing(AbsenceReason::kFailed, NVML_ERROR_INVALID_ARGUMENT);
  gpu.ecc.volatile_uncorrected.total = failing(AbsenceReason::kFailed, NVML_ERROR_UNKNOWN);
  const GpuReadings report = report_of(gpu);
  for (const Quantity q : {kMemoryTemperature, kPowerDraw, kRemapFailure, kGpuUtilization}) {
    EXPECT_FALSE(report[q].value);
    EXPECT_FALSE(report[q].failed);
  }
  EXPECT_TRUE(report[kEccVolatile].failed);
  EXPECT_EQ(report[kEccVolatile].text, "Unknown Error");
  EXPECT_EQ(report.failures, 1);
}

TEST(LiveReadings, ALostGpuAndOneThatHangs) {
  driver::GpuSnapshot gpu = answering_gpu();
  EXPECT_EQ(answering(gpu), Answering::kYes);
  gpu.temperature.gpu = failing(AbsenceReason::kTimedOut, NVML_ERROR_TIMEOUT);
  EXPECT_EQ(answering(gpu), Answering::kYes) << "one reading of several";
  gpu.memory.total = failing(AbsenceReason::kLost, NVML_ERROR_GPU_IS_LOST);
  EXPECT_EQ(answering(gpu), Answering::kLost);
  gpu.memory.total = failing(AbsenceReason::kTimedOut, NVML_ERROR_TIMEOUT);
  gpu.performance_state = failing(AbsenceReason::kTimedOut, NVML_ERROR_TIMEOUT);
  EXPECT_EQ(answering(gpu), Answering::kHangs);
}

TEST(LiveReadings, StatesInNvidiaSmisWords) {
  driver::GpuSnapshot gpu = answering_gpu();
  gpu.modes.recovery_action = 4u;
  gpu.fabric.state = 2u;
  const GpuReadings report = report_of(gpu);
  EXPECT_EQ(report[kRecoveryAction].text, "Drain and Reset");
  EXPECT_EQ(report[kFabricState].text, "In Progress");
  gpu.modes.recovery_action = 0u;
  EXPECT_EQ(report_of(gpu)[kRecoveryAction].text, "");
}

}  // namespace
}  // namespace pagoda::faults
