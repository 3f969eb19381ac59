#include "driver/nvml_library.h"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <cstdlib>
#include <vector>

#include "base/format.h"

namespace pagoda::driver {
namespace {

constexpr const char* kSoname = "libnvidia-ml.so.1";

// Where the library is when the loader's own search does not find it: distributions' driver folders, WSL,
// containers whose ld.so.cache was never refreshed.
constexpr std::array kOtherPlaces = {
    "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
    "/usr/lib/x86_64-linux-gnu/nvidia/current/libnvidia-ml.so.1",
    "/usr/lib/aarch64-linux-gnu/libnvidia-ml.so.1",
    "/usr/lib64/libnvidia-ml.so.1",
    "/usr/lib64/nvidia/libnvidia-ml.so.1",
    "/usr/lib/wsl/lib/libnvidia-ml.so.1",
    "/run/opengl-driver/lib/libnvidia-ml.so.1",
    "/usr/local/nvidia/lib64/libnvidia-ml.so.1",
};

std::string file_of(void* handle, const std::string& asked) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr && map->l_name[0] != '\0')
    return map->l_name;
  return asked;
}

std::vector<std::string> places(const std::string& path) {
  if (!path.empty()) return {path};
  if (const char* named = std::getenv("PAGODA_NVML_LIBRARY"); named != nullptr && *named != '\0')
    return {named};
  std::vector<std::string> all = {kSoname};
  all.insert(all.end(), kOtherPlaces.begin(), kOtherPlaces.end());
  return all;
}

}  // namespace

Result<std::shared_ptr<NvmlLibrary>> NvmlLibrary::open(const std::string& path) {
  std::string first_fault;
  for (const auto& place : places(path)) {
    if (void* handle = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL))
      return std::shared_ptr<NvmlLibrary>(new NvmlLibrary(handle, file_of(handle, place)));
    if (first_fault.empty()) first_fault = dlerror();
  }
  return fail(ErrorCode::kNotFound, format("cannot load NVIDIA's management library: {}", first_fault));
}

NvmlLibrary::~NvmlLibrary() {
  dlclose(handle_);
}

void* NvmlLibrary::find(std::span<const char* const> names) const {
  for (const char* name : names) {
    if (name == nullptr) break;
    if (void* symbol = dlsym(handle_, name)) return symbol;
  }
  return nullptr;
}

}  // namespace pagoda::driver
