#include "container/gpu_devices.h"

#include <algorithm>
#include <charconv>

#include "base/format.h"
#include "driver/loaded_driver.h"

namespace pagoda::container {
namespace {

std::optional<int> leading_number(std::string_view text) {
  int value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc{}) return std::nullopt;
  return value;
}

// "gi7" → 7 for the prefix "gi".
std::optional<int> number_after(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  int value = 0;
  const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), value);
  if (fault != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  return value;
}

// "DeviceFileMinor: 66" of a capability's access file, or the line "gpu0/gi1/access 66" of the list of all.
std::optional<int> capability_minor(const driver::HostRoot& root, const std::string& capability) {
  const std::string access = root.read_text(
      format("/proc/driver/nvidia/capabilities/{}/access",
             capability.substr(0, capability.find('/')) + "/mig" + capability.substr(capability.find('/'))));
  constexpr std::string_view kLabel = "DeviceFileMinor: ";
  if (const size_t at = access.find(kLabel); at != std::string::npos)
    return leading_number(std::string_view(access).substr(at + kLabel.size()));
  const std::string list = "\n" + root.read_text("/proc/driver/nvidia-caps/mig-minors");
  const std::string line = format("\n{}/access ", capability);
  if (const size_t at = list.find(line); at != std::string::npos)
    return leading_number(std::string_view(list).substr(at + line.size()));
  return std::nullopt;
}

std::vector<MigDevice> migs_of(const driver::HostRoot& root, int gpu_minor) {
  std::vector<MigDevice> migs;
  const std::string folder = format("/proc/driver/nvidia/capabilities/gpu{}/mig", gpu_minor);
  for (const auto& name : root.list(folder)) {
    const auto gpu_instance = number_after(name, "gi");
    if (!gpu_instance) continue;
    for (const auto& inner : root.list(format("{}/{}", folder, name))) {
      if (const auto compute_instance = number_after(inner, "ci")) {
        MigDevice mig;
        mig.gpu_instance = *gpu_instance;
        mig.compute_instance = *compute_instance;
        migs.push_back(std::move(mig));
      }
    }
  }
  std::sort(migs.begin(), migs.end(), [](const auto& a, const auto& b) {
    return std::pair(a.gpu_instance, a.compute_instance) < std::pair(b.gpu_instance, b.compute_instance);
  });
  for (size_t i = 0; i < migs.size(); ++i) migs[i].index = static_cast<int>(i);
  return migs;
}

}  // namespace

void add_capability_minors(const driver::HostRoot& root, GpuDevice& gpu) {
  for (MigDevice& mig : gpu.migs) {
    const std::string instance = format("gpu{}/gi{}", gpu.minor, mig.gpu_instance);
    if (!mig.gpu_capability_minor) mig.gpu_capability_minor = capability_minor(root, instance);
    if (!mig.compute_capability_minor)
      mig.compute_capability_minor =
          capability_minor(root, format("{}/ci{}", instance, mig.compute_instance));
  }
}

std::vector<GpuDevice> gpus_in_proc(const driver::HostRoot& root) {
  std::vector<GpuDevice> gpus;
  const auto loaded = driver::read_loaded_driver(root);
  if (!loaded) return gpus;
  for (const auto& gpu : loaded->gpus) {
    GpuDevice device;
    device.index = static_cast<int>(gpus.size());
    device.minor = gpu.minor.value_or(device.index);
    if (gpu.uuid.find('?') == std::string::npos) device.uuid = gpu.uuid;
    device.pci_address = gpu.address;
    device.name = gpu.model;
    device.migs = migs_of(root, device.minor);
    device.mig_mode = !device.migs.empty();
    add_capability_minors(root, device);
    gpus.push_back(std::move(device));
  }
  return gpus;
}

}  // namespace pagoda::container
