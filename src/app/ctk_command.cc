#include "app/ctk_command.h"

#include <unistd.h>

#include <array>
#include <climits>
#include <cstring>
#include <filesystem>

#include "app/command_words.h"
#include "app/ctk_commands.h"
#include "base/format.h"

namespace pagoda::app {
namespace {

constexpr std::array kCommands = {
    CommandWords{"cdi generate", "write a CDI spec of this machine's GPUs", run_cdi_generate},
    CommandWords{"cdi list", "the devices that the specs of this machine name", run_cdi_list},
    CommandWords{"cdi validate", "check one spec, or all of this machine", run_cdi_validate},
    CommandWords{"cdi transform root", "the same spec for another driver root", run_cdi_transform_root},
    CommandWords{"cdi refresh", "write the spec anew when the driver has changed", run_cdi_refresh},
    CommandWords{"runtime configure", "tell docker, containerd, CRI-O or podman of the runtime",
                 run_runtime_configure},
    CommandWords{"config", "print config.toml, or change it: --set KEY=VALUE --in-place", run_toolkit_config},
    CommandWords{"config default", "print config.toml as it is by default", run_toolkit_config_default},
    CommandWords{"system create-dev-char-symlinks", "links in /dev/char to NVIDIA's device nodes",
                 run_dev_char_symlinks},
    CommandWords{"info", "driver, GPUs, and which engines know the runtime", run_toolkit_info},
    CommandWords{"install", "links, configuration, CDI spec, every engine found", run_toolkit_install},
    CommandWords{"uninstall", "take all of that back", run_toolkit_uninstall},
};

// Reached only where an engine put the hook in and the container did not run with our runtime, which takes it
// out.
int refuse_legacy_hook(const Invocation& invocation) {
  return report_error(
      invocation,
      {ErrorCode::kUnsupported,
       "GPUs are given by the runtime, not by this hook: run `pagoda ctk runtime configure --runtime docker "
       "--nvidia-set-as-default`, restart docker, and start the container again",
       ""});
}

// nvidia-cdi-hook's actions are the static hook's.
int become_container_hook(const Invocation& invocation) {
  const std::string hook = container_hook_path();
  std::vector<const char*> words = {hook.c_str()};
  for (const auto& argument : invocation.arguments) words.push_back(argument.c_str());
  words.push_back(nullptr);
  execv(hook.c_str(), const_cast<char* const*>(words.data()));
  return report_error(invocation, {ErrorCode::kNotFound, format("{}: {}", hook, std::strerror(errno)), ""});
}

}  // namespace

std::string own_program() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return length < 0 ? "pagoda" : std::string(path, static_cast<size_t>(length));
}

std::string container_hook_path() {
  const auto beside = std::filesystem::path(own_program()).parent_path() / "pagoda-container-hook";
  return access(beside.c_str(), X_OK) == 0 ? beside.string() : "/usr/bin/pagoda-container-hook";
}

int run_ctk_command(const Invocation& invocation) {
  if (invocation.program == "nvidia-container-cli") return run_container_cli(invocation);
  if (invocation.program == "nvidia-container-runtime-hook") return refuse_legacy_hook(invocation);
  // dockerd calls nvidia-cdi-hook's place only to see that it is there.
  if (invocation.program == "nvidia-cdi-hook") return become_container_hook(invocation);
  return run_by_words(kCommands, "GPUs for containers: CDI specs and the engines' configurations.",
                      invocation);
}

}  // namespace pagoda::app
