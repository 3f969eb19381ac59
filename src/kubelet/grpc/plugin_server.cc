#include "kubelet/grpc/plugin_server.h"

#include <grpcpp/grpcpp.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/format.h"

namespace pagoda::kubelet {
namespace {

constexpr const char* kProtocolVersion = "v1beta1";
constexpr std::chrono::seconds kRegisterDeadline{5};
constexpr std::chrono::seconds kShutdownDeadline{2};

}  // namespace

PluginServer::PluginServer(const PluginResource& resource, const GpuCloseness& closeness,
                           const DeviceHealth& health, const DevicePluginOptions& options)
    : resource_(resource),
      folder_(options.folder),
      socket_(format("{}/{}", options.folder, resource.socket_name())),
      service_(resource, closeness, health, options) {}

PluginServer::~PluginServer() {
  service_.end_streams();
  if (server_) server_->Shutdown(std::chrono::system_clock::now() + kShutdownDeadline);
}

Result<std::unique_ptr<PluginServer>> PluginServer::start(const PluginResource& resource,
                                                          const GpuCloseness& closeness,
                                                          const DeviceHealth& health,
                                                          const DevicePluginOptions& options) {
  std::unique_ptr<PluginServer> made(new PluginServer(resource, closeness, health, options));
  if (made->socket_.size() >= sizeof(sockaddr_un::sun_path)) {
    return fail(ErrorCode::kUnavailable, format("{}: a socket's path has at most {} characters",
                                                made->socket_, sizeof(sockaddr_un::sun_path) - 1));
  }
  unlink(made->socket_.c_str());
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + made->socket_, grpc::InsecureServerCredentials());
  builder.RegisterService(&made->service_);
  made->server_ = builder.BuildAndStart();
  if (!made->server_ || access(made->socket_.c_str(), F_OK) != 0) {
    return fail(ErrorCode::kUnavailable,
                format("cannot listen on {}: is that the kubelet's folder, and writable?", made->socket_));
  }
  return made;
}

Status PluginServer::register_with_kubelet() const {
  // A channel of its own: one that is shared would remember a kubelet that has gone.
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  const auto channel = grpc::CreateCustomChannel(format("unix:{}/kubelet.sock", folder_),
                                                 grpc::InsecureChannelCredentials(), arguments);
  v1beta1::RegisterRequest request;
  request.set_version(kProtocolVersion);
  request.set_endpoint(resource_.socket_name());
  request.set_resource_name(resource_.name);
  request.mutable_options()->set_get_preferred_allocation_available(true);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kRegisterDeadline);
  v1beta1::Empty answer;
  const auto done = v1beta1::Registration::NewStub(channel)->Register(&context, request, &answer);
  if (done.ok()) return {};
  const bool again = done.error_code() == grpc::StatusCode::UNAVAILABLE ||
                     done.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
  if (again)
    return fail(ErrorCode::kUnavailable, format("the kubelet does not answer: {}", done.error_message()));
  return fail(ErrorCode::kUnsupported,
              format("the kubelet refuses {}: {}", resource_.name, done.error_message()));
}

}  // namespace pagoda::kubelet
