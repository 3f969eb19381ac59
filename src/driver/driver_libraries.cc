#include "driver/driver_libraries.h"

#include <algorithm>
#include <array>

#include "base/format.h"

namespace pagoda::driver {
namespace {

constexpr std::array<std::string_view, 44> kNames = {
    "libcuda",
    "libcudadebugger",
    "libnvidia-ml",
    "libnvidia-cfg",
    "libnvidia-nscq",
    "libnvidia-opencl",
    "libnvidia-gpucomp",
    "libnvidia-ptxjitcompiler",
    "libnvidia-nvvm",
    "libnvidia-nvvm70",
    "libnvidia-allocator",
    "libnvidia-pkcs11",
    "libnvidia-pkcs11-openssl3",
    "libnvidia-fatbinaryloader",
    "libnvidia-compiler",
    "libnvidia-sandboxutils",
    "libvdpau_nvidia",
    "libnvidia-encode",
    "libnvidia-opticalflow",
    "libnvcuvid",
    "libnvidia-eglcore",
    "libnvidia-glcore",
    "libnvidia-tls",
    "libnvidia-glsi",
    "libnvidia-fbc",
    "libnvidia-ifr",
    "libnvidia-rtcore",
    "libnvoptix",
    "libnvidia-glvkspirv",
    "libnvidia-cbl",
    "libnvidia-api",
    "libnvidia-ngx",
    "libnvidia-present",
    "libnvidia-vksc-core",
    "libGLX_nvidia",
    "libEGL_nvidia",
    "libGLESv2_nvidia",
    "libGLESv1_CM_nvidia",
    "libnvidia-egl-gbm",
    "libnvidia-egl-wayland",
    "libnvidia-wayland-client",
    "libnvidia-gtk2",
    "libnvidia-gtk3",
    "libnvidia-tileiras",
};

constexpr std::array<std::string_view, 10> kFolders = {"/usr/lib/x86_64-linux-gnu",
                                                       "/lib/x86_64-linux-gnu",
                                                       "/usr/lib/aarch64-linux-gnu",
                                                       "/usr/lib64",
                                                       "/lib64",
                                                       "/usr/lib",
                                                       "/usr/local/lib",
                                                       "/usr/lib/x86_64-linux-gnu/nvidia/current",
                                                       "/usr/lib64/nvidia",
                                                       "/usr/lib/wsl/lib"};

void add_configured(const HostRoot& root, std::vector<std::string>& folders) {
  for (const auto& name : root.list("/etc/ld.so.conf.d")) {
    const std::string text = root.read(format("/etc/ld.so.conf.d/{}", name)).value_or("");
    size_t position = 0;
    while (position < text.size()) {
      const size_t end = std::min(text.find('\n', position), text.size());
      std::string line = text.substr(position, end - position);
      position = end + 1;
      while (!line.empty() && (line.back() == ' ' || line.back() == '/' || line.back() == '\r'))
        line.pop_back();
      if (line.starts_with('/')) folders.push_back(std::move(line));
    }
  }
}

// "libcuda.so.580.95.05" → {name, version}; only names of the list and versions of a driver.
std::optional<DriverLibrary> driver_library(std::string_view file) {
  const size_t so = file.find(".so.");
  if (so == std::string_view::npos) return std::nullopt;
  const std::string_view name = file.substr(0, so);
  if (std::find(kNames.begin(), kNames.end(), name) == kNames.end()) return std::nullopt;
  auto version = VersionNumber::parse(file.substr(so + 4));
  if (!version || version->major() < 100) return std::nullopt;
  return DriverLibrary{"", std::string(name), *version};
}

}  // namespace

std::span<const std::string_view> driver_library_names() {
  return kNames;
}

std::vector<std::string> library_folders(const HostRoot& root) {
  std::vector<std::string> folders(kFolders.begin(), kFolders.end());
  add_configured(root, folders);
  std::vector<std::string> real;
  for (const auto& folder : folders) {
    const auto place = root.resolve(folder);
    if (place && std::find(real.begin(), real.end(), *place) == real.end()) real.push_back(*place);
  }
  return real;
}

std::vector<DriverLibrary> find_driver_libraries(const HostRoot& root) {
  std::vector<DriverLibrary> libraries;
  std::vector<std::string> folders = library_folders(root);
  // libvdpau looks for its drivers in a folder of its own.
  for (size_t i = folders.size(); i-- > 0;) folders.push_back(folders[i] + "/vdpau");
  for (const auto& folder : folders) {
    for (const auto& file : root.list(folder)) {
      auto library = driver_library(file);
      if (!library) continue;
      library->path = format("{}/{}", folder, file);
      libraries.push_back(std::move(*library));
    }
  }
  std::sort(libraries.begin(), libraries.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return libraries;
}

std::optional<DriverLibrary> library_in_use(const HostRoot& root, std::string_view soname) {
  for (const auto& folder : library_folders(root)) {
    const auto place = root.resolve(format("{}/{}", folder, soname));
    if (!place) continue;
    auto library = driver_library(std::string_view(*place).substr(place->rfind('/') + 1));
    if (!library) continue;
    library->path = *place;
    return library;
  }
  return std::nullopt;
}

}  // namespace pagoda::driver
