// parse_cdi_spec and cdi_spec_text (cdi_spec.h): the specification's field names, in one place each way.
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <initializer_list>

#include "base/format.h"
#include "container/cdi_names.h"
#include "container/cdi_spec.h"
#include "container/structured_text.h"

namespace pagoda::container {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 8> kVersions = {"0.3.0", "0.4.0", "0.5.0", "0.6.0",
                                                       "0.7.0", "0.8.0", "1.0.0", "1.1.0"};
constexpr std::array<std::string_view, 6> kHookNames = {"prestart",       "createRuntime", "createContainer",
                                                        "startContainer", "poststart",     "poststop"};

Unexpected wrong(const std::string& place, std::string_view what) {
  return fail(ErrorCode::kCorruptData, place.empty() ? std::string(what) : format("{}: {}", place, what));
}

// One object of the text, read field by field; a field that no one reads is a fault.
class Fields {
 public:
  Fields(const Json& value, std::string place, std::initializer_list<std::string_view> known)
      : value_(value), place_(std::move(place)) {
    if (!value.is_object()) {
      fault("is no map");
      return;
    }
    for (const auto& [key, item] : value.items()) {
      if (std::find(known.begin(), known.end(), key) == known.end()) fault(format("unknown field '{}'", key));
    }
  }

  void text(std::string_view name, std::string& to, bool required = false) {
    const Json* item = find(name);
    if (item == nullptr) {
      if (required) fault(format("{} is missing", name));
    } else if (!item->is_string()) {
      fault(format("{} is no text", name));
    } else {
      to = item->get<std::string>();
    }
  }
  void number(std::string_view name, std::optional<int64_t>& to) {
    const Json* item = find(name);
    if (item == nullptr) return;
    if (item->is_number_integer()) {
      to = item->get<int64_t>();
    } else {
      fault(format("{} is no whole number", name));
    }
  }
  void texts(std::string_view name, std::vector<std::string>& to) {
    for (const auto& item : list(name)) {
      if (!item.is_string()) return fault(format("{} holds something that is no text", name));
      to.push_back(item.get<std::string>());
    }
  }
  void numbers(std::string_view name, std::vector<int64_t>& to) {
    for (const auto& item : list(name)) {
      if (!item.is_number_integer()) return fault(format("{} holds something that is no whole number", name));
      to.push_back(item.get<int64_t>());
    }
  }
  void map(std::string_view name, std::map<std::string, std::string>& to) {
    const Json* item = find(name);
    if (item == nullptr) return;
    if (!item->is_object()) return fault(format("{} is no map", name));
    for (const auto& [key, value] : item->items()) {
      if (!value.is_string()) return fault(format("{} holds something that is no text", name));
      to[key] = value.get<std::string>();
    }
  }
  // Never null; an empty list where the field is absent.
  const Json& list(std::string_view name) {
    static const Json kNone = Json::array();
    const Json* item = find(name);
    if (item == nullptr) return kNone;
    if (item->is_array()) return *item;
    fault(format("{} is no list", name));
    return kNone;
  }
  const Json* find(std::string_view name) const {
    if (!value_.is_object()) return nullptr;
    const auto found = value_.find(std::string(name));
    return found == value_.end() || found->is_null() ? nullptr : &*found;
  }
  void fault(std::string_view what) {
    if (status_) status_ = wrong(place_, what);
  }
  const Status& status() const { return status_; }
  std::string inner(std::string_view name, size_t index) const {
    return format("{}{}{}[{}]", place_, place_.empty() ? "" : ".", name, index);
  }

 private:
  const Json& value_;
  std::string place_;
  Status status_;
};

Status check_absolute(Fields& fields, std::string_view name, const std::string& path) {
  if (!path.starts_with('/')) fields.fault(format("{} '{}' is no absolute path", name, path));
  return fields.status();
}

Result<CdiDeviceNode> read_node(const Json& value, std::string place) {
  CdiDeviceNode node;
  Fields fields(value, std::move(place),
                {"path", "hostPath", "type", "major", "minor", "fileMode", "permissions", "uid", "gid"});
  fields.text("path", node.path, true);
  fields.text("hostPath", node.host_path);
  fields.text("type", node.type);
  fields.text("permissions", node.permissions);
  fields.number("major", node.major);
  fields.number("minor", node.minor);
  fields.number("fileMode", node.file_mode);
  fields.number("uid", node.uid);
  fields.number("gid", node.gid);
  PAGODA_TRY(fields.status());
  PAGODA_TRY(check_absolute(fields, "path", node.path));
  if (!node.type.empty() && node.type != "b" && node.type != "c" && node.type != "u" && node.type != "p") {
    fields.fault(format("type '{}' is none of b, c, u, p", node.type));
  }
  if (node.permissions.find_first_not_of("rwm") != std::string::npos) {
    fields.fault(format("permissions '{}' are not of r, w, m", node.permissions));
  }
  PAGODA_TRY(fields.status());
  return node;
}

Result<CdiMount> read_mount(const Json& value, std::string place) {
  CdiMount mount;
  Fields fields(value, std::move(place), {"hostPath", "containerPath", "options", "type"});
  fields.text("hostPath", mount.host_path, true);
  fields.text("containerPath", mount.container_path, true);
  fields.texts("options", mount.options);
  fields.text("type", mount.type);
  PAGODA_TRY(fields.status());
  PAGODA_TRY(check_absolute(fields, "containerPath", mount.container_path));
  return mount;
}

Result<CdiHook> read_hook(const Json& value, std::string place) {
  CdiHook hook;
  Fields fields(value, std::move(place), {"hookName", "path", "args", "env", "timeout"});
  fields.text("hookName", hook.name, true);
  fields.text("path", hook.path, true);
  fields.texts("args", hook.arguments);
  fields.texts("env", hook.environment);
  fields.number("timeout", hook.timeout_seconds);
  PAGODA_TRY(fields.status());
  PAGODA_TRY(check_absolute(fields, "path", hook.path));
  if (std::find(kHookNames.begin(), kHookNames.end(), hook.name) == kHookNames.end()) {
    fields.fault(format("hookName '{}' is none of {}", hook.name, fmt::join(kHookNames, ", ")));
  }
  PAGODA_TRY(fields.status());
  return hook;
}

template <class T>
Status read_list(Fields& fields, std::string_view name, Result<T> (*read)(const Json&, std::string),
                 std::vector<T>& to) {
  size_t index = 0;
  for (const auto& item : fields.list(name)) {
    PAGODA_ASSIGN(auto value, read(item, fields.inner(name, index++)));
    to.push_back(std::move(value));
  }
  return fields.status();
}

Result<CdiEdits> read_edits(const Json& value, std::string place) {
  CdiEdits edits;
  // intelRdt and netDevices are part of the format, and none of ours; they are not carried over, so they are
  // refused.
  Fields fields(value, std::move(place), {"env", "deviceNodes", "mounts", "hooks", "additionalGIDs"});
  fields.texts("env", edits.environment);
  fields.numbers("additionalGIDs", edits.additional_gids);
  for (const auto& variable : edits.environment) {
    if (variable.find('=') == std::string::npos || variable[0] == '=')
      fields.fault(format("env '{}' is not NAME=value", variable));
  }
  PAGODA_TRY(fields.status());
  PAGODA_TRY(read_list(fields, "deviceNodes", read_node, edits.device_nodes));
  PAGODA_TRY(read_list(fields, "mounts", read_mount, edits.mounts));
  PAGODA_TRY(read_list(fields, "hooks", read_hook, edits.hooks));
  return edits;
}

Result<CdiDevice> read_device(const Json& value, std::string place) {
  CdiDevice device;
  Fields fields(value, place, {"name", "annotations", "containerEdits"});
  fields.text("name", device.name, true);
  fields.map("annotations", device.annotations);
  PAGODA_TRY(fields.status());
  if (const Status named = check_cdi_device_name(device.name); !named)
    return wrong(place, named.error().message);
  const Json* edits = fields.find("containerEdits");
  if (edits == nullptr) return wrong(place, "containerEdits is missing");
  PAGODA_ASSIGN(device.edits, read_edits(*edits, place + ".containerEdits"));
  if (device.edits.empty()) return wrong(place, "containerEdits are empty");
  return device;
}

Json node_json(const CdiDeviceNode& node) {
  Json value;
  if (node.file_mode) value["fileMode"] = *node.file_mode;
  if (node.gid) value["gid"] = *node.gid;
  if (!node.host_path.empty()) value["hostPath"] = node.host_path;
  if (node.major) value["major"] = *node.major;
  if (node.minor) value["minor"] = *node.minor;
  value["path"] = node.path;
  if (!node.permissions.empty()) value["permissions"] = node.permissions;
  if (!node.type.empty()) value["type"] = node.type;
  if (node.uid) value["uid"] = *node.uid;
  return value;
}

Json mount_json(const CdiMount& mount) {
  Json value;
  value["containerPath"] = mount.container_path;
  value["hostPath"] = mount.host_path;
  if (!mount.options.empty()) value["options"] = mount.options;
  if (!mount.type.empty()) value["type"] = mount.type;
  return value;
}

Json hook_json(const CdiHook& hook) {
  Json value;
  if (!hook.arguments.empty()) value["args"] = hook.arguments;
  if (!hook.environment.empty()) value["env"] = hook.environment;
  value["hookName"] = hook.name;
  value["path"] = hook.path;
  if (hook.timeout_seconds) value["timeout"] = *hook.timeout_seconds;
  return value;
}

Json edits_json(const CdiEdits& edits) {
  Json value = Json::object();
  if (!edits.additional_gids.empty()) value["additionalGIDs"] = edits.additional_gids;
  for (const auto& node : edits.device_nodes) value["deviceNodes"].push_back(node_json(node));
  if (!edits.environment.empty()) value["env"] = edits.environment;
  for (const auto& hook : edits.hooks) value["hooks"].push_back(hook_json(hook));
  for (const auto& mount : edits.mounts) value["mounts"].push_back(mount_json(mount));
  return value;
}

}  // namespace

Result<CdiSpec> parse_cdi_spec(std::string_view text, CdiFormat format_of_text) {
  PAGODA_ASSIGN(const Json value, format_of_text == CdiFormat::kJson ? parse_json(text) : parse_yaml(text));
  CdiSpec spec;
  Fields fields(value, "", {"cdiVersion", "kind", "annotations", "devices", "containerEdits"});
  fields.text("cdiVersion", spec.version, true);
  fields.text("kind", spec.kind, true);
  fields.map("annotations", spec.annotations);
  PAGODA_TRY(fields.status());
  if (std::find(kVersions.begin(), kVersions.end(), spec.version) == kVersions.end()) {
    return wrong("", format("cdiVersion '{}' is not known ({} to {})", spec.version, kVersions.front(),
                            kVersions.back()));
  }
  PAGODA_TRY(check_cdi_kind(spec.kind));
  if (const Json* edits = fields.find("containerEdits")) {
    PAGODA_ASSIGN(spec.edits, read_edits(*edits, "containerEdits"));
  }
  PAGODA_TRY(read_list(fields, "devices", read_device, spec.devices));
  if (spec.devices.empty()) return wrong("", "no devices");
  for (size_t i = 0; i < spec.devices.size(); ++i) {
    if (spec.find(spec.devices[i].name) != &spec.devices[i]) {
      return wrong(format("devices[{}]", i), format("the name '{}' is taken", spec.devices[i].name));
    }
  }
  return spec;
}

std::string cdi_spec_text(const CdiSpec& spec, CdiFormat format_of_text) {
  Json value;
  if (!spec.annotations.empty()) value["annotations"] = spec.annotations;
  value["cdiVersion"] = spec.version;
  if (!spec.edits.empty()) value["containerEdits"] = edits_json(spec.edits);
  value["devices"] = Json::array();
  for (const auto& device : spec.devices) {
    Json row;
    if (!device.annotations.empty()) row["annotations"] = device.annotations;
    row["containerEdits"] = edits_json(device.edits);
    row["name"] = device.name;
    value["devices"].push_back(std::move(row));
  }
  value["kind"] = spec.kind;
  if (format_of_text == CdiFormat::kJson)
    return value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  return "---\n" + yaml_text(value);
}

}  // namespace pagoda::container
