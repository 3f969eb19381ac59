#include "container/oci_edit.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/format.h"

namespace pagoda::container {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 3> kLegacyHooks = {"nvidia-container-runtime-hook",
                                                          "nvidia-container-toolkit", "nvidia-cdi-hook"};

// A member of an object, made where it is absent. kCorruptData where something else stands there.
Result<Json*> member(Json& object, const char* name, Json::value_t type) {
  Json& value = object[name];
  if (value.is_null()) value = Json(type);
  if (value.type() != type)
    return fail(ErrorCode::kCorruptData, format("config.json: {} is not of the right kind", name));
  return &value;
}

Status set_variables(Json& config, const std::vector<std::string>& variables) {
  if (variables.empty()) return {};
  PAGODA_ASSIGN(Json * process, member(config, "process", Json::value_t::object));
  PAGODA_ASSIGN(Json * environment, member(*process, "env", Json::value_t::array));
  for (const auto& variable : variables) {
    const std::string prefix = variable.substr(0, variable.find('=') + 1);
    environment->erase(std::remove_if(environment->begin(), environment->end(),
                                      [&](const Json& item) {
                                        return item.is_string() &&
                                               item.get_ref<const std::string&>().starts_with(prefix);
                                      }),
                       environment->end());
    environment->push_back(variable);
  }
  return {};
}

// The numbers and mode of the host's own node, where the edit does not give them.
Result<CdiDeviceNode> completed(CdiDeviceNode node, const driver::HostRoot& dev) {
  if (!node.type.empty() && node.major && node.minor) return node;
  const std::string& host = node.host_path.empty() ? node.path : node.host_path;
  // A host path may be written with the dev root before it, as the engines see it.
  std::string inside = host;
  if (!dev.is_this_machine() && inside.starts_with(dev.folder() + "/"))
    inside = inside.substr(dev.folder().size());
  const auto kind = dev.kind(inside);
  if (!kind || (kind->type != 'c' && kind->type != 'b' && kind->type != 'p')) {
    return fail(
        ErrorCode::kNotFound,
        format(
            "{} is {}; the CDI spec may be stale: pagoda ctk cdi generate --output /var/run/cdi/nvidia.yaml",
            host, kind ? "no device node" : "not there"));
  }
  node.type = std::string(1, kind->type);
  node.major = kind->major;
  node.minor = kind->minor;
  if (!node.file_mode) node.file_mode = kind->mode;
  return node;
}

Status add_node(Json& linux_part, const CdiDeviceNode& given, const driver::HostRoot& dev) {
  PAGODA_ASSIGN(const CdiDeviceNode node, completed(given, dev));
  PAGODA_ASSIGN(Json * devices, member(linux_part, "devices", Json::value_t::array));
  devices->erase(std::remove_if(devices->begin(), devices->end(),
                                [&](const Json& item) {
                                  return item.is_object() && item.value("path", "") == node.path;
                                }),
                 devices->end());
  Json device = {{"path", node.path}, {"type", node.type}, {"major", *node.major}, {"minor", *node.minor}};
  if (node.file_mode) device["fileMode"] = *node.file_mode;
  if (node.uid) device["uid"] = *node.uid;
  if (node.gid) device["gid"] = *node.gid;
  devices->push_back(std::move(device));
  if (node.type != "c" && node.type != "b") return {};
  PAGODA_ASSIGN(Json * resources, member(linux_part, "resources", Json::value_t::object));
  PAGODA_ASSIGN(Json * rules, member(*resources, "devices", Json::value_t::array));
  rules->push_back({{"allow", true},
                    {"type", node.type},
                    {"major", *node.major},
                    {"minor", *node.minor},
                    {"access", node.permissions.empty() ? "rwm" : node.permissions}});
  return {};
}

Status add_mounts(Json& config, const std::vector<CdiMount>& mounts) {
  if (mounts.empty()) return {};
  PAGODA_ASSIGN(Json * list, member(config, "mounts", Json::value_t::array));
  for (const auto& mount : mounts) {
    list->erase(std::remove_if(list->begin(), list->end(),
                               [&](const Json& item) {
                                 return item.is_object() &&
                                        item.value("destination", "") == mount.container_path;
                               }),
                list->end());
    list->push_back({{"destination", mount.container_path},
                     {"type", mount.type.empty() ? "bind" : mount.type},
                     {"source", mount.host_path},
                     {"options", mount.options}});
  }
  return {};
}

Status add_hooks(Json& config, const std::vector<CdiHook>& hooks) {
  if (hooks.empty()) return {};
  PAGODA_ASSIGN(Json * all, member(config, "hooks", Json::value_t::object));
  for (const auto& hook : hooks) {
    PAGODA_ASSIGN(Json * stage, member(*all, hook.name.c_str(), Json::value_t::array));
    Json value = {{"path", hook.path}};
    if (!hook.arguments.empty()) value["args"] = hook.arguments;
    if (!hook.environment.empty()) value["env"] = hook.environment;
    if (hook.timeout_seconds) value["timeout"] = *hook.timeout_seconds;
    stage->push_back(std::move(value));
  }
  return {};
}

Status add_groups(Json& config, const std::vector<int64_t>& groups) {
  if (groups.empty()) return {};
  PAGODA_ASSIGN(Json * process, member(config, "process", Json::value_t::object));
  PAGODA_ASSIGN(Json * user, member(*process, "user", Json::value_t::object));
  PAGODA_ASSIGN(Json * list, member(*user, "additionalGids", Json::value_t::array));
  for (const int64_t group : groups) {
    if (group != 0 && std::find(list->begin(), list->end(), Json(group)) == list->end())
      list->push_back(group);
  }
  return {};
}

}  // namespace

Status apply_edits(Json& config, const CdiEdits& edits, const driver::HostRoot& dev) {
  if (!config.is_object()) return fail(ErrorCode::kCorruptData, "config.json is no JSON object");
  PAGODA_TRY(set_variables(config, edits.environment));
  if (!edits.device_nodes.empty()) {
    PAGODA_ASSIGN(Json * linux_part, member(config, "linux", Json::value_t::object));
    for (const auto& node : edits.device_nodes) PAGODA_TRY(add_node(*linux_part, node, dev));
  }
  PAGODA_TRY(add_mounts(config, edits.mounts));
  PAGODA_TRY(add_hooks(config, edits.hooks));
  return add_groups(config, edits.additional_gids);
}

std::optional<std::string> variable_of(const Json& config, std::string_view name) {
  const auto environment = config.value(Json::json_pointer("/process/env"), Json::array());
  std::optional<std::string> found;
  for (const auto& item : environment) {
    if (!item.is_string()) continue;
    const auto& text = item.get_ref<const std::string&>();
    if (text.size() > name.size() && text.starts_with(name) && text[name.size()] == '=')
      found = text.substr(name.size() + 1);
  }
  return found;
}

int remove_legacy_hooks(Json& config) {
  if (!config.contains("hooks") || !config["hooks"].is_object()) return 0;
  int removed = 0;
  for (auto& [stage, hooks] : config["hooks"].items()) {
    if (!hooks.is_array() || stage != "prestart") continue;
    const auto is_legacy = [](const Json& hook) {
      const std::string path = hook.is_object() ? hook.value("path", "") : "";
      const std::string name = path.substr(path.rfind('/') + 1);
      return std::find(kLegacyHooks.begin(), kLegacyHooks.end(), name) != kLegacyHooks.end();
    };
    const auto kept = std::remove_if(hooks.begin(), hooks.end(), is_legacy);
    removed += static_cast<int>(hooks.end() - kept);
    hooks.erase(kept, hooks.end());
  }
  return removed;
}

}  // namespace pagoda::container
