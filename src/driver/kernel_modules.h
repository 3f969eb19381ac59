// The kernel's side of the driver: modules loaded, modules on disk for the running kernel, and what stands in
// their way.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/host_root.h"
#include "driver/version_number.h"

namespace pagoda::driver {

enum class ModuleKind { kUnknown, kProprietary, kOpen };

struct ModuleFile {
  std::string path;  // "/lib/modules/6.8.0-45-generic/updates/dkms/nvidia.ko.zst"
  std::optional<VersionNumber> version;
  ModuleKind kind = ModuleKind::kUnknown;
  std::optional<bool> is_signed;  // nullopt: compressed in a way that is not read here
};

struct KernelModules {
  std::vector<std::string> loaded;         // nvidia*, nouveau, nova_core, vfio_pci of /proc/modules
  std::optional<ModuleFile> file;          // nvidia.ko for the running kernel
  std::vector<std::string> other_kernels;  // those that have a nvidia.ko while the running one may not
  std::vector<std::string> dkms_versions;  // sources that DKMS knows: "580.95.05"
  bool dkms_failed = false;                // its build for the running kernel left an error log and no module
  bool headers = false;                    // of the running kernel
  bool nouveau_blocked = false;            // by /etc/modprobe.d or the kernel command line

  bool is_loaded(std::string_view module) const;
};

KernelModules read_kernel_modules(const HostRoot& root, const std::string& kernel);

// The kind from words of a version line or a module's license: "NVIDIA UNIX Open Kernel Module …", "Dual
// MIT/GPL".
ModuleKind module_kind(std::string_view text);
std::string_view module_kind_name(ModuleKind kind);  // "open", "proprietary", "unknown"

}  // namespace pagoda::driver
