#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "app/command_words.h"
#include "app/ctk_commands.h"
#include "app/flag_values.h"
#include "app/version.h"
#include "base/atomic_file.h"
#include "base/format.h"
#include "container/gpu_search.h"
#include "container/runtime_configuration.h"
#include "container/toolkit_config.h"
#include "driver/device_nodes.h"
#include "driver/host_facts.h"

namespace pagoda::app {
namespace {

using namespace container;
namespace fs = std::filesystem;

Result<std::string> config_or_default(const std::string& path) {
  auto text = read_whole_file(path);
  if (!text && text.error().code == ErrorCode::kNotFound) return std::string(default_toolkit_config());
  return text;
}

Result<std::string> with_settings(std::string text, const std::vector<std::string>& settings) {
  for (const auto& setting : settings) {
    PAGODA_ASSIGN(text, with_setting(text, setting));
  }
  return text;
}

// /dev/char/195:0 → ../nvidia0
Status link_node(const driver::DeviceNode& node, const std::string& folder, bool dry_run) {
  const std::string link = format("{}/{}:{}", folder, node.major, node.minor);
  const std::string target = "../" + node.path.substr(5);
  std::error_code fault;
  if (fs::is_symlink(fs::symlink_status(link, fault)) && fs::read_symlink(link, fault) == target) return {};
  fmt::print(stderr, "{}{} -> {}\n", dry_run ? "would link " : "linked ", link, target);
  if (dry_run) return {};
  fs::create_directories(folder, fault);
  fs::remove(link, fault);
  fs::create_symlink(target, link, fault);
  if (fault) return fail(ErrorCode::kUnavailable, format("{}: {}", link, fault.message()));
  return {};
}

}  // namespace

int run_toolkit_config(const Invocation& invocation) {
  std::string path = toolkit_config_path(), output;
  std::vector<std::string> settings;
  bool in_place = false;
  FlagTable table;
  table.usage = invocation.program + " [flags]";
  table.summary = "Prints the toolkit's config.toml with the given settings in it.";
  table.flags = {
      flag_row("config-file", "FILE", to_text(&path), "which file", {"config", "c"}),
      list_row("set", "KEY=VALUE", &settings, "a setting; repeatable"),
      switch_row("in-place", &in_place, "write it back"),
      flag_row("output", "FILE", to_text(&output), "write it there", {"o"}),
  };
  table.flags[2].aliases = {"i"};
  const auto outcome = read_flags(table, invocation);
  if (outcome.exit) return *outcome.exit;
  if (in_place || !output.empty()) {
    const std::string& place = in_place ? path : output;
    const auto changed = change_file(place, [&](const std::string& before) -> Result<std::string> {
      if (in_place && !before.empty()) return with_settings(before, settings);
      PAGODA_ASSIGN(const auto text, config_or_default(path));
      return with_settings(text, settings);
    });
    if (!changed) return report_error(invocation, changed.error());
    fmt::print(stderr, "{} {}\n", *changed ? "wrote" : "unchanged:", place);
    return kExitOk;
  }
  const auto before = config_or_default(path);
  const auto text = before ? with_settings(*before, settings) : before;
  if (!text) return report_error(invocation, text.error());
  fmt::print("{}", *text);
  return kExitOk;
}

int run_toolkit_config_default(const Invocation& invocation) {
  std::string output;
  FlagTable table;
  table.usage = invocation.program + " [flags]";
  table.summary = "The toolkit's config.toml as it is by default.";
  table.flags = {flag_row("output", "FILE", to_text(&output), "write it there", {"o"})};
  const auto outcome = read_flags(table, invocation);
  if (outcome.exit) return *outcome.exit;
  if (output.empty()) {
    fmt::print("{}", default_toolkit_config());
    return kExitOk;
  }
  const Status written = write_file_atomically(output, default_toolkit_config());
  return written ? kExitOk : report_error(invocation, written.error());
}

int run_toolkit_info(const Invocation& invocation) {
  std::string folder = "/";
  FlagTable table;
  table.usage = invocation.program + " [flags]";
  table.summary = "Driver, GPUs, and which engines know the runtime.";
  table.flags = {
      flag_row("root", "DIR", to_text(&folder), "look at the machine under this folder (default: /)")};
  const auto outcome = read_flags(table, invocation);
  if (outcome.exit) return *outcome.exit;
  const auto root = driver::HostRoot::open(folder);
  if (!root) return report_error(invocation, root.error());
  const auto found = find_gpus(*root, *root, GpuSource::kAuto);
  if (!found) return report_error(invocation, found.error());
  const auto loaded = driver::read_loaded_driver(*root);
  fmt::print("pagoda {}\ndriver: {}\n", version(), loaded ? loaded->version.text() : "none loaded");
  for (const auto& gpu : found->gpus) {
    fmt::print("GPU {}: {} ({}), {} MIG device{}\n", gpu.index, gpu.name,
               gpu.uuid.empty() ? "UUID not known yet" : gpu.uuid, gpu.migs.size(),
               gpu.migs.size() == 1 ? "" : "s");
  }
  for (const Engine engine : {Engine::kDocker, Engine::kContainerd, Engine::kCrio, Engine::kPodman}) {
    const std::string path = default_configuration_path(engine);
    const std::string text = root->read(path).value_or("");
    const bool known = text.find("nvidia-container-runtime") != std::string::npos;
    fmt::print("{}: {} {}\n", engine_name(engine), path,
               text.empty() ? "is not there"
               : known      ? "knows the runtime"
                            : "does not know the runtime");
  }
  return kExitOk;
}

int run_dev_char_symlinks(const Invocation& invocation) {
  std::string folder = "/dev/char", driver_root = "/";
  bool dry_run = false, all = false;
  FlagTable table;
  table.usage = invocation.program + " [flags]";
  table.summary =
      "Links in /dev/char to NVIDIA's device nodes: without them a systemd reload takes GPUs from "
      "containers.";
  table.flags = {
      flag_row("dev-char-path", "DIR", to_text(&folder), "where (default: /dev/char)"),
      flag_row("driver-root", "DIR", to_text(&driver_root), "where /dev lies (default: /)"),
      switch_row("create-all", &all, "for every node that is there: always so here"),
      switch_row("dry-run", &dry_run, "print them, change nothing"),
  };
  const auto outcome = read_flags(table, invocation);
  if (outcome.exit) return *outcome.exit;
  const auto root = driver::HostRoot::open(driver_root);
  if (!root) return report_error(invocation, root.error());
  for (const auto& node : driver::read_device_nodes(*root).present) {
    if (const Status linked = link_node(node, folder, dry_run); !linked)
      return report_error(invocation, linked.error());
  }
  return kExitOk;
}

}  // namespace pagoda::app
