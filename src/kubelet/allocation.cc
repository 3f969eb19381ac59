#include "kubelet/allocation.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/format.h"

namespace pagoda::kubelet {
namespace {

Error unknown_device(const PluginResource& resource, std::string_view id) {
  return {ErrorCode::kInvalidArgument, format("{} has no device '{}'", resource.name, id), ""};
}

// UUIDs, each once, in the order of the ids.
Result<std::vector<const PluginDevice*>> devices_of(const PluginResource& resource,
                                                    const std::vector<std::string>& ids) {
  std::vector<const PluginDevice*> devices;
  for (const auto& id : ids) {
    const PluginDevice* device = resource.find(id);
    if (device == nullptr) return Unexpected(unknown_device(resource, id));
    const bool known = std::any_of(devices.begin(), devices.end(),
                                   [&](const auto* other) { return other->uuid == device->uuid; });
    if (!known) devices.push_back(device);
  }
  return devices;
}

}  // namespace

Result<ContainerDevices> allocate(const PluginResource& resource, const DeviceHealth& health,
                                  const std::vector<std::string>& ids, const DevicePluginOptions& options) {
  PAGODA_ASSIGN(const auto devices, devices_of(resource, ids));
  if (options.replicas > 1 && options.one_replica_each && ids.size() > 1) {
    return fail(
        ErrorCode::kInvalidArgument,
        format("a container asks for {} of {}, which is shared: more than one gives it no more of the "
               "GPU, and is refused here (--fail-requests-greater-than-one)",
               ids.size(), resource.name));
  }
  ContainerDevices answer;
  std::vector<std::string> uuids;
  for (const PluginDevice* device : devices) {
    if (const std::string reason = health.reason(device->uuid); !reason.empty())
      return fail(ErrorCode::kUnavailable, format("{} is unhealthy: {}", device->uuid, reason));
    uuids.push_back(device->uuid);
    answer.cdi_names.push_back(cdi_name(*device));
  }
  const auto wants = [&](DeviceList list) {
    return std::find(options.device_lists.begin(), options.device_lists.end(), list) !=
           options.device_lists.end();
  };
  if (wants(DeviceList::kCdiAnnotations)) {
    // A container of several resources has one annotation of each: their names differ.
    const std::string name = resource.name.substr(resource.name.find('/') + 1);
    answer.annotations[format("cdi.k8s.io/pagoda_{}", name)] =
        fmt::format("{}", fmt::join(answer.cdi_names, ","));
  }
  if (wants(DeviceList::kEnvironment))
    answer.environment["NVIDIA_VISIBLE_DEVICES"] = fmt::format("{}", fmt::join(uuids, ","));
  if (!wants(DeviceList::kCdi)) answer.cdi_names.clear();
  return answer;
}

}  // namespace pagoda::kubelet
