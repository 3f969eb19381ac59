#include "telemetry/diagnostic.h"

#include <gtest/gtest.h>

#include "telemetry/hardware_tests.h"

namespace pagoda::telemetry {
namespace {

DeploymentFacts well() {
  DeploymentFacts facts;
  facts.machine.gpus.resize(1);
  driver::GpuSnapshot& gpu = facts.machine.gpus[0];
  gpu.identity.uuid = std::string("GPU-1");
  gpu.modes.persistence = true;
  gpu.remapped.pending = false;
  gpu.remapped.failure = false;
  gpu.ecc.sram.threshold_exceeded = false;
  gpu.graphics_processes = std::vector<driver::GpuProcess>();
  gpu.inforom.valid = true;
  gpu.fabric.state = NVML_GPU_FABRIC_STATE_COMPLETED;
  gpu.fabric.status = 0u;
  facts.host.libcuda = driver::DriverLibrary{};
  return facts;
}

const DiagnosticTest& named(const std::vector<DiagnosticTest>& tests, std::string_view name) {
  for (const DiagnosticTest& test : tests) {
    if (test.name == name) return test;
  }
  throw std::out_of_range(std::string(name));
}
Verdict verdict(const DeploymentFacts& facts, std::string_view name) {
  const auto tests = deployment_tests(facts);
  return verdict_of(named(tests, name));
}

TEST(Diagnostic, AWellMachinePassesAll) {
  for (const DiagnosticTest& test : deployment_tests(well()))
    EXPECT_EQ(verdict_of(test), Verdict::kPass) << test.name << ": " << test.results[0].reason;
}

TEST(Diagnostic, WhatWasNotReadNeverPasses) {
  DeploymentFacts facts = well();
  facts.machine.gpus[0] = {};
  facts.machine.gpus[0].identity.uuid = std::string("GPU-1");
  for (const char* name : {"Persistence Mode", "Page Retirement/Row Remap", "SRAM Threshold Count",
                           "Graphics Processes", "Inforom"}) {
    const auto tests = deployment_tests(facts);
    EXPECT_EQ(verdict_of(named(tests, name)), Verdict::kFailure) << name;
    EXPECT_FALSE(named(tests, name).results[0].reason.empty()) << name;
  }
  EXPECT_EQ(verdict(facts, "Fabric Manager"), Verdict::kSkip);
  facts.machine.gpus[0].inforom.valid = tl::unexpected(driver::absence_of(NVML_ERROR_NOT_SUPPORTED));
  EXPECT_EQ(verdict(facts, "Inforom"), Verdict::kSkip);
}

TEST(Diagnostic, SimulatedGpusHaveNoDriverOnThisMachine) {
  DeploymentFacts facts = well();
  facts.simulated = true;
  for (const char* name : {"Denylist", "CUDA Main Library", "Permissions and OS Blocks"})
    EXPECT_EQ(verdict(facts, name), Verdict::kSkip) << name;
}

TEST(Diagnostic, Faults) {
  DeploymentFacts facts = well();
  facts.host.modules.loaded = {"nouveau"};
  EXPECT_EQ(verdict(facts, "Denylist"), Verdict::kFailure);
  facts.host.libcuda.reset();
  EXPECT_EQ(verdict(facts, "CUDA Main Library"), Verdict::kFailure);
  facts.forbidden_devices = {"/dev/nvidia0"};
  EXPECT_EQ(verdict(facts, "Permissions and OS Blocks"), Verdict::kFailure);
  facts.environment = {"HOME=/root", "CUDA_PROFILE=1"};
  EXPECT_EQ(verdict(facts, "Environment Variables"), Verdict::kWarning);
  facts.machine.gpus[0].modes.persistence = false;
  EXPECT_EQ(verdict(facts, "Persistence Mode"), Verdict::kWarning);
  facts.machine.gpus[0].remapped.pending = true;
  EXPECT_EQ(verdict(facts, "Page Retirement/Row Remap"), Verdict::kFailure);
  facts.machine.gpus[0].fabric.state = NVML_GPU_FABRIC_STATE_IN_PROGRESS;
  EXPECT_EQ(verdict(facts, "Fabric Manager"), Verdict::kFailure);
  facts.machine.gpus[0].identity.uuid = tl::unexpected(driver::absence_of(NVML_ERROR_GPU_IS_LOST));
  EXPECT_EQ(verdict(facts, "Inforom"), Verdict::kFailure);
}

TEST(Diagnostic, AMixtureOfSkipsAndFaultsIsAFault) {
  EXPECT_EQ(verdict_of({"Hardware", "x", {{0, Verdict::kSkip, "a"}, {1, Verdict::kFailure, "b"}}}),
            Verdict::kFailure);
  EXPECT_EQ(verdict_of({"Hardware", "x", {}}), Verdict::kSkip);
}

TEST(Diagnostic, TheStressKernelsResultIsTheSameEverywhere) {
  EXPECT_EQ(stress_result(1), 1.5F);
  EXPECT_EQ(stress_result(100000), 2.0F);
}

}  // namespace
}  // namespace pagoda::telemetry
