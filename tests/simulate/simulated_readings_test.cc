// What a scenario says is what NVML answers, and what it does not say is not supported.
#include <gmock/gmock.h>

#include "driver/nvml_gpm.h"
#include "simulated_machine.h"

using namespace pagoda::driver;
namespace calls = pagoda::driver::nvml;

namespace {

class SimulatedReadings : public SimulatedMachine {};

TEST_F(SimulatedReadings, AnswersWhatTheScenarioSays) {
  use("system: {driver_version: 580.95.05, cuda_version: 13000}\n"
      "gpus:\n"
      "  - model: h100\n"
      "    uuid: GPU-11111111-2222-3333-4444-555555555555\n"
      "    temperature: {gpu: 53}\n"
      "    memory: {used: 11125 MiB}\n"
      "    power: {draw_mw: 432210}\n"
      "    pci: {bus: 0x3b}\n");
  const Nvml nvml = open();
  EXPECT_EQ(nvml.text(calls::kSystemGetDriverVersion), "580.95.05");
  EXPECT_EQ(nvml.read(calls::kSystemGetCudaDriverVersion_v2), 13000);
  ASSERT_EQ(nvml.gpus().size(), 1u);
  const Gpu& gpu = nvml.gpus()[0];
  EXPECT_EQ(gpu.text(calls::kDeviceGetName), "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(gpu.text(calls::kDeviceGetUUID), "GPU-11111111-2222-3333-4444-555555555555");
  EXPECT_STREQ(gpu.pci()->busId, "00000000:3B:00.0");
  EXPECT_EQ(gpu.read(calls::kDeviceGetPowerUsage), 432210u);
  EXPECT_EQ(gpu.read(calls::kDeviceGetTemperature, NVML_TEMPERATURE_GPU), 53u);
  const auto memory = gpu.memory();
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->used, 11125ULL << 20);
  EXPECT_EQ(memory->free, (81559ULL - 479 - 11125) << 20);
  EXPECT_EQ(gpu.read(calls::kDeviceGetMemoryInfo)->used, (11125ULL + 479)
                                                             << 20);  // the first version counts both
  nvmlMarginTemperature_t margin{};
  margin.version = nvmlMarginTemperature_v1;
  EXPECT_EQ(gpu.fill(calls::kDeviceGetMarginTemperature, margin)->marginTemperature, 34);
}

TEST_F(SimulatedReadings, WhatItDoesNotSayIsNotSupported) {
  use("gpus: [{name: Bare}]\n");
  const Nvml nvml = open();
  const Gpu& gpu = nvml.gpus()[0];
  EXPECT_EQ(gpu.read(calls::kDeviceGetPowerUsage).error().code, NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(gpu.read(calls::kDeviceGetFanSpeed).error().code, NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(gpu.read(calls::kDeviceGetMigMode).error().code, NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(gpu.memory().error().code, NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(gpu.field({NVML_FI_DEV_MEMORY_TEMP}).error().code, NVML_ERROR_NOT_SUPPORTED);
  EXPECT_TRUE(gpu.processes(ProcessKind::kCompute)->empty());
}

TEST_F(SimulatedReadings, AReturnCodeIsAnsweredAsItStands) {
  use("gpus: [{model: t4, power: {draw_mw: UNKNOWN}, calls: {nvmlDeviceGetName: NO_PERMISSION}}]\n");
  const Nvml nvml = open();
  const Gpu& gpu = nvml.gpus()[0];
  EXPECT_EQ(gpu.read(calls::kDeviceGetPowerUsage).error().code, NVML_ERROR_UNKNOWN);
  EXPECT_EQ(gpu.text(calls::kDeviceGetName).error().code, NVML_ERROR_NO_PERMISSION);
  EXPECT_TRUE(gpu.text(calls::kDeviceGetUUID));
}

TEST_F(SimulatedReadings, VersionedStructsAreChecked) {
  use("gpus: [{model: h100}]\n");
  const Nvml nvml = open();
  const Gpu& gpu = nvml.gpus()[0];
  nvmlTemperature_t temperature{};
  temperature.version = nvmlTemperature_v1 + 1;
  EXPECT_EQ(gpu.fill(calls::kDeviceGetTemperatureV, temperature).error().code,
            NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
  nvmlMemory_v2_t memory{};
  memory.version = 2;  // without the size
  EXPECT_EQ(gpu.fill(calls::kDeviceGetMemoryInfo_v2, memory).error().code,
            NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
}

TEST_F(SimulatedReadings, ValuesChangeWithTimeAndWithOneAnother) {
  use("gpus:\n"
      "  - model: h100\n"
      "    temperature: {gpu: {steps: [[0, 40], [0.3, 90]]}}\n"
      "    power: {draw_mw: {share_of: power.enforced_limit_mw, value: 0.5}}\n");
  const Nvml nvml = open();
  const Gpu& gpu = nvml.gpus()[0];
  EXPECT_EQ(gpu.read(calls::kDeviceGetTemperature, NVML_TEMPERATURE_GPU), 40u);
  const auto before = gpu.read(calls::kDeviceGetTotalEnergyConsumption);
  EXPECT_EQ(gpu.read(calls::kDeviceGetPowerUsage), 350000u);
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  EXPECT_EQ(gpu.read(calls::kDeviceGetTemperature, NVML_TEMPERATURE_GPU), 90u);
  const auto after = gpu.read(calls::kDeviceGetTotalEnergyConsumption);
  EXPECT_NEAR(static_cast<double>(*after - *before), 350000 * 0.4, 350000 * 0.2);  // mW · s
}

TEST_F(SimulatedReadings, FieldsWithScopesLinksAndNamesOfTheirOwn) {
  use("gpus:\n"
      "  - model: h100\n"
      "    power: {draw_mw: 100 W, average_mw: {gpu: 90 W, memory: 20 W}}\n"
      "    fields: {DEV_RESET_STATUS: 1, 226: 1, DEV_NVLINK_COUNT_XMIT_BYTES: NO_DATA}\n"
      "    nvlink: {links: [{link: 2, state: 0, speed_mbps: 0, error: {crc_flit: 12}}]}\n");
  const Nvml nvml = open();
  const Gpu& gpu = nvml.gpus()[0];
  const auto number = [&](unsigned id, unsigned scope = 0) { return gpu.field({id, scope})->as_signed(); };
  EXPECT_EQ(number(NVML_FI_DEV_POWER_AVERAGE), 90000);
  EXPECT_EQ(number(NVML_FI_DEV_POWER_AVERAGE, NVML_POWER_SCOPE_MEMORY), 20000);
  EXPECT_EQ(number(NVML_FI_DEV_POWER_INSTANT), 100000);
  EXPECT_FALSE(gpu.field({NVML_FI_DEV_POWER_INSTANT, NVML_POWER_SCOPE_MODULE}));
  EXPECT_EQ(number(NVML_FI_DEV_TEMPERATURE_SHUTDOWN_TLIMIT), -8);
  EXPECT_EQ(number(NVML_FI_DEV_RESET_STATUS), 1);
  EXPECT_EQ(gpu.field({NVML_FI_DEV_NVLINK_COUNT_XMIT_BYTES}).error().code, NVML_ERROR_NO_DATA);
  EXPECT_EQ(number(NVML_FI_DEV_NVLINK_LINK_COUNT), 18);
  EXPECT_EQ(number(NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L2), 12);
  EXPECT_EQ(number(NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL), 12);
  EXPECT_EQ(number(NVML_FI_DEV_NVLINK_GET_SPEED, 2), 0);
  EXPECT_EQ(number(NVML_FI_DEV_NVLINK_GET_SPEED, 3), 26562);
  EXPECT_EQ(gpu.read(calls::kDeviceGetNvLinkState, 2u), NVML_FEATURE_DISABLED);
  EXPECT_EQ(gpu.read(calls::kDeviceGetNvLinkState, 3u), NVML_FEATURE_ENABLED);
  EXPECT_EQ(gpu.read(calls::kDeviceGetNvLinkState, 18u).error().code, NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(SimulatedReadings, ProcessesByKindAndByName) {
  use("gpus:\n"
      "  - model: h100\n"
      "    processes:\n"
      "      - {pid: 21, name: ./train, type: C, used_memory: 2 GiB, sm_util: 91, mem_util: 40}\n"
      "      - {pid: 22, name: /usr/bin/Xorg, type: G}\n"
      "      - {pid: 23, name: game, type: C+G, used_memory: 1 GiB}\n");
  const Nvml nvml = open();
  const Gpu& gpu = nvml.gpus()[0];
  const auto compute = gpu.processes(ProcessKind::kCompute), graphics = gpu.processes(ProcessKind::kGraphics);
  ASSERT_EQ(compute->size(), 2u);
  EXPECT_EQ((*compute)[0].used_bytes, 2ULL << 30);
  EXPECT_FALSE((*compute)[0].gpu_instance);
  ASSERT_EQ(graphics->size(), 2u);
  EXPECT_FALSE((*graphics)[0].used_bytes);
  EXPECT_EQ(nvml.text(calls::kSystemGetProcessName, 22u), "/usr/bin/Xorg");
  EXPECT_EQ(nvml.text(calls::kSystemGetProcessName, 99u).error().code, NVML_ERROR_NOT_FOUND);
  const auto samples = gpu.process_utilization(0);
  ASSERT_EQ(samples->size(), 1u);
  EXPECT_EQ((*samples)[0].smUtil, 91u);
}

TEST_F(SimulatedReadings, MigDevicesKnowTheirParentAndTheirOwnValuesOnly) {
  use("gpus: [{model: h100-mig}]\n");
  const Nvml nvml = open();
  const Gpu& gpu = nvml.gpus()[0];
  const auto children = gpu.mig_devices();
  ASSERT_TRUE(children);
  ASSERT_EQ(children->size(), 4u);
  const Gpu& first = (*children)[0];
  EXPECT_EQ(first.text(calls::kDeviceGetName), "NVIDIA H100 80GB HBM3 MIG 3g.40gb");
  EXPECT_TRUE(*first.is_mig_device());
  EXPECT_FALSE(*gpu.is_mig_device());
  EXPECT_EQ(first.read(calls::kDeviceGetGpuInstanceId), 2u);
  EXPECT_EQ(first.read(calls::kDeviceGetAttributes_v2)->multiprocessorCount, 60u);
  EXPECT_EQ(first.memory()->used, 44ULL << 20);
  EXPECT_EQ(first.processes(ProcessKind::kCompute)->size(), 1u);
  EXPECT_EQ((*children)[1].processes(ProcessKind::kCompute)->size(), 0u);
  EXPECT_EQ(first.read(calls::kDeviceGetPowerUsage).error().code, NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(gpu.read(calls::kDeviceGetUtilizationRates).error().code, NVML_ERROR_NOT_SUPPORTED);
  const auto parent = first.read(calls::kDeviceGetDeviceHandleFromMigDeviceHandle);
  ASSERT_TRUE(parent);
  EXPECT_EQ(*parent, *gpu.handle());
  const auto uuid = first.text(calls::kDeviceGetUUID);
  EXPECT_EQ(nvml.find(*uuid)->index(), 0u);
}

TEST_F(SimulatedReadings, ProfilingMetricsBetweenTwoSamples) {
  use("gpus: [{model: h100, gpm: {sm_util: 62.5, 10: 80, fp64_util: NO_DATA}}]\n");
  const Nvml nvml = open();
  const Gpu& gpu = nvml.gpus()[0];
  auto sampler = GpmSampler::open(gpu);
  ASSERT_TRUE(sampler);
  const unsigned wanted[] = {NVML_GPM_METRIC_SM_UTIL, NVML_GPM_METRIC_DRAM_BW_UTIL,
                             NVML_GPM_METRIC_FP64_UTIL};
  for (int round = 0; round < 3; ++round) {
    const auto metrics = sampler->metrics(wanted);
    ASSERT_TRUE(metrics);
    EXPECT_EQ((*metrics)[0], 62.5);
    EXPECT_EQ((*metrics)[1], 80.0);
    EXPECT_EQ((*metrics)[2].error().reason, AbsenceReason::kNoData);
  }
  use("gpus: [{model: a100}]\n");
  EXPECT_EQ(GpmSampler::open(open().gpus()[0]).error().reason, AbsenceReason::kUnsupported);
  use("gpus: [{model: h100-mig}]\n");
  auto instance = GpmSampler::open(open().gpus()[0], 2u);
  ASSERT_TRUE(instance);
  EXPECT_EQ((*instance->metrics(wanted))[0], 10.0);
}

TEST_F(SimulatedReadings, TopologyAndAffinity) {
  use("system: {topology_level: 50, topology: [{a: 0, b: 1, level: 20}]}\n"
      "gpus: [{model: h100, count: 3, affinity: {cpus: '1-2,64'}}]\n");
  const Nvml nvml = open();
  const auto level = [&](size_t a, size_t b) {
    return nvml.gpus()[a].read(calls::kDeviceGetTopologyCommonAncestor, *nvml.gpus()[b].handle());
  };
  EXPECT_EQ(level(0, 1), NVML_TOPOLOGY_MULTIPLE);
  EXPECT_EQ(level(1, 0), NVML_TOPOLOGY_MULTIPLE);
  EXPECT_EQ(level(0, 2), NVML_TOPOLOGY_SYSTEM);
  using Words = std::array<unsigned long, 2>;
  const auto cpus = nvml.gpus()[0].run<Words>(
      calls::kDeviceGetCpuAffinity,
      [](auto* function, nvmlDevice_t device, Words& words) { return function(device, 2, words.data()); });
  ASSERT_TRUE(cpus);
  EXPECT_EQ(*cpus, (Words{6, 1}));
}

}  // namespace
