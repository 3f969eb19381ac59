#include "kubelet/grpc/device_plugin_run.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <tuple>

#include "base/format.h"
#include "base/log.h"
#include "container/cdi_registry.h"
#include "container/gpu_search.h"
#include "kubelet/grpc/plugin_server.h"
#include "kubelet/health_watch.h"

namespace pagoda::kubelet {
namespace {

constexpr int kLookMs = 250;    // at the kubelet's socket
constexpr int kRetryMs = 2000;  // to a kubelet that does not answer

// The node as the plugin offers it.
struct Node {
  driver::Nvml nvml;
  std::vector<PluginResource> resources;
  GpuCloseness closeness;
};

Result<Node> look_at_node(const DevicePluginOptions& options) {
  PAGODA_ASSIGN(const auto host, driver::HostRoot::open("/"));
  PAGODA_ASSIGN(const auto driver_root, driver::HostRoot::open(options.driver_root));
  PAGODA_ASSIGN(auto nvml, container::open_nvml(driver_root));
  const auto gpus = container::gpus_in_nvml(nvml, {});
  PAGODA_ASSIGN(auto resources, plugin_resources(gpus, host, options));
  GpuCloseness closeness = GpuCloseness::read(nvml);
  return Node{std::move(nvml), std::move(resources), std::move(closeness)};
}

// A device whose name no spec knows cannot be started with: better said now than by each pod.
void check_specs(const std::vector<PluginResource>& resources, const DevicePluginOptions& options) {
  const auto registry = container::CdiRegistry::load(options.spec_folders);
  for (const auto& fault : registry.faults) log::warning("passed over: {}", fault);
  for (const auto& resource : resources) {
    for (const auto& device : resource.devices) {
      if (registry.edits_for({cdi_name(device)})) continue;
      log::warning(
          "no CDI spec names {}, so pods that get it will not start: pagoda ctk cdi generate --output "
          "/var/run/cdi/nvidia.yaml",
          cdi_name(device));
      return;
    }
  }
}

// Which file stands there now; a kubelet that starts makes another.
using FileIdentity = std::tuple<dev_t, ino_t, time_t, long>;
std::optional<FileIdentity> identity_of(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return FileIdentity(status.st_dev, status.st_ino, status.st_ctim.tv_sec, status.st_ctim.tv_nsec);
}

class DevicePlugin {
 public:
  DevicePlugin(const Node& node, const DeviceHealth& health, const DevicePluginOptions& options, int ends)
      : node_(node), health_(health), options_(options), ends_(ends) {}

  Status run() {
    bool waiting_is_told = false;
    while (true) {
      const auto kubelet = identity_of(kubelet_socket());
      if (!kubelet) {
        if (!waiting_is_told) log::info("waiting for the kubelet: {} is not there", kubelet_socket());
        waiting_is_told = true;
        servers_.clear();
        if (ended_within(kLookMs)) break;
        continue;
      }
      waiting_is_told = false;
      PAGODA_TRY(serve());
      PAGODA_ASSIGN(const bool registered, register_all());
      if (ended_within(registered ? kLookMs : kRetryMs)) break;
      while (registered && is_as_before(kubelet)) {
        if (ended_within(kLookMs)) return stop();
      }
      if (registered) log::info("the kubelet has been restarted");
    }
    return stop();
  }

 private:
  std::string kubelet_socket() const { return options_.folder + "/kubelet.sock"; }

  // The kubelet empties its folder when it starts: our sockets go with it.
  Status serve() {
    servers_.clear();
    for (const auto& resource : node_.resources) {
      PAGODA_ASSIGN(auto server, PluginServer::start(resource, node_.closeness, health_, options_));
      servers_.push_back(std::move(server));
    }
    return {};
  }

  // False: the kubelet does not answer yet.
  Result<bool> register_all() {
    for (size_t i = 0; i < servers_.size(); ++i) {
      const Status done = servers_[i]->register_with_kubelet();
      if (!done && done.error().code == ErrorCode::kUnavailable) {
        log::warning("{}", done.error().message);
        return false;
      }
      PAGODA_TRY(done);
      log::info("registered {}: {} devices", node_.resources[i].name, node_.resources[i].devices.size());
    }
    return true;
  }

  bool is_as_before(const std::optional<FileIdentity>& kubelet) const {
    if (identity_of(kubelet_socket()) != kubelet) return false;
    for (const auto& server : servers_) {
      if (access(server->socket().c_str(), F_OK) != 0) return false;
    }
    return true;
  }

  bool ended_within(int milliseconds) const {
    pollfd wait{ends_, POLLIN, 0};
    return poll(&wait, 1, milliseconds) > 0;
  }

  Status stop() {
    servers_.clear();
    log::info("ended");
    return {};
  }

  const Node& node_;
  const DeviceHealth& health_;
  const DevicePluginOptions& options_;
  int ends_;
  std::vector<std::unique_ptr<PluginServer>> servers_;
};

}  // namespace

Status run_device_plugin(const DevicePluginOptions& options) {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  const int descriptor = signalfd(-1, &ends, SFD_CLOEXEC);
  PAGODA_ASSIGN(const auto node, look_at_node(options));
  check_specs(node.resources, options);
  DeviceHealth health;
  std::optional<HealthWatch> watch;
  if (options.watch_health) watch.emplace(node.nvml, node.resources, options.ignored_xids, health);
  const Status done = DevicePlugin(node, health, options, descriptor).run();
  close(descriptor);
  return done;
}

}  // namespace pagoda::kubelet
