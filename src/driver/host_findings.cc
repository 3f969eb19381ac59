#include "driver/host_findings.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <charconv>

#include "base/format.h"
#include "driver/cuda_releases.h"
#include "driver/module_findings.h"

namespace pagoda::driver {
namespace {

using Findings = std::vector<Finding>;

void gpus_present(const HostFacts& facts, Findings& findings) {
  if (!facts.gpus.empty()) {
    const auto& first = facts.gpus.front();
    findings.push_back(
        {Severity::kOk,
         format("{} NVIDIA GPU{} on the PCI bus{}", facts.gpus.size(), facts.gpus.size() == 1 ? "" : "s",
                facts.system.hypervisor.empty()
                    ? ""
                    : format(", passed through to this guest of {}", facts.system.hypervisor)),
         ""});
    if (first.chip != nullptr) return;
    findings.push_back(
        {Severity::kWarning,
         format("{} (device id {:04x}) is a chip that is not known here", first.address, first.device),
         "update-pciids brings the newest list of names"});
    return;
  }
  if (facts.system.wsl) return;
  if (!facts.system.hypervisor.empty()) {
    findings.push_back(
        {Severity::kFault, format("no NVIDIA GPU in this guest of {}", facts.system.hypervisor),
         "pass a GPU through to it (vfio-pci on the host), or run without one: pagoda serve uses the CPU"});
    return;
  }
  findings.push_back(
      {Severity::kFault, "no NVIDIA GPU on the PCI bus",
       "if one is built in: seat and power it, look at the firmware's PCIe settings; without one "
       "pagoda serve uses the CPU"});
}

void windows_subsystem(const HostFacts& facts, Findings& findings) {
  if (!facts.system.wsl) return;
  const bool gpu = std::any_of(facts.libraries.begin(), facts.libraries.end(),
                               [](const auto& l) { return l.path.starts_with("/usr/lib/wsl/"); }) ||
                   (facts.libcuda && facts.libcuda->path.starts_with("/usr/lib/wsl/"));
  if (gpu) {
    findings.push_back(
        {Severity::kOk, "WSL 2: Windows' driver serves this machine, through /usr/lib/wsl/lib", ""});
    findings.push_back({Severity::kNote,
                        "a Linux driver must not be installed here: it would hide Windows' own",
                        "keep the driver new in Windows; install only CUDA's toolkit here, if at all"});
  } else {
    findings.push_back({Severity::kFault,
                        "WSL 2, and Windows shows it no GPU (/usr/lib/wsl/lib has no libcuda)",
                        "install NVIDIA's driver in Windows, then: wsl --shutdown"});
  }
}

void bus_links(const HostFacts& facts, Findings& findings) {
  for (const auto& gpu : facts.gpus) {
    if (gpu.link_width.empty() || gpu.link_width_max.empty() || gpu.link_width == gpu.link_width_max)
      continue;
    int width = 0, most = 0;
    std::from_chars(gpu.link_width.data(), gpu.link_width.data() + gpu.link_width.size(), width);
    std::from_chars(gpu.link_width_max.data(), gpu.link_width_max.data() + gpu.link_width_max.size(), most);
    if (width == 0 || width >= most) continue;
    findings.push_back({Severity::kWarning,
                        format("{} has {} of {} PCIe lanes", gpu.address, gpu.link_width, gpu.link_width_max),
                        "seat the card, or use a slot that is wired for all lanes"});
  }
}

void libraries_match(const HostFacts& facts, Findings& findings) {
  if (!facts.loaded || facts.system.wsl) return;
  const std::string module = facts.loaded->version.text();
  if (!facts.libcuda || !facts.libnvidia_ml) {
    findings.push_back({Severity::kFault,
                        format("the kernel module {} is loaded, and {} is missing", module,
                               facts.libcuda ? "libnvidia-ml.so.1" : "libcuda.so.1"),
                        "pagoda driver install puts the libraries of that version in"});
    return;
  }
  if (facts.libnvidia_ml->version == facts.loaded->version) {
    findings.push_back({Severity::kOk, format("libraries and kernel module are both {}", module), ""});
    return;
  }
  findings.push_back(
      {Severity::kFault,
       format("driver/library version mismatch: the loaded kernel module is {}, the libraries are {}; "
              "packages were upgraded under the running kernel module",
              module, facts.libnvidia_ml->version.text()),
       "reboot; or, with no program on the GPU: rmmod nvidia_uvm nvidia_drm nvidia_modeset nvidia && "
       "modprobe nvidia. To keep it from coming back: apt-mark hold the driver's packages"});
}

void nodes_present(const HostFacts& facts, Findings& findings) {
  if (!facts.loaded || facts.system.wsl) return;
  std::vector<std::string> missing;
  const auto want = [&](const std::string& path) {
    if (facts.nodes.find(path) == nullptr) missing.push_back(path);
  };
  want("/dev/nvidiactl");
  for (const auto& gpu : facts.loaded->gpus) {
    if (gpu.minor) want(format("/dev/nvidia{}", *gpu.minor));
  }
  if (facts.modules.is_loaded("nvidia_uvm")) want("/dev/nvidia-uvm");
  if (missing.empty()) {
    findings.push_back({Severity::kOk, "all device nodes are there", ""});
  } else {
    findings.push_back({Severity::kFault, format("missing device nodes: {}", fmt::join(missing, " ")),
                        "nvidia-modprobe -c 0 -u creates them (root)"});
  }
  if (!facts.nodes.not_devices.empty()) {
    findings.push_back(
        {Severity::kFault, format("no device node: {}", fmt::join(facts.nodes.not_devices, " ")),
         "remove it and run nvidia-modprobe -c 0 -u; something wrote a plain file in its place"});
  }
  if (!facts.modules.is_loaded("nvidia_uvm")) {
    findings.push_back(
        {Severity::kWarning,
         "nvidia_uvm is not loaded: CUDA programs fail with error 999 unless root runs the first",
         "modprobe nvidia_uvm && nvidia-modprobe -u -c 0"});
  }
}

void persistence(const HostFacts& facts, Findings& findings) {
  if (!facts.loaded || facts.gpus.empty() || facts.system.wsl) return;
  if (facts.services.persistenced_running) {
    findings.push_back({Severity::kOk, "nvidia-persistenced keeps the driver's state", ""});
  } else {
    findings.push_back(
        {Severity::kNote,
         "nvidia-persistenced does not run: the first program on an idle GPU waits for it to start up",
         facts.services.persistenced_installed ? "systemctl enable --now nvidia-persistenced"
                                               : "install the package nvidia-compute-utils of the driver's "
                                                 "branch (Debian: nvidia-persistenced)"});
  }
}

void fabric_manager(const HostFacts& facts, Findings& findings) {
  if (facts.nvswitches.empty() || !facts.loaded) return;
  const auto& services = facts.services;
  const std::string package = format("nvidia-fabricmanager-{}", facts.loaded->version.major());
  if (services.fabric_manager_version && *services.fabric_manager_version != facts.loaded->version) {
    findings.push_back(
        {Severity::kFault,
         format("fabric manager {} beside driver {}: it refuses any other version than its own",
                services.fabric_manager_version->text(), facts.loaded->version.text()),
         format("install {} of version {}, then: systemctl restart nvidia-fabricmanager", package,
                facts.loaded->version.text())});
  } else if (services.fabric_manager_running) {
    findings.push_back(
        {Severity::kOk, format("fabric manager runs, for {} NVSwitches", facts.nvswitches.size()), ""});
  } else {
    findings.push_back(
        {Severity::kFault,
         format("{} NVSwitches and no fabric manager: CUDA ends with error 802 (system not yet initialized)",
                facts.nvswitches.size()),
         services.fabric_manager_installed
             ? "systemctl enable --now nvidia-fabricmanager"
             : format("install {}, then: systemctl enable --now nvidia-fabricmanager", package)});
  }
}

void cuda(const HostFacts& facts, Findings& findings) {
  const auto version = facts.loaded                        ? std::optional(facts.loaded->version)
                       : facts.system.wsl && facts.libcuda ? std::optional(facts.libcuda->version)
                                                           : std::nullopt;
  if (!version) return;
  const auto newest = newest_cuda(*version);
  if (!newest) {
    findings.push_back({Severity::kWarning,
                        format("driver {} is older than any that CUDA 10 runs on", version->text()),
                        "pagoda driver recommend"});
    return;
  }
  const bool old_chip = std::any_of(facts.gpus.begin(), facts.gpus.end(), [](const auto& gpu) {
    return gpu.chip != nullptr && gpu.chip->capability_major * 10 + gpu.chip->capability_minor < 75;
  });
  if (old_chip) {
    findings.push_back({Severity::kNote,
                        format("driver {} runs CUDA up to {}; CUDA 13 begins with Turing, so pagoda uses the "
                               "CPU beside this GPU",
                               version->text(), std::min(*newest, std::string_view("12.9"))),
                        "programs built with CUDA 12 or older work on it"});
  } else if (version->major() < kPagodaCudaDriverMajor) {
    findings.push_back({Severity::kWarning,
                        format("driver {} runs CUDA up to {}; pagoda's CUDA backend needs R{} (CUDA {})",
                               version->text(), *newest, kPagodaCudaDriverMajor, kPagodaCuda),
                        "pagoda driver recommend; until then pagoda uses the CPU"});
  } else {
    findings.push_back(
        {Severity::kOk,
         format("driver {} runs CUDA up to {}, pagoda's CUDA backend too", version->text(), *newest), ""});
  }
}

using Rule = void (*)(const HostFacts&, Findings&);
constexpr std::array<Rule, 10> kRules = {
    gpus_present,    windows_subsystem, bus_links,      kernel_driver_bound, module_fits_chip,
    libraries_match, nodes_present,     fabric_manager, persistence,         cuda};

}  // namespace

std::vector<Finding> judge_host(const HostFacts& facts) {
  Findings findings;
  for (const Rule rule : kRules) rule(facts, findings);
  return findings;
}

std::string_view severity_name(Severity severity) {
  constexpr std::array<std::string_view, 4> kNames = {"ok", "note", "warning", "fault"};
  return kNames[static_cast<size_t>(severity)];
}

bool has_fault(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const auto& f) { return f.severity == Severity::kFault; });
}

Result<Finding> judge_cuda(const HostFacts& facts, std::string_view wanted) {
  const auto least = least_driver(wanted);
  if (!least) {
    return fail(ErrorCode::kInvalidArgument,
                format("'{}' is no CUDA release of the table ({} to {})", wanted,
                       cuda_releases().front().cuda, cuda_releases().back().cuda),
                "cuda");
  }
  if (!facts.loaded) {
    return Finding{Severity::kFault,
                   format("CUDA {} needs driver {} or later; none is loaded", wanted, least->compatible),
                   "pagoda driver recommend"};
  }
  const VersionNumber& driver = facts.loaded->version;
  if (driver >= *VersionNumber::parse(least->in_full)) {
    return Finding{Severity::kOk,
                   format("driver {} runs CUDA {} (least: {})", driver.text(), wanted, least->in_full), ""};
  }
  if (driver >= *VersionNumber::parse(least->compatible)) {
    return Finding{Severity::kWarning,
                   format("driver {} runs CUDA {} by minor-version compatibility; in full from {} on",
                          driver.text(), wanted, least->in_full),
                   "programs that bring PTX only, or use newer driver calls, need the newer driver"};
  }
  return Finding{Severity::kFault,
                 format("driver {} is too old for CUDA {}, which needs {} or later", driver.text(), wanted,
                        least->compatible),
                 "pagoda driver recommend"};
}

}  // namespace pagoda::driver
