#include "kubelet/grpc/pod_resources_call.h"

#include <grpcpp/grpcpp.h>

#include <pod_resources.grpc.pb.h>
#include "base/format.h"

namespace pagoda::kubelet {
namespace {

constexpr int kMessageBytesMax = 16 << 20;  // of a node with thousands of containers

std::vector<PodDevice> devices_in(const v1::ListPodResourcesResponse& answer) {
  std::vector<PodDevice> devices;
  for (const auto& pod : answer.pod_resources()) {
    for (const auto& container : pod.containers()) {
      for (const auto& resource : container.devices()) {
        for (const auto& id : resource.device_ids())
          devices.push_back({resource.resource_name(), id, pod.name(), pod.namespace_(), container.name()});
      }
    }
  }
  return devices;
}

}  // namespace

Result<std::vector<PodDevice>> call_pod_resources(const std::string& socket,
                                                  std::chrono::milliseconds deadline) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMessageBytesMax);
  const auto channel =
      grpc::CreateCustomChannel("unix:" + socket, grpc::InsecureChannelCredentials(), arguments);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + deadline);
  v1::ListPodResourcesResponse answer;
  const auto done = v1::PodResourcesLister::NewStub(channel)->List(&context, {}, &answer);
  if (done.ok()) return devices_in(answer);
  const std::string why = done.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED
                              ? format("no answer within {} ms", deadline.count())
                              : done.error_message();
  return fail(ErrorCode::kUnavailable, format("the kubelet at {}: {}", socket, why));
}

}  // namespace pagoda::kubelet
