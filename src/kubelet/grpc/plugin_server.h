// One resource on one socket in the kubelet's folder, and its registration.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "kubelet/grpc/device_plugin_service.h"

namespace pagoda::kubelet {

class PluginServer {
 public:
  // Listens on FOLDER/resource.socket_name(); one that was left behind there is replaced. kUnavailable: the
  // folder cannot be written to, or the path is too long for a socket.
  static Result<std::unique_ptr<PluginServer>> start(const PluginResource& resource,
                                                     const GpuCloseness& closeness,
                                                     const DeviceHealth& health,
                                                     const DevicePluginOptions& options);
  ~PluginServer();
  PluginServer(const PluginServer&) = delete;
  PluginServer& operator=(const PluginServer&) = delete;

  // Tells the kubelet of it. kUnavailable: no answer, try again; kUnsupported: the kubelet refuses.
  Status register_with_kubelet() const;

  const std::string& socket() const { return socket_; }

 private:
  PluginServer(const PluginResource& resource, const GpuCloseness& closeness, const DeviceHealth& health,
               const DevicePluginOptions& options);

  const PluginResource& resource_;
  std::string folder_, socket_;
  DevicePluginService service_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace pagoda::kubelet
