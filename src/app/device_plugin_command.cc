#include "app/device_plugin_command.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "app/command_words.h"
#include "app/flag_values.h"
#include "base/format.h"
#include "kubelet/device_plugin_options.h"
#include "kubelet/grpc_program.h"

namespace pagoda::app {
namespace {

using namespace kubelet;

template <class T>
using Choices = std::vector<std::pair<std::string_view, T>>;

const Choices<DeviceList> kDeviceLists = {{"cdi-cri", DeviceList::kCdi},
                                          {"cdi-annotations", DeviceList::kCdiAnnotations},
                                          {"envvar", DeviceList::kEnvironment}};

// Each value one element, by the setter for one.
template <class T, class SetOne>
Setter to_each(std::vector<T>* field, SetOne set_one) {
  return [field, set_one](std::span<const std::string> values) -> Status {
    field->clear();
    for (const auto& value : values) {
      T one{};
      PAGODA_TRY(set_one(&one)(std::span(&value, 1)));
      field->push_back(one);
    }
    return {};
  };
}

Flag each_row(std::string_view name, std::string_view value_name, Setter set, std::string help) {
  Flag row = flag_row(name, value_name, std::move(set), std::move(help));
  row.takes = Takes::kValues;
  return row;
}

FlagTable flag_table(const Invocation& invocation, DevicePluginOptions& options, bool& no_health) {
  FlagTable table;
  table.usage = invocation.program + " [flags]";
  table.summary =
      "Kubernetes device plugin: the node's GPUs as nvidia.com/gpu, MIG devices as nvidia.com/mig-PROFILE.";
  table.examples = {{"pagoda device-plugin", "on a node, or in a DaemonSet (deploy/kubernetes)"},
                    {"pagoda device-plugin --replicas 4", "four containers share each GPU, in turns"}};
  table.flags = {
      flag_row("mig-strategy", "STRATEGY",
               to_choice(&options.mig_strategy, Choices<MigStrategy>{{"none", MigStrategy::kNone},
                                                                     {"single", MigStrategy::kSingle},
                                                                     {"mixed", MigStrategy::kMixed}}),
               "MIG devices: not at all (none), as nvidia.com/gpu where all are alike (single), by profile "
               "(mixed; default)"),
      flag_row(
          "replicas", "N", to_integer(&options.replicas, {1, kReplicasMax}),
          "so many containers share a device in turns, with no wall between their memories (default: 1)"),
      switch_row("fail-requests-greater-than-one", &options.one_replica_each,
                 "refuse a container that wants several replicas: it would get no more of the GPU"),
      each_row(
          "device-list-strategy", "STRATEGY",
          to_each(&options.device_lists, [](DeviceList* one) { return to_choice(one, kDeviceLists); }),
          "how a container is told: cdi-cri (default), cdi-annotations before Kubernetes 1.28, envvar for a "
          "runtime that reads NVIDIA_VISIBLE_DEVICES; repeatable"),
      each_row("ignore-xid", "XID",
               to_each(&options.ignored_xids,
                       [](int* one) {
                         return to_integer(one, {1, 9999});
                       }),
               "an XID that leaves a GPU healthy, beside those that are an application's own; repeatable"),
      switch_row("disable-health-checks", &no_health, "every device is always healthy"),
      flag_row("device-plugin-path", "DIR", to_text(&options.folder),
               format("the kubelet's folder of plugins (default: {})", kDevicePluginFolder)),
      flag_row("nvidia-driver-root", "DIR", to_text(&options.driver_root),
               "where the driver is installed, whose NVML is asked (default: /)", {"driver-root"}),
      list_row("spec-dir", "DIR", &options.spec_folders,
               "where CDI specs lie: a device without one is warned of (default: /etc/cdi /var/run/cdi)"),
  };
  return table;
}

// Runs only where exec failed.
Error become(const std::string& program, const DevicePluginOptions& options) {
  const std::string text = options_text(options);
  const char* const words[] = {program.c_str(), "device-plugin", text.c_str(), nullptr};
  execv(program.c_str(), const_cast<char* const*>(words));
  return {ErrorCode::kUnavailable, format("{}: {}", program, std::strerror(errno)), ""};
}

}  // namespace

int run_device_plugin_command(const Invocation& invocation) {
  DevicePluginOptions options;
  bool no_health = false;
  const auto outcome = read_flags(flag_table(invocation, options, no_health), invocation);
  if (outcome.exit) return *outcome.exit;
  options.watch_health = !no_health;
  const auto program = find_grpc_program();
  return report_error(invocation, program ? become(*program, options) : program.error());
}

}  // namespace pagoda::app
