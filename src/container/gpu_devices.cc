#include "container/gpu_devices.h"

#include <algorithm>
#include <charconv>

#include "base/format.h"
#include "driver/loaded_driver.h"

namespace pagoda::container {
namespace {

// "gi7" → 7 for the prefix "gi".
std::optional<int> number_after(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  int value = 0;
  const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), value);
  if (fault != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  return value;
}

// "DeviceFileMinor: 66" of a capability's access file.
std::optional<int> capability_minor(const driver::HostRoot& root, const std::string& folder) {
  const std::string text = root.read_text(folder + "/access");
  constexpr std::string_view kLabel = "DeviceFileMinor: ";
  const size_t at = text.find(kLabel);
  if (at == std::string::npos) return std::nullopt;
  int value = 0;
  const char* start = text.data() + at + kLabel.size();
  if (std::from_chars(start, text.data() + text.size(), value).ec != std::errc{}) return std::nullopt;
  return value;
}

std::vector<MigDevice> migs_of(const driver::HostRoot& root, int gpu_minor) {
  std::vector<MigDevice> migs;
  const std::string folder = format("/proc/driver/nvidia/capabilities/gpu{}/mig", gpu_minor);
  for (const auto& name : root.list(folder)) {
    const auto gpu_instance = number_after(name, "gi");
    const auto gpu_capability = capability_minor(root, format("{}/{}", folder, name));
    if (!gpu_instance || !gpu_capability) continue;
    for (const auto& inner : root.list(format("{}/{}", folder, name))) {
      const auto compute_instance = number_after(inner, "ci");
      const auto capability = capability_minor(root, format("{}/{}/{}", folder, name, inner));
      if (compute_instance && capability) {
        migs.push_back({*gpu_instance, *compute_instance, *gpu_capability, *capability, ""});
      }
    }
  }
  std::sort(migs.begin(), migs.end(), [](const auto& a, const auto& b) {
    return std::pair(a.gpu_instance, a.compute_instance) < std::pair(b.gpu_instance, b.compute_instance);
  });
  return migs;
}

}  // namespace

std::vector<GpuDevice> gpus_in_proc(const driver::HostRoot& root) {
  std::vector<GpuDevice> gpus;
  const auto loaded = driver::read_loaded_driver(root);
  if (!loaded) return gpus;
  for (const auto& gpu : loaded->gpus) {
    const int index = static_cast<int>(gpus.size());
    const int minor = gpu.minor.value_or(index);
    const bool known_uuid = gpu.uuid.find('?') == std::string::npos;
    gpus.push_back({index, minor, known_uuid ? gpu.uuid : "", gpu.address, gpu.model, migs_of(root, minor)});
  }
  return gpus;
}

}  // namespace pagoda::container
