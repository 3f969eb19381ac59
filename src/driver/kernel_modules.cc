#include "driver/kernel_modules.h"

#include <algorithm>
#include <array>

#include "base/format.h"

namespace pagoda::driver {
namespace {

constexpr std::string_view kSignature = "~Module signature appended~\n";
constexpr std::array<std::string_view, 4> kModuleEndings = {"", ".xz", ".zst", ".gz"};
// Where packages put it: DKMS, a distribution's prebuilt modules, Red Hat's kmod, NVIDIA's own installer.
constexpr std::array<std::string_view, 7> kModuleFolders = {"updates/dkms", "extra", "kernel/drivers/video",
                                                            "updates",      "misc",  "weak-updates/nvidia",
                                                            "extra/nvidia"};

std::vector<std::string> loaded_modules(const HostRoot& root) {
  std::vector<std::string> names;
  const std::string text = root.read("/proc/modules").value_or("");
  size_t position = 0;
  while (position < text.size()) {
    const size_t end = std::min(text.find('\n', position), text.size());
    const std::string_view line = std::string_view(text).substr(position, end - position);
    const std::string_view name = line.substr(0, line.find(' '));
    if (name.starts_with("nvidia") || name == "nouveau" || name == "nova_core" ||
        name.starts_with("vfio_pci")) {
      names.emplace_back(name);
    }
    position = end + 1;
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Folders that may hold nvidia.ko, Ubuntu's per-branch ones included.
std::vector<std::string> module_folders(const HostRoot& root, const std::string& modules) {
  std::vector<std::string> folders;
  for (const auto folder : kModuleFolders) folders.push_back(format("{}/{}", modules, folder));
  for (const auto& name : root.list(modules + "/kernel")) {
    if (name.starts_with("nvidia-")) folders.push_back(format("{}/kernel/{}", modules, name));
  }
  return folders;
}

// A field of the module's .modinfo section: NAME=value, ended by a zero byte.
std::string modinfo_field(std::string_view image, std::string_view name) {
  const std::string mark = format("{}=", name);
  for (size_t at = image.find(mark); at != std::string_view::npos; at = image.find(mark, at + 1)) {
    if (at > 0 && image[at - 1] != '\0') continue;
    const size_t start = at + mark.size();
    return std::string(image.substr(start, image.find('\0', start) - start));
  }
  return "";
}

ModuleFile read_module_file(const HostRoot& root, const std::string& path, bool compressed) {
  ModuleFile file;
  file.path = path;
  if (compressed) return file;
  constexpr size_t kLargestModule = size_t{256} << 20;
  const std::string image = root.read(path, kLargestModule).value_or("");
  file.version = VersionNumber::parse(modinfo_field(image, "version"));
  file.kind = module_kind(modinfo_field(image, "license"));
  file.is_signed = image.ends_with(kSignature);
  return file;
}

std::optional<ModuleFile> find_module_file(const HostRoot& root, const std::string& modules) {
  for (const auto& folder : module_folders(root, modules)) {
    for (const auto ending : kModuleEndings) {
      const std::string path = format("{}/nvidia.ko{}", folder, ending);
      if (root.exists(path)) return read_module_file(root, path, !ending.empty());
    }
  }
  return std::nullopt;
}

bool nouveau_blocked(const HostRoot& root) {
  const std::string command_line = root.read_text("/proc/cmdline");
  if (command_line.find("modprobe.blacklist=nouveau") != std::string::npos ||
      command_line.find("nouveau.modeset=0") != std::string::npos ||
      command_line.find("rd.driver.blacklist=nouveau") != std::string::npos) {
    return true;
  }
  for (const std::string folder : {"/etc/modprobe.d", "/usr/lib/modprobe.d", "/run/modprobe.d"}) {
    for (const auto& name : root.list(folder)) {
      if (!name.ends_with(".conf")) continue;
      const std::string text = "\n" + root.read(format("{}/{}", folder, name)).value_or("");
      if (text.find("\nblacklist nouveau") != std::string::npos ||
          text.find("\ninstall nouveau /bin/") != std::string::npos) {
        return true;
      }
    }
  }
  return false;
}

void read_dkms(const HostRoot& root, const std::string& kernel, KernelModules& modules) {
  for (const auto& version : root.list("/var/lib/dkms/nvidia")) {
    if (!VersionNumber::parse(version)) continue;
    modules.dkms_versions.push_back(version);
    const bool has_log = root.exists(format("/var/lib/dkms/nvidia/{}/build/make.log", version));
    const bool built = root.exists(format("/var/lib/dkms/nvidia/{}/{}", version, kernel));
    if (has_log && !built && !modules.file) modules.dkms_failed = true;
  }
}

}  // namespace

bool KernelModules::is_loaded(std::string_view module) const {
  return std::find(loaded.begin(), loaded.end(), module) != loaded.end();
}

KernelModules read_kernel_modules(const HostRoot& root, const std::string& kernel) {
  KernelModules modules;
  modules.loaded = loaded_modules(root);
  for (const auto& release : root.list("/lib/modules")) {
    auto file = find_module_file(root, format("/lib/modules/{}", release));
    if (release == kernel) {
      modules.file = std::move(file);
    } else if (file) {
      modules.other_kernels.push_back(release);
    }
  }
  modules.headers = root.exists(format("/lib/modules/{}/build/Makefile", kernel)) ||
                    root.exists(format("/usr/src/linux-headers-{}/Makefile", kernel)) ||
                    root.exists(format("/usr/src/kernels/{}/Makefile", kernel));
  modules.nouveau_blocked = nouveau_blocked(root);
  read_dkms(root, kernel, modules);
  return modules;
}

ModuleKind module_kind(std::string_view text) {
  if (text.find("Open Kernel Module") != std::string_view::npos ||
      text.find("GPL") != std::string_view::npos) {
    return ModuleKind::kOpen;
  }
  if (text.find("Kernel Module") != std::string_view::npos || text.find("NVIDIA") != std::string_view::npos) {
    return ModuleKind::kProprietary;
  }
  return ModuleKind::kUnknown;
}

std::string_view module_kind_name(ModuleKind kind) {
  switch (kind) {
    case ModuleKind::kOpen:
      return "open";
    case ModuleKind::kProprietary:
      return "proprietary";
    case ModuleKind::kUnknown:
      break;
  }
  return "unknown";
}

}  // namespace pagoda::driver
