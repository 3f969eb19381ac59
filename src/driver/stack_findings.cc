#include "driver/stack_findings.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "driver/cuda_releases.h"

namespace pagoda::driver {
namespace {

struct CapabilityRow {
  int capability;  // 10 × major + minor
  std::string_view least_cuda;
  int last_major;
};
// From the toolkits' release notes: when a capability came, and the last release with code for it.
constexpr std::array kRows = {
    CapabilityRow{30, "7.0", 10},  CapabilityRow{35, "7.0", 11},  CapabilityRow{37, "7.0", 11},
    CapabilityRow{50, "7.0", 12},  CapabilityRow{52, "7.0", 12},  CapabilityRow{60, "8.0", 12},
    CapabilityRow{61, "8.0", 12},  CapabilityRow{70, "9.0", 12},  CapabilityRow{75, "10.0", 0},
    CapabilityRow{80, "11.0", 0},  CapabilityRow{86, "11.1", 0},  CapabilityRow{89, "11.8", 0},
    CapabilityRow{90, "11.8", 0},  CapabilityRow{100, "12.8", 0}, CapabilityRow{103, "12.9", 0},
    CapabilityRow{120, "12.8", 0}, CapabilityRow{121, "12.9", 0},
};

std::string label(const StackComponent& component) {
  return format("{} {} ({})", component.name, component.version, component.place);
}

void against_driver(const HostFacts& facts, const StackComponent& component, std::vector<Finding>& findings) {
  // "12" alone: the release's first one.
  const std::string cuda =
      component.cuda.find('.') == std::string::npos ? component.cuda + ".0" : component.cuda;
  const auto judged = judge_cuda(facts, cuda);
  if (!judged || judged->severity == Severity::kOk) return;
  findings.push_back({judged->severity,
                      format("{} is built for CUDA {}: {}", label(component), component.cuda, judged->text),
                      judged->remedy});
}

void against_chips(const HostFacts& facts, const StackComponent& component, std::vector<Finding>& findings) {
  const auto cuda = VersionNumber::parse(component.cuda);
  if (!cuda) return;
  std::vector<const Chip*> seen;
  for (const auto& gpu : facts.gpus) {
    if (gpu.chip == nullptr || std::find(seen.begin(), seen.end(), gpu.chip) != seen.end()) continue;
    seen.push_back(gpu.chip);
    const ChipCuda limits = cuda_of_chip(*gpu.chip);
    const bool exact = component.cuda.find('.') != std::string::npos;
    if (exact ? *cuda < limits.least : cuda->major() < limits.least.major()) {
      findings.push_back(
          {Severity::kFault,
           format(
               "{} is built for CUDA {}, which has no code for {} (compute capability {}; from CUDA {} on): "
               "\"no kernel image is available\"",
               label(component), component.cuda, gpu.chip->name, capability_text(*gpu.chip),
               limits.least.text()),
           format("install a build for CUDA {} or later", limits.least.text())});
    } else if (limits.last_major != 0 && cuda->major() > limits.last_major) {
      findings.push_back(
          {Severity::kFault,
           format("{} is built for CUDA {}, which dropped {} (compute capability {}; CUDA {} is the last)",
                  label(component), component.cuda, gpu.chip->name, capability_text(*gpu.chip),
                  limits.last_major),
           format("install a build for CUDA {}", limits.last_major)});
    }
  }
}

// Wheels of cuDNN and NCCL for another CUDA than the PyTorch beside them.
void against_framework(const std::vector<StackComponent>& components, std::vector<Finding>& findings) {
  for (const auto& framework : components) {
    if (framework.name != "PyTorch" || framework.cuda.empty()) continue;
    const auto wanted = VersionNumber::parse(framework.cuda);
    for (const auto& library : components) {
      const auto built = VersionNumber::parse(library.cuda);
      if (library.floor != Floor::kLibrary || library.place != framework.place || !built || !wanted) continue;
      if (built->major() == wanted->major()) continue;
      findings.push_back(
          {Severity::kWarning,
           format("{} is for CUDA {}, PyTorch {} beside it for CUDA {}", label(library), library.cuda,
                  framework.version, framework.cuda),
           format("pip uninstall it, and install the one that ends in -cu{}", wanted->major())});
    }
  }
}

}  // namespace

std::optional<ChipCuda> cuda_of_capability(int major, int minor) {
  for (const auto& row : kRows) {
    if (row.capability == major * 10 + minor)
      return ChipCuda{*VersionNumber::parse(row.least_cuda), row.last_major};
  }
  return std::nullopt;
}

ChipCuda cuda_of_chip(const Chip& chip) {
  return cuda_of_capability(chip.capability_major, chip.capability_minor).value_or(ChipCuda{});
}

std::vector<Finding> judge_stack(const HostFacts& facts, const std::vector<StackComponent>& components) {
  std::vector<Finding> findings;
  for (const auto& component : components) {
    if (component.cuda.empty()) continue;
    if (facts.loaded) against_driver(facts, component, findings);
    against_chips(facts, component, findings);
  }
  against_framework(components, findings);
  return findings;
}

}  // namespace pagoda::driver
