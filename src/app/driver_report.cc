#include "app/driver_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "driver/cuda_releases.h"

namespace pagoda::app {
namespace {

using namespace driver;

std::string gpu_line(const PciDevice& gpu) {
  if (gpu.chip == nullptr) return format("{}  {}", gpu.address, gpu.board_name());
  return format("{}  {}: {} ({}), compute capability {}", gpu.address, gpu.board_name(), gpu.chip->name,
                gpu.chip->architecture, capability_text(*gpu.chip));
}

std::string machine_line(const HostSystem& system) {
  std::string line = system.name.empty() ? "unknown distribution" : system.name;
  if (!system.kernel.empty()) line += format(", kernel {}", system.kernel);
  if (system.wsl) return line + ", WSL 2";
  if (!system.hypervisor.empty()) line += format(", guest of {}", system.hypervisor);
  if (!system.machine.empty()) line += format(" ({})", system.machine);
  return line;
}

std::string driver_line(const HostFacts& facts) {
  std::string line = "not loaded";
  if (facts.loaded) {
    line = format("{}, {} kernel module", facts.loaded->version.text(), module_kind_name(facts.loaded->kind));
  } else if (facts.system.wsl && facts.libcuda) {
    line = format("{}, of Windows", facts.libcuda->version.text());
  }
  if (facts.libcuda && !facts.system.wsl) line += format("; libcuda {}", facts.libcuda->version.text());
  return line;
}

Ink ink_of(Severity severity) {
  switch (severity) {
    case Severity::kOk:
      return Ink::kGreen;
    case Severity::kNote:
      return Ink::kCyan;
    case Severity::kWarning:
      return Ink::kYellow;
    case Severity::kFault:
      break;
  }
  return Ink::kRed;
}

std::string summary_line(const HostFacts& facts, const std::vector<Finding>& findings) {
  const auto count = [&](Severity severity) {
    return std::count_if(findings.begin(), findings.end(),
                         [&](const auto& f) { return f.severity == severity; });
  };
  const auto faults = count(Severity::kFault), warnings = count(Severity::kWarning);
  if (faults > 0) return format("Not ready: {} fault{}.\n", faults, faults == 1 ? "" : "s");
  if (facts.gpus.empty() && !facts.system.wsl) return "No GPU.\n";
  if (warnings > 0) return format("Ready, with {} warning{}.\n", warnings, warnings == 1 ? "" : "s");
  return "Ready.\n";
}

nlohmann::ordered_json gpu_json(const PciDevice& gpu) {
  nlohmann::ordered_json row = {{"pci_address", gpu.address},
                                {"device_id", format("{:04x}:{:04x}", gpu.vendor, gpu.device)},
                                {"name", gpu.board_name()},
                                {"kernel_driver", gpu.kernel_driver}};
  if (gpu.chip != nullptr) {
    row["chip"] = gpu.chip->name;
    row["architecture"] = gpu.chip->architecture;
    row["compute_capability"] = capability_text(*gpu.chip);
  }
  return row;
}

}  // namespace

std::string driver_report_text(const HostFacts& facts, const std::vector<Finding>& findings,
                               const Paint& paint) {
  std::string text = format("{} {}\n", paint(Ink::kBold, "Machine "), machine_line(facts.system));
  for (const auto& gpu : facts.gpus) text += format("{} {}\n", paint(Ink::kBold, "GPU     "), gpu_line(gpu));
  if (!facts.nvswitches.empty()) {
    text += format("{} {}, from {} on\n", paint(Ink::kBold, "NVSwitch"), facts.nvswitches.size(),
                   facts.nvswitches.front().address);
  }
  text += format("{} {}\n\n", paint(Ink::kBold, "Driver  "), driver_line(facts));
  for (const auto& finding : findings) {
    const std::string word = format("{:<8}", severity_name(finding.severity));
    text += format("  {} {}\n", paint(ink_of(finding.severity), word), finding.text);
    if (!finding.remedy.empty()) text += format("           → {}\n", finding.remedy);
  }
  return text + "\n" + summary_line(facts, findings);
}

nlohmann::ordered_json driver_report_json(const HostFacts& facts, const std::vector<Finding>& findings) {
  nlohmann::ordered_json report;
  report["system"] = {
      {"name", facts.system.name}, {"kernel", facts.system.kernel}, {"wsl", facts.system.wsl}};
  if (facts.system.secure_boot) report["system"]["secure_boot"] = *facts.system.secure_boot;
  if (!facts.system.hypervisor.empty()) report["system"]["hypervisor"] = facts.system.hypervisor;
  report["gpus"] = nlohmann::ordered_json::array();
  for (const auto& gpu : facts.gpus) report["gpus"].push_back(gpu_json(gpu));
  report["nvswitches"] = facts.nvswitches.size();
  if (facts.loaded) {
    report["driver"] = {{"version", facts.loaded->version.text()},
                        {"kernel_module", module_kind_name(facts.loaded->kind)}};
    if (const auto cuda = newest_cuda(facts.loaded->version)) report["driver"]["cuda"] = *cuda;
  }
  if (facts.libcuda) report["libcuda"] = facts.libcuda->version.text();
  report["findings"] = nlohmann::ordered_json::array();
  for (const auto& finding : findings) {
    nlohmann::ordered_json row = {{"severity", severity_name(finding.severity)}, {"text", finding.text}};
    if (!finding.remedy.empty()) row["remedy"] = finding.remedy;
    report["findings"].push_back(std::move(row));
  }
  report["ready"] = !has_fault(findings) && (!facts.gpus.empty() || facts.system.wsl);
  return report;
}

}  // namespace pagoda::app
