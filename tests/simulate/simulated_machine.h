// The simulated library on a scenario of the test's own. The library stays loaded for all tests of a process;
// each test gives its scenario anew, as a person may change the file while clients run.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "driver/nvml.h"

class SimulatedMachine : public testing::Test {
 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite();

  // The whole scenario ("pagoda_scenario: 1" is put before it); its time begins now, no settings, nothing
  // laid over.
  static void use(const std::string& yaml);
  // Replaces the control file.
  static void control(const std::string& yaml);
  static pagoda::driver::Nvml open(std::chrono::milliseconds deadline = std::chrono::seconds(5));
  static tl::expected<pagoda::driver::Nvml, pagoda::driver::NvmlOpenFailure> try_open(
      std::chrono::milliseconds deadline = std::chrono::seconds(5));

  static std::filesystem::path folder_;
};
