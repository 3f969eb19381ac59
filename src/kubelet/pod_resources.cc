#include "kubelet/pod_resources.h"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/format.h"
#include "base/subprocess.h"
#include "kubelet/grpc_program.h"

namespace pagoda::kubelet {
namespace {

using Json = nlohmann::json;

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace

std::string_view PodDevice::uuid() const {
  return std::string_view(device_id).substr(0, device_id.find("::"));
}

std::string pod_devices_text(const std::vector<PodDevice>& devices) {
  Json list = Json::array();
  for (const auto& device : devices) {
    list.push_back({{"resource", device.resource},
                    {"device", device.device_id},
                    {"pod", device.pod},
                    {"namespace", device.pod_namespace},
                    {"container", device.container}});
  }
  return list.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<std::vector<PodDevice>> parse_pod_devices(std::string_view text) {
  try {
    std::vector<PodDevice> devices;
    for (const Json& item : Json::parse(text)) {
      devices.push_back({item.at("resource").get<std::string>(), item.at("device").get<std::string>(),
                         item.at("pod").get<std::string>(), item.at("namespace").get<std::string>(),
                         item.at("container").get<std::string>()});
    }
    return devices;
  } catch (const Json::exception& fault) {
    return fail(ErrorCode::kCorruptData, format("the list of pods' devices: {}", fault.what()));
  }
}

Result<std::vector<PodDevice>> list_pod_devices_by(const std::string& grpc_program, const std::string& socket,
                                                   std::chrono::milliseconds deadline) {
  if (access(socket.c_str(), F_OK) != 0) {
    return fail(ErrorCode::kNotFound,
                format("no kubelet here: {} is not there; in a pod, mount that folder of the host", socket));
  }
  PAGODA_ASSIGN(
      const auto done,
      run_captured({{grpc_program, "pod-resources", socket, format("{}", deadline.count())}, {}, ""}));
  if (!done.ok()) {
    const std::string said = first_line(done.errors);
    return fail(ErrorCode::kUnavailable,
                said.empty() ? format("{} ended with {}", grpc_program, done.exit_code) : said);
  }
  return parse_pod_devices(done.output);
}

Result<std::vector<PodDevice>> list_pod_devices(const std::string& socket,
                                                std::chrono::milliseconds deadline) {
  PAGODA_ASSIGN(const auto program, find_grpc_program());
  return list_pod_devices_by(program, socket, deadline);
}

}  // namespace pagoda::kubelet
