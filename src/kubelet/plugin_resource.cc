#include "kubelet/plugin_resource.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "base/format.h"

namespace pagoda::kubelet {
namespace {

// -1 where the machine has one node only, or does not tell.
std::optional<int> numa_node_of(const driver::HostRoot& root, const std::string& pci_address) {
  const std::string text = root.read_text(format("/sys/bus/pci/devices/{}/numa_node", pci_address));
  int node = -1;
  std::from_chars(text.data(), text.data() + text.size(), node);
  return node < 0 ? std::nullopt : std::optional(node);
}

// "1g.10gb+me" is no name that Kubernetes takes.
std::string resource_of_profile(std::string profile) {
  std::replace(profile.begin(), profile.end(), '+', '.');
  return format("{}/mig-{}", kVendor, profile);
}

class Resources {
 public:
  explicit Resources(int replicas) : replicas_(replicas) {}

  void add(const std::string& resource, const PluginDevice& device) {
    auto& devices = by_name_[resource];
    for (int replica = 0; replica < replicas_; ++replica) {
      devices.push_back(device);
      devices.back().id = replicas_ == 1 ? device.uuid : format("{}::{}", device.uuid, replica);
    }
  }

  std::vector<PluginResource> take() {
    std::vector<PluginResource> resources;
    for (auto& [name, devices] : by_name_) resources.push_back({name, std::move(devices)});
    return resources;
  }

 private:
  int replicas_;
  std::map<std::string, std::vector<PluginDevice>> by_name_;
};

PluginDevice device_of(const container::GpuDevice& gpu, const container::MigDevice* mig,
                       const driver::HostRoot& root) {
  PluginDevice device;
  device.uuid = mig == nullptr ? gpu.uuid : mig->uuid;
  device.gpu = gpu.index;
  if (mig != nullptr) {
    device.gpu_instance = mig->gpu_instance;
    device.compute_instance = mig->compute_instance;
  }
  device.numa_node = numa_node_of(root, gpu.pci_address);
  return device;
}

Status check_single_profile(const std::vector<container::GpuDevice>& gpus) {
  std::set<std::string> profiles;
  bool whole = false;
  for (const auto& gpu : gpus) {
    whole = whole || !gpu.mig_mode;
    for (const auto& mig : gpu.migs) profiles.insert(mig.profile);
  }
  if (profiles.size() + (whole && !profiles.empty() ? 1 : 0) <= 1) return {};
  return fail(
      ErrorCode::kUnsupported,
      "--mig-strategy single: not all devices of this node are of one kind; cut all GPUs alike, or use "
      "--mig-strategy mixed");
}

}  // namespace

const PluginDevice* PluginResource::find(std::string_view id) const {
  const auto found =
      std::find_if(devices.begin(), devices.end(), [&](const auto& device) { return device.id == id; });
  return found == devices.end() ? nullptr : &*found;
}

std::string PluginResource::socket_name() const {
  return format("pagoda-{}.sock", name.substr(name.find('/') + 1));
}

std::string cdi_name(const PluginDevice& device) {
  return format("{}/gpu={}", kVendor, device.uuid);
}

Result<std::vector<PluginResource>> plugin_resources(const std::vector<container::GpuDevice>& gpus,
                                                     const driver::HostRoot& root,
                                                     const DevicePluginOptions& options) {
  if (gpus.empty())
    return fail(ErrorCode::kNotFound, "no GPU answers on this node: there is nothing to offer");
  if (options.mig_strategy == MigStrategy::kSingle) PAGODA_TRY(check_single_profile(gpus));
  const std::string whole = format("{}/gpu", kVendor);
  Resources resources(options.replicas);
  for (const auto& gpu : gpus) {
    if (!gpu.mig_mode) resources.add(whole, device_of(gpu, nullptr, root));
    if (options.mig_strategy == MigStrategy::kNone) continue;
    for (const auto& mig : gpu.migs) {
      if (mig.uuid.empty() || mig.profile.empty()) continue;  // it did not answer
      const bool single = options.mig_strategy == MigStrategy::kSingle;
      resources.add(single ? whole : resource_of_profile(mig.profile), device_of(gpu, &mig, root));
    }
  }
  auto all = resources.take();
  if (all.empty()) {
    return fail(ErrorCode::kNotFound,
                "every GPU of this node is in MIG mode, and none has an instance that may be offered: "
                "nvidia-smi mig -cgi PROFILE -C makes some; --mig-strategy none leaves them out");
  }
  return all;
}

}  // namespace pagoda::kubelet
