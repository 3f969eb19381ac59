#include "telemetry/diagnostic.h"

#include <algorithm>
#include <array>

#include "base/format.h"

namespace pagoda::telemetry {
namespace {

constexpr std::string_view kDeployment = "Deployment";
constexpr std::string_view kSimulated =
    "the GPUs are simulated: there is no driver on this machine to look at";
constexpr unsigned kRetiredPagesLimit = 63;

// Variables that change how CUDA programs run, or slow them down.
constexpr std::array<std::string_view, 9> kTroublesome = {"NSIGHT_CUDA_DEBUGGER",
                                                          "CUDA_INJECTION32_PATH",
                                                          "CUDA_INJECTION64_PATH",
                                                          "CUDA_AUTO_BOOST",
                                                          "CUDA_ENABLE_COREDUMP_ON_EXCEPTION",
                                                          "CUDA_COREDUMP_FILE",
                                                          "CUDA_DEVICE_WAITS_ON_EXCEPTION",
                                                          "CUDA_PROFILE",
                                                          "COMPUTE_PROFILE"};

TestResult pass() {
  return {};
}
TestResult skip(std::string reason) {
  return {std::nullopt, Verdict::kSkip, std::move(reason)};
}
TestResult warn(std::string reason) {
  return {std::nullopt, Verdict::kWarning, std::move(reason)};
}
TestResult failure(std::string reason) {
  return {std::nullopt, Verdict::kFailure, std::move(reason)};
}
// A reading that a test needs and that is not there: this GPU has no such thing, or it failed.
TestResult unread(std::string_view what, const driver::Absence& absence) {
  const bool has_none = absence.reason == driver::AbsenceReason::kUnsupported ||
                        absence.reason == driver::AbsenceReason::kLibraryTooOld ||
                        absence.reason == driver::AbsenceReason::kDeprecated;
  if (has_none) return skip(format("{}: {}", what, driver::describe(absence.reason)));
  return failure(format("{} could not be read: {}", what, driver::sentence_of(absence.code)));
}

TestResult denylist(const DeploymentFacts& facts) {
  if (facts.simulated) return skip(std::string(kSimulated));
  if (facts.host.modules.is_loaded("nouveau"))
    return failure(
        "The module nouveau is loaded, which keeps NVIDIA's driver from the GPUs: blacklist it and reboot");
  return pass();
}
TestResult nvml_library(const DeploymentFacts& facts) {
  TestResult result = pass();
  result.reason = facts.nvml_path;
  return result;
}
TestResult cuda_library(const DeploymentFacts& facts) {
  if (facts.simulated) return skip(std::string(kSimulated));
  if (!facts.host.libcuda)
    return failure("libcuda.so.1 is not there: install the driver's compute libraries");
  if (facts.host.loaded && !(facts.host.libcuda->version == facts.host.loaded->version))
    return failure(
        format("{} is of another version than the loaded driver: reboot, or remove the other driver",
               facts.host.libcuda->path));
  return pass();
}
TestResult permissions(const DeploymentFacts& facts) {
  if (facts.simulated) return skip(std::string(kSimulated));
  if (facts.forbidden_devices.empty()) return pass();
  std::string names;
  for (const std::string& path : facts.forbidden_devices) names += (names.empty() ? "" : ", ") + path;
  return failure(
      format("{} may not be opened by this user: look at the mode and group of the file, and at the "
             "container's device rules",
             names));
}
TestResult environment(const DeploymentFacts& facts) {
  std::string names;
  for (const std::string& entry : facts.environment) {
    const std::string_view name = std::string_view(entry).substr(0, entry.find('='));
    if (std::find(kTroublesome.begin(), kTroublesome.end(), name) != kTroublesome.end())
      names += format("{}{}", names.empty() ? "" : ", ", name);
  }
  return names.empty() ? pass() : warn(format("{} changes how CUDA programs run: unset it", names));
}
// Where GPUs speak over switches, they wait for the fabric manager.
TestResult fabric_manager(const DeploymentFacts& facts) {
  bool any = false;
  for (const driver::GpuSnapshot& gpu : facts.machine.gpus) {
    const auto& fabric = gpu.fabric;
    if (!fabric.state || *fabric.state == NVML_GPU_FABRIC_STATE_NOT_SUPPORTED) continue;
    any = true;
    if (*fabric.state != NVML_GPU_FABRIC_STATE_COMPLETED)
      return failure(format("GPU {} is not in the fabric yet: start nvidia-fabricmanager", gpu.index));
    if (fabric.status && *fabric.status != 0)
      return failure(format("GPU {} could not join the fabric: {}: look at nvidia-fabricmanager's log",
                            gpu.index, driver::sentence_of(static_cast<nvmlReturn_t>(*fabric.status))));
  }
  return any ? pass() : skip("no GPU of this machine is in an NVSwitch fabric");
}

TestResult persistence(const driver::GpuSnapshot& gpu) {
  if (!gpu.modes.persistence) return unread("Persistence mode", gpu.modes.persistence.error());
  if (*gpu.modes.persistence) return pass();
  return warn(
      "Persistence mode is off, so each first client sets the GPU up anew: start nvidia-persistenced, or "
      "`pagoda smi -pm 1`");
}
TestResult retirement(const driver::GpuSnapshot& gpu) {
  const driver::RetirementReadings& pages = gpu.retired;
  const driver::RowRemapReadings& rows = gpu.remapped;
  if (!pages.pending && !rows.pending)
    return unread("Page retirement and row remapping", rows.pending.error());
  const size_t retired =
      (pages.single_bit ? pages.single_bit->size() : 0) + (pages.double_bit ? pages.double_bit->size() : 0);
  if (rows.failure.value_or(false)) return failure("A memory row could not be remapped: replace the card");
  if (retired >= kRetiredPagesLimit)
    return failure(format("{} memory pages are retired: replace the card", retired));
  if (rows.pending.value_or(false) || pages.pending.value_or(false))
    return failure("Memory waits to be taken out of use: reset the GPU, or reboot");
  return pass();
}
TestResult sram(const driver::GpuSnapshot& gpu) {
  const driver::Flag& exceeded = gpu.ecc.sram.threshold_exceeded;
  if (!exceeded) return unread("The SRAM error status", exceeded.error());
  return *exceeded ? failure("Uncorrectable SRAM errors exceed the threshold: replace the card") : pass();
}
TestResult graphics(const driver::GpuSnapshot& gpu) {
  if (!gpu.graphics_processes) return unread("Graphics processes", gpu.graphics_processes.error());
  if (gpu.graphics_processes->empty()) return pass();
  return warn(format("{} graphics processes use the GPU, which makes measurements uneven: end them",
                     gpu.graphics_processes->size()));
}
TestResult inforom(const driver::GpuSnapshot& gpu) {
  if (!gpu.inforom.valid) return unread("The infoROM's checksum", gpu.inforom.valid.error());
  return *gpu.inforom.valid ? pass() : failure("The infoROM's checksum is wrong: have it flashed anew");
}

struct MachineRow {
  std::string_view name;
  TestResult (*run)(const DeploymentFacts&);
};
struct GpuRow {
  std::string_view name;
  TestResult (*run)(const driver::GpuSnapshot&);
};
constexpr std::array kBefore = {
    MachineRow{"Denylist", denylist},
    MachineRow{"NVML Library", nvml_library},
    MachineRow{"CUDA Main Library", cuda_library},
    MachineRow{"Permissions and OS Blocks", permissions},
};
constexpr std::array kOfGpus = {
    GpuRow{"Persistence Mode", persistence},
    GpuRow{"Page Retirement/Row Remap", retirement},
    GpuRow{"SRAM Threshold Count", sram},
    GpuRow{"Graphics Processes", graphics},
    GpuRow{"Inforom", inforom},
};
constexpr std::array kAfter = {
    MachineRow{"Environment Variables", environment},
    MachineRow{"Fabric Manager", fabric_manager},
};

TestResult of_gpu(const GpuRow& row, const driver::GpuSnapshot& gpu) {
  TestResult result = gpu.identity.uuid
                          ? row.run(gpu)
                          : failure(format("The GPU does not answer: {}",
                                           driver::sentence_of(gpu.identity.uuid.error().code)));
  result.gpu = gpu.index;
  return result;
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  constexpr std::array<std::string_view, 4> kNames = {"Pass", "Skip", "Warn", "Fail"};
  return kNames[static_cast<size_t>(verdict)];
}

unsigned deployment_sections() {
  return driver::kIdentitySection | driver::kModesSection | driver::kRetiredSection |
         driver::kRemappedSection | driver::kEccSection | driver::kProcessesSection |
         driver::kInforomSection | driver::kFabricSection;
}

std::vector<DiagnosticTest> deployment_tests(const DeploymentFacts& facts) {
  std::vector<DiagnosticTest> tests;
  for (const MachineRow& row : kBefore) tests.push_back({kDeployment, row.name, {row.run(facts)}});
  for (const GpuRow& row : kOfGpus) {
    DiagnosticTest test{kDeployment, row.name, {}};
    for (const driver::GpuSnapshot& gpu : facts.machine.gpus) test.results.push_back(of_gpu(row, gpu));
    tests.push_back(std::move(test));
  }
  for (const MachineRow& row : kAfter) tests.push_back({kDeployment, row.name, {row.run(facts)}});
  return tests;
}

// A skip is not a pass, but says less than a fault of another GPU.
Verdict verdict_of(const DiagnosticTest& test) {
  if (test.results.empty()) return Verdict::kSkip;
  const bool all_skipped =
      std::all_of(test.results.begin(), test.results.end(),
                  [](const TestResult& result) { return result.verdict == Verdict::kSkip; });
  if (all_skipped) return Verdict::kSkip;
  Verdict worst = Verdict::kPass;
  for (const TestResult& result : test.results) {
    if (result.verdict != Verdict::kSkip) worst = std::max(worst, result.verdict);
  }
  return worst;
}

}  // namespace pagoda::telemetry
