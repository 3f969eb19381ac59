// /etc/nvidia-container-runtime/config.toml: the container toolkit's settings, by NVIDIA's names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "container/gpu_request.h"

namespace pagoda::container {

struct ToolkitConfig {
  std::vector<std::string> runtimes = {"runc", "crun"};  // the first that is there is called
  std::string mode = "auto";                             // auto, cdi, jit-cdi; "legacy" is refused
  std::vector<std::string> spec_folders = {"/etc/cdi", "/var/run/cdi"};
  std::string driver_root = "/";
  std::string ldconfig = "/sbin/ldconfig";
  std::string hook_path;  // empty: pagoda-container-hook beside the program
  bool disable_require = false;
  RequestRules rules;
};

// Where the file is: XDG_CONFIG_HOME's folder, else /etc.
std::string toolkit_config_path();
// The file as it is by default, with a comment on each setting.
std::string_view default_toolkit_config();
// kCorruptData: line and column, or the setting whose value is none.
Result<ToolkitConfig> parse_toolkit_config(const std::string& text);
// The file at the path; defaults where there is none.
Result<ToolkitConfig> read_toolkit_config(const std::string& path);

// `config --set nvidia-container-runtime.mode=cdi`: the text with that key, its value in the kind that the
// key has. kInvalidArgument: no such key (the nearest are named), or a value of the wrong kind.
Result<std::string> with_setting(const std::string& text, const std::string& assignment);

}  // namespace pagoda::container
