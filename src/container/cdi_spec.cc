#include "container/cdi_spec.h"

#include <algorithm>

#include "container/cdi_names.h"

namespace pagoda::container {
namespace {

template <class T>
void append_all(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

bool starts_with_digit(const CdiDevice& device) {
  return !device.name.empty() && device.name[0] >= '0' && device.name[0] <= '9';
}

bool any_edits(const CdiSpec& spec, bool (*condition)(const CdiEdits&)) {
  return condition(spec.edits) || std::any_of(spec.devices.begin(), spec.devices.end(),
                                              [&](const auto& d) { return condition(d.edits); });
}

}  // namespace

bool CdiEdits::empty() const {
  return environment.empty() && device_nodes.empty() && mounts.empty() && hooks.empty() &&
         additional_gids.empty();
}

void CdiEdits::append(const CdiEdits& other) {
  append_all(environment, other.environment);
  append_all(device_nodes, other.device_nodes);
  append_all(mounts, other.mounts);
  append_all(hooks, other.hooks);
  append_all(additional_gids, other.additional_gids);
}

const CdiDevice* CdiSpec::find(std::string_view device) const {
  const auto found =
      std::find_if(devices.begin(), devices.end(), [&](const auto& d) { return d.name == device; });
  return found == devices.end() ? nullptr : &*found;
}

std::string least_cdi_version(const CdiSpec& spec) {
  const bool gids = any_edits(spec, [](const CdiEdits& e) { return !e.additional_gids.empty(); });
  if (gids) return "0.7.0";
  const bool annotated =
      !spec.annotations.empty() || std::any_of(spec.devices.begin(), spec.devices.end(),
                                               [](const auto& d) { return !d.annotations.empty(); });
  const size_t slash = spec.kind.find('/');
  const bool dotted_class = slash != std::string::npos && spec.kind.find('.', slash) != std::string::npos;
  if (annotated || dotted_class) return "0.6.0";
  const bool host_paths = any_edits(spec, [](const CdiEdits& e) {
    return std::any_of(e.device_nodes.begin(), e.device_nodes.end(),
                       [](const auto& n) { return !n.host_path.empty(); });
  });
  if (host_paths || std::any_of(spec.devices.begin(), spec.devices.end(), starts_with_digit)) return "0.5.0";
  const bool mount_types = any_edits(spec, [](const CdiEdits& e) {
    return std::any_of(e.mounts.begin(), e.mounts.end(), [](const auto& m) { return !m.type.empty(); });
  });
  return mount_types ? "0.4.0" : "0.3.0";
}

std::optional<CdiName> parse_cdi_name(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  CdiName name{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
  if (!check_cdi_kind(name.kind) || !check_cdi_device_name(name.device)) return std::nullopt;
  return name;
}

}  // namespace pagoda::container
