// One resource's DevicePlugin service: the protocol's messages from and to the kubelet's floor.
#pragma once

#include <device_plugin.grpc.pb.h>

#include "kubelet/allocation.h"

namespace pagoda::kubelet {

class DevicePluginService final : public v1beta1::DevicePlugin::Service {
 public:
  // All outlive the service.
  DevicePluginService(const PluginResource& resource, const GpuCloseness& closeness,
                      const DeviceHealth& health, const DevicePluginOptions& options);

  // Streams end, so that the server can be shut down. For good.
  void end_streams() { ends_ = true; }

 private:
  using Context = grpc::ServerContext;
  grpc::Status GetDevicePluginOptions(Context*, const v1beta1::Empty*,
                                      v1beta1::DevicePluginOptions*) override;
  grpc::Status ListAndWatch(Context*, const v1beta1::Empty*,
                            grpc::ServerWriter<v1beta1::ListAndWatchResponse>*) override;
  grpc::Status GetPreferredAllocation(Context*, const v1beta1::PreferredAllocationRequest*,
                                      v1beta1::PreferredAllocationResponse*) override;
  grpc::Status Allocate(Context*, const v1beta1::AllocateRequest*, v1beta1::AllocateResponse*) override;
  grpc::Status PreStartContainer(Context*, const v1beta1::PreStartContainerRequest*,
                                 v1beta1::PreStartContainerResponse*) override;

  v1beta1::ListAndWatchResponse list() const;

  const PluginResource& resource_;
  const GpuCloseness& closeness_;
  const DeviceHealth& health_;
  const DevicePluginOptions& options_;
  std::atomic<bool> ends_ = false;
};

}  // namespace pagoda::kubelet
