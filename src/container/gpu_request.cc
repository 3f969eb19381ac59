#include "container/gpu_request.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "container/cdi_names.h"
#include "container/oci_edit.h"
#include "driver/version_number.h"

namespace pagoda::container {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kGpuKind = "nvidia.com/gpu";
constexpr std::string_view kAnnotationPrefix = "cdi.k8s.io/";
constexpr std::string_view kVolumeMountRoot = "/var/run/nvidia-container-devices/";

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

// One word of the variable or of an annotation: a full name, or a device of our kind.
Status take_device(const std::string& word, GpuRequest& request) {
  if (const auto name = parse_cdi_name(word)) {
    if (name->kind == kGpuKind) {
      request.devices.push_back(name->device);
    } else {
      request.others.push_back(word);
    }
    return {};
  }
  if (!check_cdi_device_name(word)) {
    return fail(ErrorCode::kInvalidArgument,
                format("NVIDIA_VISIBLE_DEVICES: '{}' is no device's index, UUID or CDI name", word));
  }
  request.devices.push_back(word);
  return {};
}

Status take_annotations(const Json& config, GpuRequest& request) {
  const Json annotations = config.value("annotations", Json::object());
  if (!annotations.is_object()) return {};
  for (const auto& [key, value] : annotations.items()) {
    if (!key.starts_with(kAnnotationPrefix) || !value.is_string()) continue;
    for (const auto& word : split(value.get<std::string>(), ',')) {
      if (!parse_cdi_name(word)) {
        return fail(ErrorCode::kInvalidArgument,
                    format("annotation {}: '{}' is no CDI device name (vendor.com/class=device)", key, word));
      }
      PAGODA_TRY(take_device(word, request));
    }
  }
  return {};
}

std::vector<std::string> devices_in_mounts(const Json& config) {
  std::vector<std::string> devices;
  for (const auto& mount : config.value("mounts", Json::array())) {
    const std::string destination = mount.is_object() ? mount.value("destination", "") : "";
    if (destination.starts_with(kVolumeMountRoot))
      devices.push_back(destination.substr(kVolumeMountRoot.size()));
  }
  return devices;
}

bool is_privileged(const Json& config) {
  const Json bounding = config.value(Json::json_pointer("/process/capabilities/bounding"), Json::array());
  return std::find(bounding.begin(), bounding.end(), Json("CAP_SYS_ADMIN")) != bounding.end();
}

struct Condition {
  std::string name, comparison, value;
};

Result<Condition> parse_condition(const std::string& text) {
  const size_t start = text.find_first_of("=!<>");
  const size_t end = text.find_first_not_of("=!<>", std::min(start, text.size()));
  if (start == 0 || start == std::string::npos || end == std::string::npos) {
    return fail(ErrorCode::kInvalidArgument,
                format("NVIDIA_REQUIRE: '{}' is no condition of the form cuda>=12.4", text));
  }
  Condition condition{text.substr(0, start), text.substr(start, end - start), text.substr(end)};
  constexpr std::array<std::string_view, 6> kComparisons = {"=", "!=", "<", "<=", ">", ">="};
  if (std::find(kComparisons.begin(), kComparisons.end(), condition.comparison) == kComparisons.end()) {
    return fail(ErrorCode::kInvalidArgument,
                format("NVIDIA_REQUIRE: '{}' compares by '{}'", text, condition.comparison));
  }
  return condition;
}

bool compare(std::strong_ordering order, std::string_view comparison) {
  if (comparison == "=") return order == 0;
  if (comparison == "!=") return order != 0;
  if (comparison == "<") return order < 0;
  if (comparison == "<=") return order <= 0;
  if (comparison == ">") return order > 0;
  return order >= 0;
}

// What is not known here holds: a refusal must have a reason.
Result<bool> holds(const Condition& condition, const DriverOffer& offer) {
  if (condition.name == "brand") {
    return offer.brand.empty() || compare(offer.brand <=> condition.value, condition.comparison);
  }
  std::string have;
  if (condition.name == "cuda") have = offer.cuda;
  if (condition.name == "driver") have = offer.driver;
  if (condition.name == "arch") have = offer.architecture;
  if (have.empty()) return true;
  // "driver>=470,driver<471": the value's own length says how much of the version counts for <, > and =.
  const auto left = driver::VersionNumber::parse(have), right = driver::VersionNumber::parse(condition.value);
  if (!left || !right)
    return fail(ErrorCode::kInvalidArgument, format("NVIDIA_REQUIRE: '{}' is no version", condition.value));
  return compare(*left <=> *right, condition.comparison);
}

// One variable: alternatives with spaces between, each a list with commas.
Status check_variable(const std::string& text, const DriverOffer& offer) {
  std::string unmet;
  for (const auto& alternative : split(text, ' ')) {
    bool all = true;
    for (const auto& word : split(alternative, ',')) {
      PAGODA_ASSIGN(const auto condition, parse_condition(word));
      PAGODA_ASSIGN(const bool met, holds(condition, offer));
      if (!met && unmet.empty()) unmet = word;
      all = all && met;
    }
    if (all) return {};
  }
  if (unmet.empty()) return {};
  return fail(ErrorCode::kUnsupported,
              format("unsatisfied condition: {}; this machine's driver {} runs CUDA up to {}: update it "
                     "(pagoda driver recommend), "
                     "use an image for an older CUDA, or set NVIDIA_DISABLE_REQUIRE=1",
                     unmet, offer.driver, offer.cuda));
}

}  // namespace

Result<GpuRequest> read_gpu_request(const Json& config, const RequestRules& rules) {
  GpuRequest request;
  PAGODA_ASSIGN(request.capabilities,
                parse_capabilities(variable_of(config, "NVIDIA_DRIVER_CAPABILITIES").value_or("")));
  PAGODA_TRY(take_annotations(config, request));
  if (!request.devices.empty() || !request.others.empty()) {
    request.wanted = true;
    return request;
  }
  if (rules.volume_mounts) {
    for (const auto& device : devices_in_mounts(config)) PAGODA_TRY(take_device(device, request));
    request.wanted = !request.devices.empty() || !request.others.empty();
    if (request.wanted) return request;
  }
  const std::string visible = variable_of(config, "NVIDIA_VISIBLE_DEVICES").value_or("");
  if (visible.empty() || visible == "void") return request;
  if (!rules.variable_when_unprivileged && !is_privileged(config)) {
    return fail(ErrorCode::kUnauthorized,
                "NVIDIA_VISIBLE_DEVICES is set in a container without privileges, which config.toml forbids "
                "(accept-nvidia-visible-devices-envvar-when-unprivileged)");
  }
  request.wanted = true;
  if (visible == "none") return request;
  for (const auto& word : split(visible, ',')) PAGODA_TRY(take_device(word, request));
  return request;
}

Status check_requirements(const Json& config, const DriverOffer& offer) {
  const auto disabled = variable_of(config, "NVIDIA_DISABLE_REQUIRE").value_or("");
  if (disabled == "1" || disabled == "true") return {};
  for (const auto& item : config.value(Json::json_pointer("/process/env"), Json::array())) {
    if (!item.is_string()) continue;
    const auto& text = item.get_ref<const std::string&>();
    const size_t equals = text.find('=');
    if (!text.starts_with("NVIDIA_REQUIRE_") || equals == std::string::npos) continue;
    PAGODA_TRY(check_variable(text.substr(equals + 1), offer));
  }
  return {};
}

}  // namespace pagoda::container
