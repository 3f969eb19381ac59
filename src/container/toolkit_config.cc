#include "container/toolkit_config.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/atomic_file.h"
#include "base/format.h"
#include "container/toml_document.h"

namespace pagoda::container {
namespace {

constexpr std::string_view kDefaults =
    "# Settings of `pagoda container-runtime`, by the names of NVIDIA's container toolkit.\n"
    "\n"
    "# Give GPUs to containers that only set NVIDIA_VISIBLE_DEVICES and have no privileges.\n"
    "accept-nvidia-visible-devices-envvar-when-unprivileged = true\n"
    "# Take device names from mounts below /var/run/nvidia-container-devices too.\n"
    "accept-nvidia-visible-devices-as-volume-mounts = false\n"
    "# Do not look at NVIDIA_REQUIRE_* of images.\n"
    "disable-require = false\n"
    "\n"
    "[nvidia-container-cli]\n"
    "# Where the driver is installed: / or the root of a driver container.\n"
    "root = \"/\"\n"
    "# The host's ldconfig; it is run confined to the container's root.\n"
    "ldconfig = \"@/sbin/ldconfig\"\n"
    "\n"
    "[nvidia-container-runtime]\n"
    "# The runtime that is called after the edits: the first of these that is there.\n"
    "runtimes = [\"runc\", \"crun\"]\n"
    "# auto and jit-cdi make the edits from the machine as it is now; cdi takes them from the specs below.\n"
    "mode = \"auto\"\n"
    "\n"
    "[nvidia-container-runtime.modes.cdi]\n"
    "spec-dirs = [\"/etc/cdi\", \"/var/run/cdi\"]\n"
    "\n"
    "[nvidia-cdi-hook]\n"
    "# The program that works inside a container's root; empty: pagoda-container-hook beside pagoda.\n"
    "path = \"\"\n";

enum class Kind { kBool, kText, kTexts };
struct Key {
  std::string_view name;  // with dots between
  Kind kind;
};
constexpr std::array kKeys = {
    Key{"accept-nvidia-visible-devices-envvar-when-unprivileged", Kind::kBool},
    Key{"accept-nvidia-visible-devices-as-volume-mounts", Kind::kBool},
    Key{"disable-require", Kind::kBool},
    Key{"nvidia-container-cli.root", Kind::kText},
    Key{"nvidia-container-cli.ldconfig", Kind::kText},
    Key{"nvidia-container-runtime.runtimes", Kind::kTexts},
    Key{"nvidia-container-runtime.mode", Kind::kText},
    Key{"nvidia-container-runtime.modes.cdi.spec-dirs", Kind::kTexts},
    Key{"nvidia-cdi-hook.path", Kind::kText},
};

TomlPath path_of(std::string_view name) {
  TomlPath path;
  while (!name.empty()) {
    const size_t dot = std::min(name.find('.'), name.size());
    path.emplace_back(name.substr(0, dot));
    name.remove_prefix(std::min(dot + 1, name.size()));
  }
  return path;
}

Status check_mode(const std::string& mode) {
  if (mode == "auto" || mode == "cdi" || mode == "jit-cdi") return {};
  if (mode == "legacy" || mode == "csv") {
    return fail(ErrorCode::kUnsupported,
                format("nvidia-container-runtime.mode = \"{}\": that way runs code with the container's own "
                       "files; auto, cdi and jit-cdi are there",
                       mode));
  }
  return fail(ErrorCode::kCorruptData,
              format("nvidia-container-runtime.mode = \"{}\": it is auto, cdi or jit-cdi", mode));
}

void take(const TomlDocument& document, std::string_view name, bool& to) {
  if (const auto value = document.bool_at(path_of(name))) to = *value;
}
void take(const TomlDocument& document, std::string_view name, std::string& to) {
  if (const auto value = document.string_at(path_of(name)); value && !value->empty()) to = *value;
}
void take(const TomlDocument& document, std::string_view name, std::vector<std::string>& to) {
  if (auto value = document.strings_at(path_of(name)); !value.empty()) to = std::move(value);
}

Result<std::string> value_text(const Key& key, const std::string& value) {
  switch (key.kind) {
    case Kind::kBool:
      if (value == "true" || value == "false") return value;
      return fail(ErrorCode::kInvalidArgument, format("{} is true or false, not '{}'", key.name, value),
                  "set");
    case Kind::kText:
      return toml_string(value);
    case Kind::kTexts: {
      std::vector<std::string> texts;
      for (size_t at = 0; at <= value.size();) {
        const size_t end = std::min(value.find(',', at), value.size());
        if (end > at) texts.push_back(value.substr(at, end - at));
        at = end + 1;
      }
      return toml_strings(texts);
    }
  }
  return value;
}

}  // namespace

std::string toolkit_config_path() {
  const char* home = std::getenv("XDG_CONFIG_HOME");
  return format("{}/nvidia-container-runtime/config.toml", home == nullptr || *home == '\0' ? "/etc" : home);
}

std::string_view default_toolkit_config() {
  return kDefaults;
}

Result<ToolkitConfig> parse_toolkit_config(const std::string& text) {
  PAGODA_ASSIGN(const auto document, TomlDocument::parse(text));
  ToolkitConfig config;
  take(document, "accept-nvidia-visible-devices-envvar-when-unprivileged",
       config.rules.variable_when_unprivileged);
  take(document, "accept-nvidia-visible-devices-as-volume-mounts", config.rules.volume_mounts);
  take(document, "disable-require", config.disable_require);
  take(document, "nvidia-container-cli.root", config.driver_root);
  take(document, "nvidia-container-cli.ldconfig", config.ldconfig);
  take(document, "nvidia-container-runtime.runtimes", config.runtimes);
  take(document, "nvidia-container-runtime.mode", config.mode);
  take(document, "nvidia-container-runtime.modes.cdi.spec-dirs", config.spec_folders);
  take(document, "nvidia-cdi-hook.path", config.hook_path);
  if (config.ldconfig.starts_with('@')) config.ldconfig.erase(0, 1);
  PAGODA_TRY(check_mode(config.mode));
  return config;
}

Result<ToolkitConfig> read_toolkit_config(const std::string& path) {
  const auto text = read_whole_file(path);
  if (!text && text.error().code == ErrorCode::kNotFound) return ToolkitConfig{};
  if (!text) return Unexpected(text.error());
  auto config = parse_toolkit_config(*text);
  if (config) return config;
  Error error = config.error();
  error.message = format("{}: {}", path, error.message);
  return Unexpected(std::move(error));
}

Result<std::string> with_setting(const std::string& text, const std::string& assignment) {
  const size_t equals = assignment.find('=');
  const std::string name = assignment.substr(0, equals);
  const auto key =
      std::find_if(kKeys.begin(), kKeys.end(), [&](const auto& row) { return row.name == name; });
  if (key == kKeys.end()) {
    std::vector<std::string_view> names;
    for (const auto& row : kKeys) names.push_back(row.name);
    return fail(ErrorCode::kInvalidArgument,
                format("no setting '{}'; there are: {}", name, fmt::join(names, ", ")), "set");
  }
  // A switch alone means true, as nvidia-ctk has it.
  const std::string value = equals == std::string::npos ? "true" : assignment.substr(equals + 1);
  PAGODA_ASSIGN(const auto written, value_text(*key, value));
  PAGODA_ASSIGN(auto document, TomlDocument::parse(text));
  PAGODA_TRY(document.set(path_of(name), written));
  PAGODA_TRY(parse_toolkit_config(document.text()));
  return document.text();
}

}  // namespace pagoda::container
