#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "app/command_words.h"
#include "app/ctk_commands.h"
#include "app/flag_values.h"
#include "base/atomic_file.h"
#include "base/format.h"
#include "container/cdi_generate.h"
#include "container/gpu_search.h"

namespace pagoda::app {
namespace {

using namespace container;

struct GenerateOptions {
  CdiGeneration how;
  std::string output;
  GpuSource source = GpuSource::kAuto;
  CdiFormat format = CdiFormat::kYaml;
  bool no_all_device = false;
};

Setter to_strategies(std::vector<DeviceNames>* field) {
  return [field](std::span<const std::string> values) -> Status {
    field->clear();
    for (const auto& value : values) {
      DeviceNames one{};
      PAGODA_TRY(to_choice(&one, std::vector<std::pair<std::string_view, DeviceNames>>{
                                     {"index", DeviceNames::kIndex},
                                     {"uuid", DeviceNames::kUuid},
                                     {"type-index", DeviceNames::kTypeIndex}})(std::span(&value, 1)));
      field->push_back(one);
    }
    return {};
  };
}

std::vector<Flag> generate_flags(GenerateOptions& options) {
  CdiGeneration& how = options.how;
  std::vector<Flag> flags = {
      flag_row("output", "FILE", to_text(&options.output), "where to write it (default: standard output)"),
      flag_row("format", "FORMAT",
               to_choice(&options.format,
                         std::vector<std::pair<std::string_view, CdiFormat>>{{"yaml", CdiFormat::kYaml},
                                                                             {"json", CdiFormat::kJson}}),
               "yaml or json (default: yaml)"),
      flag_row("device-name-strategy", "NAMES", to_strategies(&how.names),
               "index, uuid, type-index; repeatable (default: index and uuid)", {"device-name-strategies"}),
      flag_row("driver-root", "DIR", to_text(&how.driver_root), "where the driver is installed (default: /)"),
      flag_row("dev-root", "DIR", to_text(&how.dev_root), "where /dev lies (default: the driver's root)"),
      flag_row("hook-path", "FILE", to_text(&how.hook_path), "pagoda-container-hook as the engines see it",
               {"nvidia-cdi-hook-path", "nvidia-ctk-path"}),
      flag_row("ldconfig-path", "FILE", to_text(&how.ldconfig_path),
               "the host's ldconfig (default: /sbin/ldconfig)"),
      flag_row("vendor", "NAME", to_text(&how.vendor), "of the kind (default: nvidia.com)", {"cdi-vendor"}),
      flag_row("class", "NAME", to_text(&how.device_class), "of the kind (default: gpu)", {"cdi-class"}),
      list_row("disable-hook", "HOOK", &how.disabled_hooks, "create-symlinks, update-ldcache or all"),
      list_row("device-id", "ID", &how.only, "only these: index, UUID, 0:1 of a MIG device (default: all)"),
      switch_row("no-all-device", &options.no_all_device, "leave the device 'all' out"),
      flag_row("mode", "MODE",
               to_choice(&options.source,
                         std::vector<std::pair<std::string_view, GpuSource>>{{"auto", GpuSource::kAuto},
                                                                             {"nvml", GpuSource::kNvml}}),
               "auto: by NVML, else by the kernel module's files; nvml: it must answer (default: auto)"),
  };
  flags[2].takes = Takes::kValues;
  return flags;
}

Result<std::string> generated_text(const GenerateOptions& options, GpuSource source) {
  PAGODA_ASSIGN(const auto root, driver::HostRoot::open(options.how.driver_root));
  PAGODA_ASSIGN(const auto dev, driver::HostRoot::open(options.how.dev_root.empty() ? options.how.driver_root
                                                                                    : options.how.dev_root));
  PAGODA_ASSIGN(const auto host, driver::HostRoot::open("/"));
  PAGODA_ASSIGN(const auto found, find_gpus(host, root, source));
  CdiGeneration how = options.how;
  how.all_device = !options.no_all_device;
  PAGODA_ASSIGN(const auto spec, generate_cdi_spec(root, dev, found.gpus, how));
  return cdi_spec_text(spec, options.format);
}

// The format of a file follows from its name, unless the flag says otherwise.
void choose_format(GenerateOptions& options, const ParsedFlags& parsed) {
  if (!parsed.given.contains("format") && options.output.ends_with(".json"))
    options.format = CdiFormat::kJson;
}

// Returns true where the file was changed.
Result<bool> write_if_changed(const std::string& path, const std::string& text) {
  const auto before = read_whole_file(path);
  if (before && *before == text) return false;
  PAGODA_TRY(write_file_atomically(path, text));
  return true;
}

// The spec is written anew whenever driver or devices differ; ends on SIGTERM or SIGINT. NVML is asked only
// after the files have changed: it would wake the GPUs at every look, and hold the module while an update
// wants to unload it.
int watch(const Invocation& invocation, const GenerateOptions& options, int seconds) {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  sigprocmask(SIG_BLOCK, &ends, nullptr);
  pollfd wait{signalfd(-1, &ends, SFD_CLOEXEC), POLLIN, 0};
  std::string last_fault, last_look;
  do {
    const std::string look = generated_text(options, GpuSource::kModuleFiles).value_or("");
    if (!look.empty() && look == last_look && access(options.output.c_str(), F_OK) == 0) continue;
    const auto text = generated_text(options, options.source);
    const auto changed =
        text ? write_if_changed(options.output, *text) : Result<bool>(Unexpected(text.error()));
    if (changed && *changed) fmt::print(stderr, "wrote {}\n", options.output);
    const std::string fault = changed ? "" : changed.error().message;
    if (!fault.empty() && fault != last_fault) report_error(invocation, changed.error());
    last_fault = fault;
    last_look = changed ? look : "";
  } while (poll(&wait, 1, seconds * 1000) == 0);
  close(wait.fd);
  return kExitOk;
}

}  // namespace

int run_cdi_generate(const Invocation& invocation) {
  GenerateOptions options;
  options.how.hook_path = container_hook_path();
  FlagTable table;
  table.usage = invocation.program + " [flags]";
  table.summary = "Writes a CDI spec of this machine's GPUs.";
  table.flags = generate_flags(options);
  const auto outcome = read_flags(table, invocation);
  if (outcome.exit) return *outcome.exit;
  choose_format(options, outcome.parsed);
  const auto text = generated_text(options, options.source);
  if (!text) return report_error(invocation, text.error());
  if (options.output.empty()) {
    fmt::print("{}", *text);
    return kExitOk;
  }
  if (const Status written = write_file_atomically(options.output, *text); !written)
    return report_error(invocation, written.error());
  fmt::print(stderr, "wrote {}\n", options.output);
  return kExitOk;
}

int run_cdi_refresh(const Invocation& invocation) {
  GenerateOptions options;
  options.how.hook_path = container_hook_path();
  options.output = "/var/run/cdi/nvidia.yaml";
  bool watches = false;
  int seconds = 10;
  FlagTable table;
  table.usage = invocation.program + " [flags]";
  table.summary = "Writes the CDI spec anew where driver or devices have changed.";
  table.flags = generate_flags(options);
  table.flags.push_back(switch_row("watch", &watches, "go on looking until SIGTERM"));
  table.flags.push_back(
      flag_row("interval", "SECONDS", to_integer(&seconds, {1, 86400}), "between two looks (default: 10)"));
  const auto outcome = read_flags(table, invocation);
  if (outcome.exit) return *outcome.exit;
  choose_format(options, outcome.parsed);
  if (watches) return watch(invocation, options, seconds);
  const auto text = generated_text(options, options.source);
  if (!text) return report_error(invocation, text.error());
  const auto changed = write_if_changed(options.output, *text);
  if (!changed) return report_error(invocation, changed.error());
  fmt::print(stderr, "{} {}\n", *changed ? "wrote" : "unchanged:", options.output);
  return kExitOk;
}

}  // namespace pagoda::app
