#include "container/runtime_configuration.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/format.h"
#include "container/structured_text.h"
#include "container/toml_document.h"

namespace pagoda::container {
namespace {

using Json = nlohmann::ordered_json;

struct EngineFacts {
  Engine engine;
  std::string_view name, file, restart;
};
constexpr std::array kEngines = {
    EngineFacts{Engine::kDocker, "docker", "/etc/docker/daemon.json", "systemctl restart docker"},
    EngineFacts{Engine::kContainerd, "containerd", "/etc/containerd/config.toml",
                "systemctl restart containerd"},
    EngineFacts{Engine::kCrio, "crio", "/etc/crio/crio.conf.d/99-nvidia.toml", "systemctl restart crio"},
    EngineFacts{Engine::kPodman, "podman", "/etc/containers/containers.conf.d/99-nvidia.conf", ""},
};

const EngineFacts& facts_of(Engine engine) {
  return *std::find_if(kEngines.begin(), kEngines.end(),
                       [&](const auto& row) { return row.engine == engine; });
}

// daemon.json has no comments; keys keep their order, and the file its indentation of four.
Result<Json> parse_daemon_json(const std::string& text) {
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) return Json::object();
  PAGODA_ASSIGN(auto value, parse_json(text));
  if (!value.is_object()) return fail(ErrorCode::kCorruptData, "is no JSON object");
  for (const auto* key : {"runtimes", "features"}) {
    if (value.contains(key) && !value[key].is_object()) {
      return fail(ErrorCode::kCorruptData, format("\"{}\" is no object", key));
    }
  }
  return value;
}

std::string same_or_dumped(const Json& before, const Json& after, const std::string& text) {
  return before == after && !text.empty() ? text : after.dump(4) + "\n";
}

Result<std::string> docker_with(const std::string& before, const RuntimeSetting& setting) {
  PAGODA_ASSIGN(const Json old, parse_daemon_json(before));
  Json value = old;
  Json& runtime = value["runtimes"][setting.name];
  if (!runtime.is_object()) runtime = Json::object();
  runtime["path"] = setting.path;
  if (!runtime.contains("args")) runtime["args"] = Json::array();
  if (setting.set_as_default) value["default-runtime"] = setting.name;
  if (setting.cdi_enabled) value["features"]["cdi"] = *setting.cdi_enabled;
  return same_or_dumped(old, value, before);
}

Result<std::string> docker_without(const std::string& before, const std::string& name) {
  PAGODA_ASSIGN(const Json old, parse_daemon_json(before));
  Json value = old;
  if (value.contains("runtimes")) {
    value["runtimes"].erase(name);
    if (value["runtimes"].empty()) value.erase("runtimes");
  }
  if (value.value("default-runtime", Json()) == name) value.erase("default-runtime");
  return same_or_dumped(old, value, before);
}

// The CRI plugin has another name from configuration version 3 on (containerd 2).
TomlPath cri_plugin(const TomlDocument& document) {
  const auto version = document.integer_at({"version"});
  return {"plugins", version.value_or(2) >= 3 ? "io.containerd.cri.v1.runtime" : "io.containerd.grpc.v1.cri"};
}

TomlPath below(TomlPath path, std::initializer_list<const char*> keys) {
  path.insert(path.end(), keys.begin(), keys.end());
  return path;
}

// `from`: the document whose runc runtime is the model; its options are the cluster's own (SystemdCgroup).
Status add_containerd_runtime(TomlDocument& document, const TomlDocument& from,
                              const RuntimeSetting& setting) {
  const TomlPath plugin = cri_plugin(from);
  const TomlPath runtimes = below(plugin, {"containerd", "runtimes"});
  const TomlPath runtime = below(runtimes, {setting.name.c_str()});
  if (setting.set_as_default) {
    PAGODA_TRY(
        document.set(below(plugin, {"containerd", "default_runtime_name"}), toml_string(setting.name)));
  }
  if (setting.cdi_enabled) {
    PAGODA_TRY(document.set(below(plugin, {"enable_cdi"}), *setting.cdi_enabled ? "true" : "false"));
  }
  const std::string model =
      from.string_at(below(plugin, {"containerd", "default_runtime_name"})).value_or("runc");
  const TomlPath source = below(runtimes, {model == setting.name ? "runc" : model.c_str()});
  const bool is_new = !document.has_table(runtime);
  PAGODA_TRY(document.set(below(runtime, {"runtime_type"}), toml_string("io.containerd.runc.v2")));
  if (is_new) {
    for (const auto& [key, value] : from.values_of(source)) {
      if (key != "runtime_type") PAGODA_TRY(document.set(below(runtime, {key.c_str()}), value));
    }
    if (!document.bool_at(below(runtime, {"privileged_without_host_devices"}))) {
      PAGODA_TRY(document.set(below(runtime, {"privileged_without_host_devices"}), "false"));
    }
    for (const auto& [key, value] : from.values_of(below(source, {"options"}))) {
      if (key != "BinaryName") PAGODA_TRY(document.set(below(runtime, {"options", key.c_str()}), value));
    }
  }
  return document.set(below(runtime, {"options", "BinaryName"}), toml_string(setting.path));
}

Result<std::string> containerd_with(const std::string& before, const RuntimeSetting& setting) {
  PAGODA_ASSIGN(auto document, TomlDocument::parse(before));
  const auto version = document.integer_at({"version"});
  if (version && *version < 2) {
    return fail(ErrorCode::kUnsupported,
                "configuration version 1 is no longer read by containerd; containerd config migrate");
  }
  // Without a version containerd takes the file for one of version 1.
  if (!version && !document.text().empty() && document.has_table({"plugins"})) {
    return fail(ErrorCode::kUnsupported,
                "no 'version': containerd takes it for version 1; write version = 2 first");
  }
  if (!version) PAGODA_TRY(document.set({"version"}, "2"));
  PAGODA_TRY(add_containerd_runtime(document, document, setting));
  return document.text();
}

Result<std::string> containerd_without(const std::string& before, const std::string& name) {
  PAGODA_ASSIGN(auto document, TomlDocument::parse(before));
  const TomlPath plugin = cri_plugin(document);
  const TomlPath default_name = below(plugin, {"containerd", "default_runtime_name"});
  PAGODA_TRY(document.remove(below(plugin, {"containerd", "runtimes", name.c_str()})));
  if (document.string_at(default_name) == std::optional(name)) PAGODA_TRY(document.remove(default_name));
  return document.text();
}

Result<std::string> crio_with(const std::string& before, const RuntimeSetting& setting) {
  PAGODA_ASSIGN(auto document, TomlDocument::parse(before));
  if (setting.set_as_default)
    PAGODA_TRY(document.set({"crio", "runtime", "default_runtime"}, toml_string(setting.name)));
  const TomlPath runtime = {"crio", "runtime", "runtimes", setting.name};
  PAGODA_TRY(document.set(below(runtime, {"runtime_path"}), toml_string(setting.path)));
  PAGODA_TRY(document.set(below(runtime, {"runtime_type"}), toml_string("oci")));
  return document.text();
}

Result<std::string> podman_with(const std::string& before, const RuntimeSetting& setting) {
  PAGODA_ASSIGN(auto document, TomlDocument::parse(before));
  if (setting.set_as_default) PAGODA_TRY(document.set({"engine", "runtime"}, toml_string(setting.name)));
  PAGODA_TRY(document.set({"engine", "runtimes", setting.name}, toml_strings({setting.path})));
  return document.text();
}

Result<std::string> without_tables(const std::string& before, const TomlPath& runtime,
                                   const TomlPath& default_name, const std::string& name) {
  PAGODA_ASSIGN(auto document, TomlDocument::parse(before));
  PAGODA_TRY(document.remove(runtime));
  if (document.string_at(default_name) == std::optional(name)) PAGODA_TRY(document.remove(default_name));
  return document.text();
}

}  // namespace

std::string_view engine_name(Engine engine) {
  return facts_of(engine).name;
}

std::optional<Engine> engine_named(std::string_view name) {
  if (name == "cri-o") name = "crio";
  for (const auto& row : kEngines) {
    if (row.name == name) return row.engine;
  }
  return std::nullopt;
}

std::string default_configuration_path(Engine engine) {
  return std::string(facts_of(engine).file);
}

std::string restart_command(Engine engine) {
  return std::string(facts_of(engine).restart);
}

Result<std::string> with_runtime(Engine engine, const std::string& before, const RuntimeSetting& setting) {
  switch (engine) {
    case Engine::kDocker:
      return docker_with(before, setting);
    case Engine::kContainerd:
      return containerd_with(before, setting);
    case Engine::kCrio:
      return crio_with(before, setting);
    case Engine::kPodman:
      return podman_with(before, setting);
  }
  return before;
}

Result<std::string> without_runtime(Engine engine, const std::string& before, const std::string& name) {
  switch (engine) {
    case Engine::kDocker:
      return docker_without(before, name);
    case Engine::kContainerd:
      return containerd_without(before, name);
    case Engine::kCrio:
      return without_tables(before, {"crio", "runtime", "runtimes", name},
                            {"crio", "runtime", "default_runtime"}, name);
    case Engine::kPodman:
      return without_tables(before, {"engine", "runtimes", name}, {"engine", "runtime"}, name);
  }
  return before;
}

Result<std::string> with_import(const std::string& before, const std::string& drop_in) {
  PAGODA_ASSIGN(auto document, TomlDocument::parse(before));
  if (!document.integer_at({"version"})) PAGODA_TRY(document.set({"version"}, "2"));
  auto imports = document.strings_at({"imports"});
  const std::string pattern = std::filesystem::path(drop_in).parent_path().string() + "/*.toml";
  const auto covers = [&](const auto& path) { return path == pattern || path == drop_in; };
  if (std::any_of(imports.begin(), imports.end(), covers)) return document.text();
  imports.push_back(pattern);
  PAGODA_TRY(document.set({"imports"}, toml_strings(imports)));
  return document.text();
}

Result<std::string> containerd_drop_in(const std::string& main_text, const std::string& before,
                                       const RuntimeSetting& setting) {
  PAGODA_ASSIGN(auto main, TomlDocument::parse(main_text));
  PAGODA_ASSIGN(auto document, TomlDocument::parse(before));
  PAGODA_TRY(document.set({"version"}, format("{}", main.integer_at({"version"}).value_or(2))));
  PAGODA_TRY(add_containerd_runtime(document, main, setting));
  return document.text();
}

Result<bool> change_file(const std::string& path,
                         const std::function<Result<std::string>(const std::string&)>& change) {
  PAGODA_ASSIGN(const auto lock, FileLock::take(path));
  std::string before;
  auto text = read_whole_file(path);
  if (text) {
    before = std::move(*text);
  } else if (text.error().code != ErrorCode::kNotFound) {
    return Unexpected(text.error());
  }
  auto after = change(before);
  if (!after) {
    Error error = after.error();
    error.message = format("{}: {}; the file is left as it is", path, error.message);
    return Unexpected(std::move(error));
  }
  if (*after == before) return false;
  const std::string backup = path + ".pagoda-backup";
  if (!before.empty() && !std::filesystem::exists(backup)) PAGODA_TRY(write_file_atomically(backup, before));
  PAGODA_TRY(write_file_atomically(path, *after));
  return true;
}

}  // namespace pagoda::container
