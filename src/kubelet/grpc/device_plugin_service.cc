#include "kubelet/grpc/device_plugin_service.h"

#include <fmt/format.h>

#include "base/log.h"

namespace pagoda::kubelet {
namespace {

// How soon a stream notices that the kubelet has gone, or that it should end.
constexpr std::chrono::milliseconds kStreamWait{200};

std::vector<std::string> texts(const google::protobuf::RepeatedPtrField<std::string>& field) {
  return {field.begin(), field.end()};
}

grpc::Status status_of(const Error& error) {
  log::error("{}", error.message);
  const auto code = error.code == ErrorCode::kInvalidArgument ? grpc::StatusCode::INVALID_ARGUMENT
                    : error.code == ErrorCode::kUnavailable   ? grpc::StatusCode::UNAVAILABLE
                                                              : grpc::StatusCode::INTERNAL;
  return {code, error.message};
}

}  // namespace

DevicePluginService::DevicePluginService(const PluginResource& resource, const GpuCloseness& closeness,
                                         const DeviceHealth& health, const DevicePluginOptions& options)
    : resource_(resource), closeness_(closeness), health_(health), options_(options) {}

grpc::Status DevicePluginService::GetDevicePluginOptions(Context*, const v1beta1::Empty*,
                                                         v1beta1::DevicePluginOptions* answer) {
  answer->set_pre_start_required(false);
  answer->set_get_preferred_allocation_available(true);
  return grpc::Status::OK;
}

v1beta1::ListAndWatchResponse DevicePluginService::list() const {
  v1beta1::ListAndWatchResponse answer;
  for (const auto& device : resource_.devices) {
    auto* row = answer.add_devices();
    row->set_id(device.id);
    row->set_health(health_.is_healthy(device.uuid) ? "Healthy" : "Unhealthy");
    if (device.numa_node) row->mutable_topology()->add_nodes()->set_id(*device.numa_node);
  }
  return answer;
}

grpc::Status DevicePluginService::ListAndWatch(Context* context, const v1beta1::Empty*,
                                               grpc::ServerWriter<v1beta1::ListAndWatchResponse>* writer) {
  uint64_t told = 0;
  while (!ends_ && !context->IsCancelled()) {
    const uint64_t version = health_.version();
    if (version != told && !writer->Write(list())) break;
    told = version;
    health_.wait(told, kStreamWait);
  }
  return grpc::Status::OK;
}

grpc::Status DevicePluginService::GetPreferredAllocation(Context*,
                                                         const v1beta1::PreferredAllocationRequest* request,
                                                         v1beta1::PreferredAllocationResponse* answer) {
  for (const auto& container : request->container_requests()) {
    const auto chosen =
        preferred_devices(resource_, closeness_,
                          {texts(container.available_deviceids()), texts(container.must_include_deviceids()),
                           container.allocation_size()});
    if (!chosen) return status_of(chosen.error());
    auto* row = answer->add_container_responses();
    for (const auto& id : *chosen) row->add_deviceids(id);
  }
  return grpc::Status::OK;
}

grpc::Status DevicePluginService::Allocate(Context*, const v1beta1::AllocateRequest* request,
                                           v1beta1::AllocateResponse* answer) {
  for (const auto& container : request->container_requests()) {
    const auto devices = allocate(resource_, health_, texts(container.devices_ids()), options_);
    if (!devices) return status_of(devices.error());
    auto* row = answer->add_container_responses();
    row->mutable_envs()->insert(devices->environment.begin(), devices->environment.end());
    row->mutable_annotations()->insert(devices->annotations.begin(), devices->annotations.end());
    for (const auto& name : devices->cdi_names) row->add_cdi_devices()->set_name(name);
    log::info("{}: a container gets {}", resource_.name,
              fmt::format("{}", fmt::join(container.devices_ids(), ", ")));
  }
  return grpc::Status::OK;
}

grpc::Status DevicePluginService::PreStartContainer(Context*, const v1beta1::PreStartContainerRequest*,
                                                    v1beta1::PreStartContainerResponse*) {
  return grpc::Status::OK;
}

}  // namespace pagoda::kubelet
