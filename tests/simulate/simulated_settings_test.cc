// A setting changes the device: the next read sees it, and so does whoever opens the library next.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include "simulated_machine.h"

using namespace pagoda::driver;
namespace calls = pagoda::driver::nvml;

namespace {

class SimulatedSettings : public SimulatedMachine {};

nvmlReturn_t reset(const Gpu& gpu) {
  void* library = dlopen(SIMULATED_LIBRARY, RTLD_NOW | RTLD_NOLOAD);
  auto* function =
      reinterpret_cast<nvmlReturn_t (*)(nvmlDevice_t)>(dlsym(library, "pagodaSimulatedDeviceReset"));
  return function(*gpu.handle());
}

TEST_F(SimulatedSettings, PowerLimitWithinItsBounds) {
  use("gpus: [{model: h100, count: 2, workload: training}]\n");
  const Nvml nvml = open();
  const Gpu& gpu = nvml.gpus()[0];
  EXPECT_EQ(gpu.read(calls::kDeviceGetPowerManagementLimit), 700000u);
  EXPECT_TRUE(gpu.read(calls::kDeviceSetPowerManagementLimit, 300000u));
  EXPECT_EQ(gpu.read(calls::kDeviceGetPowerManagementLimit), 300000u);
  EXPECT_EQ(gpu.read(calls::kDeviceGetEnforcedPowerLimit), 300000u);
  EXPECT_EQ(gpu.field({NVML_FI_DEV_POWER_REQUESTED_LIMIT})->as_unsigned(), 300000u);
  EXPECT_LE(*gpu.read(calls::kDeviceGetPowerUsage), 300000u);  // the load feels it
  EXPECT_EQ(nvml.gpus()[1].read(calls::kDeviceGetPowerManagementLimit), 700000u);
  EXPECT_EQ(gpu.read(calls::kDeviceSetPowerManagementLimit, 10000u).error().code,
            NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(open().gpus()[0].read(calls::kDeviceGetPowerManagementLimit), 300000u);
}

TEST_F(SimulatedSettings, LockedClocksHoldTheCurrentOneUntilTheyAreReset) {
  use("gpus: [{model: h100, workload: inference}]\n");
  const Nvml nvml = open();
  const Gpu& gpu = nvml.gpus()[0];
  const auto mhz = [&] { return gpu.read(calls::kDeviceGetClockInfo, NVML_CLOCK_SM); };
  EXPECT_EQ(mhz(), 1980u);
  EXPECT_TRUE(gpu.read(calls::kDeviceSetGpuLockedClocks, 600u, 900u));
  EXPECT_EQ(mhz(), 900u);
  EXPECT_TRUE(gpu.read(calls::kDeviceResetGpuLockedClocks));
  EXPECT_EQ(mhz(), 1980u);
}

TEST_F(SimulatedSettings, EccModeWaitsForAReset) {
  use("gpus: [{model: a100, ecc: {uncorrected: {volatile: {dram: 3}, aggregate: {dram: 5}}}}]\n");
  const Nvml nvml = open();
  const Gpu& gpu = nvml.gpus()[0];
  using Modes = std::tuple<nvmlEnableState_t, nvmlEnableState_t>;
  EXPECT_TRUE(gpu.read(calls::kDeviceSetEccMode, NVML_FEATURE_DISABLED));
  EXPECT_EQ(gpu.read(calls::kDeviceGetEccMode), (Modes{NVML_FEATURE_ENABLED, NVML_FEATURE_DISABLED}));
  const auto count = [&](nvmlEccCounterType_t counter) {
    return gpu.read(calls::kDeviceGetTotalEccErrors, NVML_MEMORY_ERROR_TYPE_UNCORRECTED, counter);
  };
  EXPECT_EQ(count(NVML_VOLATILE_ECC), 3u);
  EXPECT_EQ(reset(gpu), NVML_SUCCESS);
  EXPECT_EQ(gpu.read(calls::kDeviceGetEccMode), (Modes{NVML_FEATURE_DISABLED, NVML_FEATURE_DISABLED}));
  EXPECT_EQ(count(NVML_VOLATILE_ECC), 0u);
  EXPECT_EQ(count(NVML_AGGREGATE_ECC), 5u);  // for the card's life
}

TEST_F(SimulatedSettings, EccCountersAreCleared) {
  use("gpus: [{model: a100, ecc: {corrected: {volatile: {dram: 3}}}}]\n");
  const Nvml nvml = open();
  const Gpu& gpu = nvml.gpus()[0];
  EXPECT_TRUE(gpu.read(calls::kDeviceClearEccErrorCounts, NVML_VOLATILE_ECC));
  EXPECT_EQ(gpu.read(calls::kDeviceGetMemoryErrorCounter, NVML_MEMORY_ERROR_TYPE_CORRECTED, NVML_VOLATILE_ECC,
                     NVML_MEMORY_LOCATION_DRAM),
            0u);
}

TEST_F(SimulatedSettings, MigFromNothingToADeviceAndBack) {
  use("gpus: [{model: h100}]\n");
  const Nvml nvml = open();
  const Gpu& gpu = nvml.gpus()[0];
  EXPECT_TRUE(gpu.mig_devices()->empty());
  EXPECT_EQ(gpu.read(calls::kDeviceSetMigMode, 1u), NVML_SUCCESS);      // its output: the activation's status
  const auto instance = gpu.read(calls::kDeviceCreateGpuInstance, 9u);  // 3g.40gb
  ASSERT_TRUE(instance) << name_of(instance.error().code);
  EXPECT_EQ(gpu.read(calls::kDeviceGetGpuInstanceRemainingCapacity, 9u), 1u);
  EXPECT_EQ(gpu.read(calls::kDeviceGetGpuInstanceRemainingCapacity, 0u), 0u);  // 7g no longer fits
  const auto compute = nvml.read(calls::kGpuInstanceCreateComputeInstance, *instance,
                                 unsigned{NVML_COMPUTE_INSTANCE_PROFILE_3_SLICE});
  ASSERT_TRUE(compute);
  const auto devices = gpu.mig_devices();
  ASSERT_EQ(devices->size(), 1u);
  EXPECT_EQ((*devices)[0].text(calls::kDeviceGetName), "NVIDIA H100 80GB HBM3 MIG 3g.40gb");
  EXPECT_EQ((*devices)[0].memory()->total, 40448ULL << 20);
  EXPECT_EQ(nvml.read(calls::kGpuInstanceDestroy, *instance).error().code, NVML_ERROR_IN_USE);
  EXPECT_TRUE(nvml.read(calls::kComputeInstanceDestroy, *compute));
  EXPECT_TRUE(nvml.read(calls::kGpuInstanceDestroy, *instance));
  EXPECT_TRUE(gpu.mig_devices()->empty());
  EXPECT_EQ(gpu.read(calls::kDeviceSetMigMode, 0u), NVML_SUCCESS);
}

TEST_F(SimulatedSettings, RefusedWithoutPermissionAndWhereTheCardHasNothingToSet) {
  use("system: {settings_allowed: no}\ngpus: [{model: h100}]\n");
  EXPECT_EQ(open().gpus()[0].read(calls::kDeviceSetPersistenceMode, NVML_FEATURE_DISABLED).error().code,
            NVML_ERROR_NO_PERMISSION);
  use("gpus: [{model: h100}]\n");
  EXPECT_EQ(open().gpus()[0].read(calls::kDeviceSetFanSpeed_v2, 0u, 50u).error().code,
            NVML_ERROR_NOT_SUPPORTED);
  EXPECT_TRUE(open().gpus()[0].read(calls::kDeviceSetPersistenceMode, NVML_FEATURE_DISABLED));
  EXPECT_EQ(open().gpus()[0].read(calls::kDeviceGetPersistenceMode), NVML_FEATURE_DISABLED);
}

}  // namespace
