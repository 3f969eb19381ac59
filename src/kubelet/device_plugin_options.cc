#include "kubelet/device_plugin_options.h"

#include <nlohmann/json.hpp>

#include "base/format.h"

namespace pagoda::kubelet {

using Json = nlohmann::json;

std::string options_text(const DevicePluginOptions& options) {
  const Json json = {{"folder", options.folder},
                     {"mig_strategy", options.mig_strategy},
                     {"replicas", options.replicas},
                     {"one_replica_each", options.one_replica_each},
                     {"device_lists", options.device_lists},
                     {"watch_health", options.watch_health},
                     {"ignored_xids", options.ignored_xids},
                     {"driver_root", options.driver_root},
                     {"spec_folders", options.spec_folders}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<DevicePluginOptions> parse_options_text(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    DevicePluginOptions options;
    json.at("folder").get_to(options.folder);
    json.at("mig_strategy").get_to(options.mig_strategy);
    json.at("replicas").get_to(options.replicas);
    json.at("one_replica_each").get_to(options.one_replica_each);
    json.at("device_lists").get_to(options.device_lists);
    json.at("watch_health").get_to(options.watch_health);
    json.at("ignored_xids").get_to(options.ignored_xids);
    json.at("driver_root").get_to(options.driver_root);
    json.at("spec_folders").get_to(options.spec_folders);
    return options;
  } catch (const Json::exception& fault) {
    return fail(ErrorCode::kInvalidArgument,
                format("not the options of `pagoda device-plugin`: {}", fault.what()));
  }
}

}  // namespace pagoda::kubelet
