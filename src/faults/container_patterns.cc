// Sentences of Docker, NVIDIA's container toolkit, CDI; ports and model folders.
#include "faults/log_pattern.h"

namespace pagoda::faults {
namespace {

constexpr LogPattern kRows[] = {
    {"could not select device driver", R"(capabilities: \[\[\w*gpu)", "docker-no-gpu-driver"},
    {"could not select device driver", "nvidia", "docker-no-gpu-driver"},
    {"unknown or invalid runtime name", R"(runtime name: nvidia)", "docker-unknown-runtime"},
    {"unknown runtime specified nvidia", "", "docker-unknown-runtime"},
    {"driver not loaded", R"(nvidia-container-cli|nvml error|container)", "container-driver-not-loaded"},
    {"unsatisfied condition", R"(unsatisfied condition: (?<condition>cuda ?>= ?(?<cuda>[\d.]*\d)|[^,()]+))",
     "container-condition", Reader::kCuda},
    {"unresolvable CDI devices", R"(unresolvable CDI devices (?<device>[^\s"',]+))", "cdi-unresolvable"},
    {"nvidia-container-cli", R"(load library failed: (?<library>lib[\w.-]+))", "container-library-missing"},
    {"nvidia-container-cli", R"(device error: (?<device>.*?): unknown device)", "container-unknown-device"},
    {"nvidia-container-cli", R"(nvidia-container-cli: (?<detail>[\w ]*error: .*?)(?::? unknown\.?)?$)",
     "container-cli-error"},
    {"address already in use", R"((?:', |:|port |\()(?<port>\d{2,5})\b.*address already in use)",
     "port-in-use"},
    {"address already in use", R"(address already in use.*(?::|port )(?<port>\d{2,5})\b)", "port-in-use"},
    {"address already in use", "", "port-in-use"},
    {"port is already allocated", R"(:(?<port>\d{2,5}) failed: port is already allocated)", "port-in-use"},
    {"or choose another port with --port", R"(:(?<port>\d{1,5}) is in use)", "port-in-use"},
    {"Repo id must be", R"(Repo id must .*'(?<path>/[^']*)')", "model-folder-missing"},
    {"does not appear to have a file named",
     R"((?<path>/\S+) does not appear to have a file named (?<missing>[\w.]+))", "model-not-a-folder"},
    {"Invalid repository ID or local directory specified", R"(specified: '(?<path>[^']*)')",
     "model-folder-missing"},
    {"Can't load the configuration of", R"(configuration of '(?<path>/[^']*)')", "model-folder-missing"},
    {"No such file or directory",
     R"(No such file or directory: '(?<path>/[^']*(?:model|config\.json|\.safetensors|\.gguf)[^']*)')",
     "model-folder-missing"},
    {"failed to stat file", R"(failed to stat file (?<path>/\S*))", "model-folder-missing"},
    {"failed to open the model repository", "", "model-folder-missing"},
    {"Cannot access gated repo", "", "model-access"},
    {"Permission denied",
     R"(Permission denied: '(?<path>/[^']*(?:model|config\.json|\.safetensors|\.gguf)[^']*)')",
     "permission-model"},
};

}  // namespace

std::span<const LogPattern> container_patterns() {
  return kRows;
}

}  // namespace pagoda::faults
