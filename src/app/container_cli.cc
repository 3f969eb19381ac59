// nvidia-container-cli: info and list. configure is refused: it works inside a container's root as root.
#include <unistd.h>

#include <algorithm>

#include "app/command_words.h"
#include "app/ctk_commands.h"
#include "app/flag_values.h"
#include "base/format.h"
#include "container/driver_files.h"
#include "container/gpu_search.h"
#include "driver/cuda_releases.h"
#include "driver/device_nodes.h"
#include "driver/loaded_driver.h"
#include "driver/pci_devices.h"

namespace pagoda::app {
namespace {

using namespace container;

int not_initialized(const Invocation& invocation) {
  return report_error(invocation,
                      {ErrorCode::kUnavailable,
                       "initialization error: nvml error: driver not loaded (pagoda driver check)", ""});
}

int print_info(const Invocation& invocation, const driver::HostRoot& root) {
  const auto loaded = driver::read_loaded_driver(root);
  if (!loaded) return not_initialized(invocation);
  fmt::print("NVRM version:   {}\nCUDA version:   {}\n", loaded->version.text(),
             driver::newest_cuda(loaded->version).value_or("unknown"));
  const auto devices = driver::find_nvidia_pci_devices(root);
  const auto found = find_gpus(root, root, GpuSource::kAuto);
  if (!found) return report_error(invocation, found.error());
  for (const auto& gpu : found->gpus) {
    const auto device = std::find_if(devices.begin(), devices.end(),
                                     [&](const auto& d) { return d.address == gpu.pci_address; });
    const bool known = device != devices.end() && device->chip != nullptr;
    fmt::print(
        "\nDevice Index:   {}\nDevice Minor:   {}\nModel:          {}\nGPU UUID:       {}\nBus Location:   "
        "0000{}\nArchitecture:   {}\n",
        gpu.index, gpu.minor, gpu.name, gpu.uuid, gpu.pci_address,
        known ? capability_text(*device->chip) : "unknown");
  }
  return kExitOk;
}

int print_list(const Invocation& invocation, const driver::HostRoot& root) {
  if (!driver::read_loaded_driver(root)) return not_initialized(invocation);
  const auto files = find_driver_files(root, all_capabilities());
  if (!files) return report_error(invocation, files.error());
  for (const auto& node : driver::read_device_nodes(root).present) fmt::print("{}\n", node.path);
  for (const auto& file : files->files) fmt::print("{}\n", file.path);
  return kExitOk;
}

// nvidia-container-cli takes its flags before and after the word.
std::string take_word(std::vector<std::string>& arguments) {
  const auto word = std::find_if(arguments.begin(), arguments.end(), [](const auto& a) {
    return a == "info" || a == "list" || a == "configure";
  });
  if (word == arguments.end()) return "";
  std::string found = *word;
  arguments.erase(word);
  return found;
}

}  // namespace

int run_container_cli(const Invocation& invocation) {
  Invocation rest = invocation;
  const std::string word = take_word(rest.arguments);
  if (word == "configure") {
    return report_error(
        invocation,
        {ErrorCode::kUnsupported,
         "configure enters a container's root with root's rights and trusts its links; GPUs are given by CDI "
         "instead: pagoda ctk runtime configure",
         ""});
  }
  std::string folder = "/";
  bool load_modules = false;
  FlagTable table;
  table.usage = "nvidia-container-cli info|list [flags]";
  table.summary = "The driver and GPUs that containers would get.";
  table.flags = {
      flag_row("root", "DIR", to_text(&folder), "where the driver is installed (default: /)", {"r"}),
      switch_row("load-kmods", &load_modules, "is accepted; modules are loaded by the host itself"),
  };
  table.flags[1].aliases = {"k"};
  const auto outcome = read_flags(table, rest);
  if (outcome.exit) return *outcome.exit;
  if (word.empty())
    return report_error(invocation, {ErrorCode::kInvalidArgument, "which command? info or list", ""});
  const auto root = driver::HostRoot::open(folder);
  if (!root) return report_error(invocation, root.error());
  return word == "info" ? print_info(invocation, *root) : print_list(invocation, *root);
}

}  // namespace pagoda::app
