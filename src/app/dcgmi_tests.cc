#include "app/dcgmi_tests.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/format.h"
#include "driver/host_root.h"

extern char** environ;

namespace pagoda::app {
namespace {

using telemetry::CudaDriver;
using telemetry::DiagnosticTest;
using telemetry::TestResult;
using telemetry::Verdict;

std::vector<std::string> forbidden_devices(const driver::HostFacts& host) {
  std::vector<std::string> paths;
  for (const driver::DeviceNode& node : host.nodes.present) {
    // Capabilities of MIG are given to those whom they are meant for.
    if (node.path.find("/nvidia-caps") != std::string::npos) continue;
    if (::access(node.path.c_str(), R_OK | W_OK) != 0) paths.push_back(node.path);
  }
  return paths;
}

telemetry::DeploymentFacts facts_of(const DcgmiSession& session, const std::vector<size_t>& places) {
  telemetry::DeploymentFacts facts;
  facts.machine =
      driver::read_machine(session.nvml(), telemetry::deployment_sections(), session.handles_of(places));
  facts.simulated = session.simulated();
  facts.nvml_path = session.nvml().library_path();
  if (const auto root = driver::HostRoot::open("/")) facts.host = driver::read_host_facts(*root);
  facts.forbidden_devices = forbidden_devices(facts.host);
  for (char** entry = environ; *entry != nullptr; ++entry) facts.environment.emplace_back(*entry);
  return facts;
}

struct HardwareRow {
  unsigned level;
  std::string_view category, name;
  TestResult (*run)(CudaDriver&, const telemetry::HardwareTestOptions&, const driver::Gpu&);
};
TestResult pcie(CudaDriver& cuda, const telemetry::HardwareTestOptions& options, const driver::Gpu& gpu) {
  return telemetry::test_pcie(cuda, options,
                              [&] { return gpu.read(driver::nvml::kDeviceGetPcieReplayCounter); });
}
template <auto kTest>
TestResult alone(CudaDriver& cuda, const telemetry::HardwareTestOptions& options, const driver::Gpu&) {
  return kTest(cuda, options);
}
constexpr std::array kHardware = {
    HardwareRow{2, "Integration", "PCIe", pcie},
    HardwareRow{2, "Hardware", "GPU Memory", alone<telemetry::test_memory>},
    HardwareRow{3, "Stress", "Memory Bandwidth", alone<telemetry::test_memory_bandwidth>},
    HardwareRow{3, "Stress", "Targeted Stress", alone<telemetry::test_stress>},
};

Result<std::shared_ptr<CudaDriver>> open_cuda(const DcgmiSession& session) {
  if (session.simulated() && ::getenv("PAGODA_CUDA_LIBRARY") == nullptr)
    return fail(ErrorCode::kUnavailable, "simulated GPUs compute nothing");
  return CudaDriver::open();
}

TestResult run_on(const HardwareRow& row, const DcgmiSession& session, size_t place,
                  const Result<std::shared_ptr<CudaDriver>>& cuda,
                  const telemetry::HardwareTestOptions& options) {
  const driver::GpuSnapshot& gpu = session.machine().gpus[place];
  TestResult result;
  if (!cuda) {
    result = {std::nullopt, Verdict::kSkip, format("not run: {}", cuda.error().message)};
  } else if (!gpu.identity.uuid) {
    result = {std::nullopt, Verdict::kFailure,
              format("The GPU does not answer: {}", driver::sentence_of(gpu.identity.uuid.error().code))};
  } else if (const auto device = (*cuda)->find(*gpu.identity.uuid); !device) {
    result = {std::nullopt, Verdict::kSkip, format("not run: {}", device.error().message)};
  } else if (const Status used = (*cuda)->use(*device); !used) {
    result = {std::nullopt, Verdict::kFailure, used.error().message};
  } else {
    result = row.run(**cuda, options, session.nvml().gpus()[place]);
  }
  result.gpu = gpu.index;
  return result;
}

}  // namespace

std::vector<DiagnosticTest> run_dcgmi_tests(const DcgmiSession& session, const std::vector<size_t>& places,
                                            unsigned level, const telemetry::HardwareTestOptions& options) {
  std::vector<DiagnosticTest> tests = telemetry::deployment_tests(facts_of(session, places));
  if (level < 2) return tests;
  const auto cuda = open_cuda(session);
  for (const HardwareRow& row : kHardware) {
    if (row.level > level) continue;
    DiagnosticTest test{row.category, row.name, {}};
    for (const size_t place : places) test.results.push_back(run_on(row, session, place, cuda, options));
    tests.push_back(std::move(test));
  }
  return tests;
}

Verdict worst_of(const std::vector<DiagnosticTest>& tests) {
  Verdict worst = Verdict::kPass;
  for (const DiagnosticTest& test : tests) {
    const Verdict verdict = telemetry::verdict_of(test);
    if (verdict != Verdict::kSkip) worst = std::max(worst, verdict);
  }
  return worst;
}

size_t not_run(const std::vector<DiagnosticTest>& tests) {
  return static_cast<size_t>(std::count_if(tests.begin(), tests.end(), [](const DiagnosticTest& test) {
    return telemetry::verdict_of(test) == Verdict::kSkip;
  }));
}

std::string faults_of(const std::vector<DiagnosticTest>& tests) {
  std::string out;
  for (const DiagnosticTest& test : tests) {
    for (const TestResult& result : test.results) {
      if (result.verdict >= Verdict::kWarning)
        out += format("  {}: {}: {}\n", test.name, telemetry::name_of(result.verdict), result.reason);
    }
  }
  return out;
}

Status cuda_at_hand(const DcgmiSession& session) {
  const auto cuda = open_cuda(session);
  if (!cuda) return Unexpected(cuda.error());
  return {};
}

}  // namespace pagoda::app
