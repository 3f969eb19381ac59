// The tests of `dcgmi diag`: what is tried, on which GPU, and how it came out. A test that was not run never
// passes: it is skipped, and says why.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/gpu_snapshot_reader.h"
#include "driver/host_facts.h"

namespace pagoda::telemetry {

enum class Verdict { kPass, kSkip, kWarning, kFailure };
std::string_view name_of(Verdict verdict);  // "Pass", "Skip", "Warn", "Fail"

struct TestResult {
  std::optional<unsigned> gpu;  // empty: of the whole machine
  Verdict verdict = Verdict::kPass;
  std::string reason;  // why it is not a pass, and what to do; of a pass: what was measured, or empty
};

struct DiagnosticTest {
  std::string_view category;  // "Deployment", "Integration", "Hardware", "Stress"
  std::string_view name;      // "NVML Library"
  std::vector<TestResult> results;
};

// What the tests of level 1 look at.
struct DeploymentFacts {
  driver::MachineSnapshot machine;  // with deployment_sections()
  driver::HostFacts host;
  bool simulated = false;                      // the GPUs are; the host is not
  std::string nvml_path;                       // the library that answered
  std::vector<std::string> environment;        // NAME=value
  std::vector<std::string> forbidden_devices;  // device files that this process may not open, of those there
};
unsigned deployment_sections();

// Level 1: the software under the GPUs and what they say of themselves.
std::vector<DiagnosticTest> deployment_tests(const DeploymentFacts& facts);

// The worst of a test's results; of none: skipped.
Verdict verdict_of(const DiagnosticTest& test);

}  // namespace pagoda::telemetry
