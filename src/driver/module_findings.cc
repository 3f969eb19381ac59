#include "driver/module_findings.h"

#include <fmt/format.h>
#include <algorithm>

#include "base/format.h"

namespace pagoda::driver {
namespace {

using Findings = std::vector<Finding>;

std::vector<std::string> addresses_held_by(const HostFacts& facts, std::string_view driver) {
  std::vector<std::string> addresses;
  for (const auto& gpu : facts.gpus) {
    if (gpu.kernel_driver == driver) addresses.push_back(gpu.address);
  }
  return addresses;
}

void nouveau_in_the_way(const HostFacts& facts, Findings& findings) {
  const auto held = addresses_held_by(facts, "nouveau");
  if (held.empty()) return;
  findings.push_back(
      {Severity::kFault,
       format("nouveau, the kernel's own driver, holds {}: NVIDIA's cannot bind to it", fmt::join(held, " ")),
       facts.modules.file
           ? "nouveau is to be left out at the next start: update-initramfs -u, then reboot"
           : "pagoda driver install puts NVIDIA's driver in and shuts nouveau out; reboot after it"});
  if (facts.modules.file && !facts.modules.nouveau_blocked) {
    findings.push_back(
        {Severity::kFault, "nothing in /etc/modprobe.d blocks nouveau",
         "echo 'blacklist nouveau' > /etc/modprobe.d/nouveau.conf && update-initramfs -u, then reboot"});
  }
}

void given_to_guests(const HostFacts& facts, Findings& findings) {
  const auto held = addresses_held_by(facts, "vfio-pci");
  if (held.empty()) return;
  findings.push_back(
      {Severity::kNote,
       format("vfio-pci holds {}: given to virtual machines, not for this host", fmt::join(held, " ")),
       "the driver belongs into the guest"});
}

// Why no nvidia module is loaded though GPUs wait for one; the first cause that fits.
Finding why_not_loaded(const HostFacts& facts) {
  const auto& modules = facts.modules;
  const std::string& kernel = facts.system.kernel;
  const bool locked = facts.system.secure_boot.value_or(false) || facts.system.lockdown;
  if (modules.file && locked && modules.file->is_signed != std::optional(true)) {
    return {Severity::kFault,
            format("Secure Boot is on and {} is {}: the kernel refuses it (\"Key was rejected by service\")",
                   modules.file->path,
                   modules.file->is_signed ? "not signed"
                                           : "not signed by a key that the firmware knows, as it seems"),
            "enrol DKMS's key (mokutil --import /var/lib/dkms/mok.pub, then reboot and confirm), or use "
            "Ubuntu's signed "
            "linux-modules-nvidia packages, or switch Secure Boot off in the firmware"};
  }
  if (modules.file) {
    return {Severity::kFault, format("the nvidia module is there ({}) and not loaded", modules.file->path),
            "modprobe nvidia; if that fails, dmesg | grep -i nvrm tells why"};
  }
  if (modules.dkms_failed) {
    return {Severity::kFault,
            format("DKMS could not build nvidia {} for kernel {}", modules.dkms_versions.back(), kernel),
            format("read /var/lib/dkms/nvidia/{}/build/make.log; {}", modules.dkms_versions.back(),
                   modules.headers
                       ? format("a newer driver may know this kernel: pagoda driver recommend")
                       : format("the kernel's headers are missing: apt install linux-headers-{}", kernel))};
  }
  if (!modules.dkms_versions.empty() || !modules.other_kernels.empty()) {
    return {Severity::kFault, format("no nvidia module was built for the running kernel {}", kernel),
            format("{}dkms autoinstall -k {}",
                   modules.headers ? "" : format("apt install linux-headers-{} && ", kernel), kernel)};
  }
  return {Severity::kFault, "no NVIDIA driver is installed",
          "pagoda driver recommend, then pagoda driver install"};
}

void signed_for_secure_boot(const HostFacts& facts, Findings& findings) {
  if (!facts.system.secure_boot.value_or(false)) return;
  const auto& file = facts.modules.file;
  if (facts.loaded && file && file->is_signed == std::optional(false)) {
    findings.push_back(
        {Severity::kWarning,
         format("Secure Boot is on, and {} is not signed: it will not load after the next start", file->path),
         "enrol DKMS's key: mokutil --import /var/lib/dkms/mok.pub"});
  }
}

std::string chips_of(const std::vector<const PciDevice*>& gpus) {
  std::vector<std::string> names;
  for (const auto* gpu : gpus) {
    std::string name = format("{} ({})", gpu->chip->name, gpu->chip->architecture);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  return format("{}", fmt::join(names, ", "));
}

template <class Condition>
std::vector<const PciDevice*> gpus_where(const HostFacts& facts, Condition condition) {
  std::vector<const PciDevice*> found;
  for (const auto& gpu : facts.gpus) {
    if (gpu.chip != nullptr && condition(gpu)) found.push_back(&gpu);
  }
  return found;
}

void kind_fits(const HostFacts& facts, ModuleKind kind, Findings& findings) {
  if (kind == ModuleKind::kOpen) {
    const auto old =
        gpus_where(facts, [](const auto& g) { return g.chip->open_module == OpenModule::kUnsupported; });
    if (!old.empty()) {
      findings.push_back(
          {Severity::kFault,
           format("the open kernel module is for Turing and later; {} needs the proprietary one",
                  chips_of(old)),
           "install the package of the same branch without -open (Debian: nvidia-kernel-dkms), then reboot"});
    }
  }
  if (kind == ModuleKind::kProprietary) {
    const auto recent = gpus_where(facts, [](const auto& g) { return g.needs_open_module(); });
    if (!recent.empty()) {
      findings.push_back(
          {Severity::kFault,
           format("{} works with the open kernel module only, and the proprietary one is installed",
                  chips_of(recent)),
           "install the package of the same branch with -open (Debian: nvidia-open-kernel-dkms), then "
           "reboot"});
    }
  }
}

bool wrong_kind(const HostFacts& facts, ModuleKind kind) {
  Findings findings;
  kind_fits(facts, kind, findings);
  return !findings.empty();
}

}  // namespace

void kernel_driver_bound(const HostFacts& facts, Findings& findings) {
  if (facts.gpus.empty() || facts.system.wsl) return;
  nouveau_in_the_way(facts, findings);
  given_to_guests(facts, findings);
  const auto held = addresses_held_by(facts, "nvidia");
  if (facts.loaded) {
    findings.push_back(
        {Severity::kOk,
         format("kernel module {} ({}) is loaded and holds {} of {} GPUs", facts.loaded->version.text(),
                module_kind_name(facts.loaded->kind), held.size(), facts.gpus.size()),
         ""});
    for (const auto& address : addresses_held_by(facts, "")) {
      findings.push_back(
          {Severity::kFault, format("no kernel driver took {} though the nvidia module is loaded", address),
           format("dmesg | grep -i nvrm tells why; to try again: echo {} > /sys/bus/pci/drivers/nvidia/bind",
                  address)});
    }
    signed_for_secure_boot(facts, findings);
    return;
  }
  const bool all_given_away = addresses_held_by(facts, "vfio-pci").size() == facts.gpus.size();
  const bool nouveau = !addresses_held_by(facts, "nouveau").empty();
  if (all_given_away || (nouveau && !facts.modules.file)) return;
  // A module of the wrong kind does not load; module_fits_chip says so.
  if (facts.modules.file && wrong_kind(facts, facts.modules.file->kind)) return;
  findings.push_back(why_not_loaded(facts));
}

void module_fits_chip(const HostFacts& facts, Findings& findings) {
  std::optional<VersionNumber> version;
  ModuleKind kind = ModuleKind::kUnknown;
  if (facts.loaded) {
    version = facts.loaded->version;
    kind = facts.loaded->kind;
  } else if (facts.modules.file) {
    version = facts.modules.file->version;
    kind = facts.modules.file->kind;
  }
  kind_fits(facts, kind, findings);
  if (!version) return;
  const int branch = version->major();
  for (const auto* gpu : gpus_where(facts, [&](const auto& g) { return branch < g.chip->first_branch; })) {
    findings.push_back({Severity::kFault,
                        format("driver {} does not know {} ({}); the first that does is R{}", version->text(),
                               gpu->board_name(), gpu->address, gpu->chip->first_branch),
                        "pagoda driver recommend"});
  }
  for (const auto* gpu : gpus_where(
           facts, [&](const auto& g) { return g.chip->last_branch != 0 && branch > g.chip->last_branch; })) {
    findings.push_back({Severity::kFault,
                        format("driver {} no longer drives {} ({}); R{} is the last that does",
                               version->text(), gpu->board_name(), gpu->address, gpu->chip->last_branch),
                        "pagoda driver recommend"});
  }
}

}  // namespace pagoda::driver
