// Faults: by the scenario's clock, and injected by the control file while a client runs.
#include <gmock/gmock.h>

#include "driver/nvml_events.h"
#include "simulated_machine.h"

using namespace pagoda::driver;
namespace calls = pagoda::driver::nvml;
using std::chrono::milliseconds;

namespace {

class SimulatedFaults : public SimulatedMachine {};

TEST_F(SimulatedFaults, AGpuFallsOffTheBusAndComesBack) {
  use("gpus:\n"
      "  - {model: h100, falls_off_bus_after_s: 0.3, comes_back_after_s: 0.8}\n"
      "  - {model: h100}\n");
  const Nvml nvml = open();
  const Gpu& gpu = nvml.gpus()[0];
  auto events = NvmlEvents::open(nvml);
  ASSERT_TRUE(events);
  EXPECT_EQ(events->gpus(), (std::vector<unsigned>{0, 1}));
  EXPECT_TRUE(gpu.read(calls::kDeviceGetPowerUsage));
  const auto event = events->wait(milliseconds(2000));
  ASSERT_TRUE(event && *event);
  EXPECT_EQ((*event)->data, 79u);
  EXPECT_EQ((*event)->gpu, 0u);
  EXPECT_EQ(gpu.read(calls::kDeviceGetPowerUsage).error().reason, AbsenceReason::kLost);
  EXPECT_EQ(open().gpus()[0].handle().error().code, NVML_ERROR_GPU_IS_LOST);
  EXPECT_EQ(open().gpus().size(), 2u);
  EXPECT_TRUE(nvml.gpus()[1].read(calls::kDeviceGetPowerUsage));
  std::this_thread::sleep_for(milliseconds(600));
  EXPECT_TRUE(gpu.read(calls::kDeviceGetPowerUsage));
  const auto again = events->wait(milliseconds(30));
  EXPECT_TRUE(again && !*again);  // told once
}

TEST_F(SimulatedFaults, AnInjectedXidReachesWhoWaits) {
  use("gpus: [{model: h100, count: 2}]\n");
  const Nvml nvml = open();
  auto events = NvmlEvents::open(nvml);
  ASSERT_TRUE(events);
  control("gpus: {1: {xids: [{at_s: 0.2, xid: 94, gpu_instance: 2}, {at_s: 0.3, xid: 63}]}}\n");
  const auto first = events->wait(milliseconds(2000)), second = events->wait(milliseconds(2000));
  ASSERT_TRUE(first && *first && second && *second);
  EXPECT_EQ((*first)->gpu, 1u);
  EXPECT_EQ((*first)->data, 94u);
  EXPECT_EQ((*first)->gpu_instance, 2u);
  EXPECT_EQ((*second)->data, 63u);
  EXPECT_FALSE((*second)->gpu_instance);
}

TEST_F(SimulatedFaults, TheControlFileWinsAndIsTakenBack) {
  use("gpus: [{model: h100, count: 2, temperature: {gpu: 50}}]\n");
  const Nvml nvml = open();
  const auto celsius = [&](size_t i) {
    return nvml.gpus()[i].read(calls::kDeviceGetTemperature, NVML_TEMPERATURE_GPU);
  };
  control("gpus: {0: {temperature: {gpu: 95}}}\n");
  EXPECT_EQ(celsius(0), 95u);
  EXPECT_EQ(celsius(1), 50u);
  control("gpus: {all: {temperature.gpu: GPU_IS_LOST}}\n");
  EXPECT_EQ(celsius(1).error().code, NVML_ERROR_GPU_IS_LOST);
  control("gpus: {0: {temperatur: 1}}\n");  // a mistake: the last good values stay
  EXPECT_EQ(celsius(1).error().code, NVML_ERROR_GPU_IS_LOST);
  control("{}\n");
  EXPECT_EQ(celsius(0), 50u);
}

TEST_F(SimulatedFaults, AHangingCallCostsOneDeadlineUntilItIsLetGo) {
  use("gpus: [{model: a100}, {model: a100, calls: {nvmlDeviceGetEccMode: 30}}]\n");
  const Nvml nvml = open(milliseconds(150));
  const Gpu &healthy = nvml.gpus()[0], &hanging = nvml.gpus()[1];
  EXPECT_TRUE(hanging.read(calls::kDeviceGetPowerUsage));
  EXPECT_EQ(hanging.read(calls::kDeviceGetEccMode).error().reason, AbsenceReason::kTimedOut);
  EXPECT_EQ(hanging.read(calls::kDeviceGetPowerUsage).error().reason, AbsenceReason::kTimedOut);
  EXPECT_TRUE(healthy.read(calls::kDeviceGetEccMode));
  control("gpus: {1: {calls.nvmlDeviceGetEccMode: 0}}\n");
  for (int i = 0; i < 100 && hanging.stuck(); ++i) std::this_thread::sleep_for(milliseconds(10));
  EXPECT_TRUE(hanging.read(calls::kDeviceGetEccMode));
}

TEST_F(SimulatedFaults, ADriverOfAnotherVersionIsToldAtTheStart) {
  use("system: {nvml_version: 13.595.71.05, init: LIB_RM_VERSION_MISMATCH}\ngpus: [{model: t4}]\n");
  const auto nvml = try_open();
  ASSERT_FALSE(nvml);
  EXPECT_EQ(nvml.error().code, NVML_ERROR_LIB_RM_VERSION_MISMATCH);
  EXPECT_EQ(nvml.error().library_version, "13.595.71.05");
  use("gpus: []\n");
  EXPECT_TRUE(open().gpus().empty());
}

}  // namespace
