#include "container/driver_files.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/format.h"
#include "driver/driver_libraries.h"

namespace pagoda::container {
namespace {

using enum Capability;

struct NamedCapability {
  std::string_view name;
  Capability capability;
};
constexpr std::array kCapabilities = {
    NamedCapability{"compute", kCompute},   NamedCapability{"utility", kUtility},
    NamedCapability{"video", kVideo},       NamedCapability{"graphics", kGraphics},
    NamedCapability{"display", kDisplay},   NamedCapability{"ngx", kNgx},
    NamedCapability{"compat32", kCompat32},
};

// Which capability asks for a library; libraries that are not named here come with graphics.
constexpr std::array kLibraries = {
    NamedCapability{"libcuda", kCompute},
    NamedCapability{"libcudadebugger", kCompute},
    NamedCapability{"libnvidia-opencl", kCompute},
    NamedCapability{"libnvidia-gpucomp", kCompute},
    NamedCapability{"libnvidia-ptxjitcompiler", kCompute},
    NamedCapability{"libnvidia-nvvm", kCompute},
    NamedCapability{"libnvidia-nvvm70", kCompute},
    NamedCapability{"libnvidia-tileiras", kCompute},
    NamedCapability{"libnvidia-allocator", kCompute},
    NamedCapability{"libnvidia-pkcs11", kCompute},
    NamedCapability{"libnvidia-pkcs11-openssl3", kCompute},
    NamedCapability{"libnvidia-fatbinaryloader", kCompute},
    NamedCapability{"libnvidia-compiler", kCompute},
    NamedCapability{"libnvidia-sandboxutils", kUtility},
    NamedCapability{"libnvidia-ml", kUtility},
    NamedCapability{"libnvidia-cfg", kUtility},
    NamedCapability{"libnvidia-nscq", kUtility},
    NamedCapability{"libvdpau_nvidia", kVideo},
    NamedCapability{"libnvidia-encode", kVideo},
    NamedCapability{"libnvidia-opticalflow", kVideo},
    NamedCapability{"libnvcuvid", kVideo},
    NamedCapability{"libnvidia-ngx", kNgx},
};

struct NamedFile {
  std::string_view path;
  Capability capability;
  bool is_socket = false;
};
constexpr std::array kFiles = {
    NamedFile{"/usr/bin/nvidia-smi", kUtility},
    NamedFile{"/usr/bin/nvidia-debugdump", kUtility},
    NamedFile{"/usr/bin/nvidia-persistenced", kUtility},
    NamedFile{"/usr/bin/nvidia-imex", kUtility},
    NamedFile{"/usr/bin/nvidia-imex-ctl", kUtility},
    NamedFile{"/usr/bin/nvidia-cuda-mps-control", kCompute},
    NamedFile{"/usr/bin/nvidia-cuda-mps-server", kCompute},
    NamedFile{"/run/nvidia-persistenced/socket", kUtility, true},
    NamedFile{"/run/nvidia-fabricmanager/socket", kUtility, true},
    NamedFile{"/tmp/nvidia-mps", kCompute, true},
    NamedFile{"/usr/share/glvnd/egl_vendor.d/10_nvidia.json", kGraphics},
    NamedFile{"/usr/share/vulkan/icd.d/nvidia_icd.json", kGraphics},
    NamedFile{"/usr/share/vulkan/implicit_layer.d/nvidia_layers.json", kGraphics},
    NamedFile{"/usr/share/egl/egl_external_platform.d/10_nvidia_wayland.json", kGraphics},
    NamedFile{"/usr/share/egl/egl_external_platform.d/15_nvidia_gbm.json", kGraphics},
    NamedFile{"/usr/share/nvidia/nvoptix.bin", kGraphics},
};

// Names without a version that programs link against or open: made beside the soname's own link.
struct NamedLink {
  std::string_view library, link, target;
  Capability capability;
};
constexpr std::array kLinks = {
    NamedLink{"libcuda", "libcuda.so", "libcuda.so.1", kCompute},
    NamedLink{"libnvidia-opticalflow", "libnvidia-opticalflow.so", "libnvidia-opticalflow.so.1", kVideo},
    NamedLink{"libGLX_nvidia", "libGLX_indirect.so.0", "libGLX_nvidia.so.0", kGraphics},
};

Capability capability_of(std::string_view library) {
  for (const auto& row : kLibraries) {
    if (row.name == library) return row.capability;
  }
  return kGraphics;
}

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

void add_libraries(const driver::HostRoot& root, const Capabilities& wanted,
                   const driver::VersionNumber& version, DriverFiles& found) {
  std::set<std::string> folders;
  for (const auto& library : driver::find_driver_libraries(root)) {
    if (library.version != version || !wanted.contains(capability_of(library.name))) continue;
    found.files.push_back({library.path, false});
    folders.insert(folder_of(library.path));
    for (const auto& link : kLinks) {
      if (link.library == library.name && wanted.contains(link.capability)) {
        found.links.push_back(
            {format("{}/{}", folder_of(library.path), link.link), std::string(link.target)});
      }
    }
  }
  found.library_folders.assign(folders.begin(), folders.end());
}

void add_firmware(const driver::HostRoot& root, const std::string& version, DriverFiles& found) {
  for (const std::string folder : {"/usr/lib/firmware/nvidia/", "/lib/firmware/nvidia/"}) {
    const auto names = root.list(folder + version);
    for (const auto& name : names) {
      if (name.starts_with("gsp") && name.ends_with(".bin"))
        found.files.push_back({format("{}{}/{}", folder, version, name), false});
    }
    if (!names.empty()) return;
  }
}

}  // namespace

Capabilities all_capabilities() {
  Capabilities all;
  for (const auto& row : kCapabilities) all.insert(row.capability);
  return all;
}

Capabilities default_capabilities() {
  return {kUtility, kCompute};
}

Result<Capabilities> parse_capabilities(std::string_view text) {
  if (text.empty()) return default_capabilities();
  Capabilities wanted;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    if (word == "all") return all_capabilities();
    const auto row = std::find_if(kCapabilities.begin(), kCapabilities.end(),
                                  [&](const auto& r) { return r.name == word; });
    if (row == kCapabilities.end()) {
      return fail(ErrorCode::kInvalidArgument,
                  format("NVIDIA_DRIVER_CAPABILITIES: '{}' is none of all, compute, utility, video, "
                         "graphics, display, ngx, compat32",
                         word));
    }
    wanted.insert(row->capability);
  }
  return wanted;
}

Result<DriverFiles> find_driver_files(const driver::HostRoot& root, const Capabilities& capabilities) {
  const auto libcuda = driver::library_in_use(root, "libcuda.so.1");
  if (!libcuda) {
    return fail(ErrorCode::kNotFound,
                format("no libcuda.so.1 under {}: no NVIDIA driver is installed there (pagoda driver check)",
                       root.folder()));
  }
  DriverFiles found;
  found.version = libcuda->version.text();
  add_libraries(root, capabilities, libcuda->version, found);
  for (const auto& file : kFiles) {
    if (!capabilities.contains(file.capability)) continue;
    if (root.exists(file.path)) found.files.push_back({std::string(file.path), file.is_socket});
  }
  if (capabilities.contains(kCompute)) add_firmware(root, found.version, found);
  std::sort(found.files.begin(), found.files.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  std::sort(found.links.begin(), found.links.end(),
            [](const auto& a, const auto& b) { return a.link < b.link; });
  return found;
}

}  // namespace pagoda::container
