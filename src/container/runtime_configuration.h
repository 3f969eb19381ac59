// How docker, containerd, CRI-O and podman learn of an OCI runtime: one change of one configuration file,
// made or taken back. What the files say otherwise stays, comments too where the format has them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pagoda::container {

enum class Engine { kDocker, kContainerd, kCrio, kPodman };

std::string_view engine_name(Engine engine);
std::optional<Engine> engine_named(std::string_view name);

struct RuntimeSetting {
  std::string name = "nvidia";
  std::string path = "/usr/bin/nvidia-container-runtime";
  bool set_as_default = false;
  std::optional<bool> cdi_enabled;  // the engine's own CDI support; nullopt: left as it is
};

// The engine's file by default; of CRI-O and podman a drop-in of our own.
std::string default_configuration_path(Engine engine);
// "systemctl restart docker"
std::string restart_command(Engine engine);

// The file's text with the runtime in it. `before` empty: no such file yet. Idempotent: the text of a file
// that says so already comes back unchanged. kCorruptData with line and column.
Result<std::string> with_runtime(Engine engine, const std::string& before, const RuntimeSetting& setting);
// Without it; also no longer the default.
Result<std::string> without_runtime(Engine engine, const std::string& before, const std::string& name);

// containerd: the main file with `drop_in`'s folder among its imports. `drop_in`: absolute.
Result<std::string> with_import(const std::string& before, const std::string& drop_in);
// A drop-in's text: only the runtime, with the options of the main file's own runc runtime.
Result<std::string> containerd_drop_in(const std::string& main_text, const std::string& before,
                                       const RuntimeSetting& setting);

// Reads, changes and writes under a lock, with a copy beside it (PATH.pagoda-backup) the first time.
// Returns whether anything changed.
Result<bool> change_file(const std::string& path,
                         const std::function<Result<std::string>(const std::string&)>& change);

}  // namespace pagoda::container
