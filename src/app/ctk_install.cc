#include <unistd.h>

#include <filesystem>

#include "app/command_words.h"
#include "app/ctk_commands.h"
#include "app/flag_values.h"
#include "base/atomic_file.h"
#include "base/format.h"
#include "base/subprocess.h"
#include "container/cdi_generate.h"
#include "container/gpu_search.h"
#include "container/runtime_configuration.h"
#include "container/toolkit_config.h"
#include "container/toolkit_links.h"

namespace pagoda::app {
namespace {

using namespace container;
namespace fs = std::filesystem;

constexpr std::string_view kSpec = "/var/run/cdi/nvidia.yaml";

struct ToolkitInstall {
  std::string root, folder = "/usr/local/lib/pagoda/bin";
  bool dry_run = false, force = false, restart = false, keep_default = false;

  std::string place(std::string_view path) const { return root + std::string(path); }
  std::string runtime() const { return folder + "/nvidia-container-runtime"; }
};

std::vector<Flag> install_flags(ToolkitInstall& options) {
  return {
      flag_row("toolkit-dir", "DIR", to_text(&options.folder),
               "where the links go (default: /usr/local/lib/pagoda/bin)"),
      flag_row("root", "DIR", to_text(&options.root), "all files under this folder instead of /"),
      switch_row("dry-run", &options.dry_run, "print the steps, change nothing"),
      switch_row("restart", &options.restart, "restart the engines at the end"),
  };
}

std::vector<Engine> engines_found(const ToolkitInstall& options) {
  std::vector<Engine> engines;
  const std::pair<Engine, const char*> programs[] = {{Engine::kDocker, "dockerd"},
                                                     {Engine::kContainerd, "containerd"},
                                                     {Engine::kCrio, "crio"},
                                                     {Engine::kPodman, "podman"}};
  for (const auto& [engine, program] : programs) {
    for (const char* folder : {"/usr/bin", "/usr/sbin", "/usr/local/bin"}) {
      if (access(options.place(format("{}/{}", folder, program)).c_str(), X_OK) != 0) continue;
      engines.push_back(engine);
      break;
    }
  }
  return engines;
}

void step(const ToolkitInstall& options, const std::string& text) {
  fmt::print("{}{}\n", options.dry_run ? "would " : "", text);
}

Status link_programs(const ToolkitInstall& options) {
  const auto plan = plan_links(options.root, options.folder, own_program(), options.force);
  for (const auto& row : plan) {
    if (row.is_there) continue;
    if (!row.obstacle.empty() && row.diverted_to.empty()) break;  // make_links says it
    if (!row.diverted_to.empty())
      step(options, format("put {} aside as {}", options.place(row.link), row.diverted_to));
    step(options, format("link {} -> {}", options.place(row.link), row.target));
  }
  return options.dry_run ? Status{} : make_links(options.root, plan);
}

Status write_config(const ToolkitInstall& options) {
  const std::string path = options.place("/etc/nvidia-container-runtime/config.toml");
  if (access(path.c_str(), F_OK) == 0) return {};
  step(options, format("write {}", path));
  return options.dry_run ? Status{} : write_file_atomically(path, default_toolkit_config());
}

Status write_spec(const ToolkitInstall& options) {
  PAGODA_ASSIGN(const auto root, driver::HostRoot::open(options.root.empty() ? "/" : options.root));
  CdiGeneration how;
  how.hook_path = container_hook_path();
  PAGODA_ASSIGN(const auto found, find_gpus(root, root, GpuSource::kAuto));
  const auto spec = generate_cdi_spec(root, root, found.gpus, how);
  if (!spec) {
    fmt::print("no CDI spec: {}\n", spec.error().message);
    return {};
  }
  step(options, format("write {}", options.place(kSpec)));
  return options.dry_run
             ? Status{}
             : write_file_atomically(options.place(kSpec), cdi_spec_text(*spec, CdiFormat::kYaml));
}

Status configure_engine(const ToolkitInstall& options, Engine engine, bool install) {
  const std::string path = options.place(default_configuration_path(engine));
  RuntimeSetting setting;
  setting.path = options.runtime();
  // docker run --gpus reaches a runtime only where it is the default one.
  setting.set_as_default = engine == Engine::kDocker && !options.keep_default;
  const auto change = [&](const std::string& before) {
    return install ? with_runtime(engine, before, setting) : without_runtime(engine, before, setting.name);
  };
  if (!install && access(path.c_str(), F_OK) != 0) return {};
  if (options.dry_run) {
    step(options, format("{} the runtime {} {}", install ? "name" : "take out", install ? "in" : "of", path));
    return {};
  }
  PAGODA_ASSIGN(const bool changed, change_file(path, change));
  fmt::print("{} {}\n", changed ? "wrote" : "unchanged:", path);
  return {};
}

Status restart_engines(const ToolkitInstall& options, const std::vector<Engine>& engines) {
  for (const Engine engine : engines) {
    const std::string command = restart_command(engine);
    if (command.empty()) continue;
    if (!options.restart || options.dry_run) {
      fmt::print("it counts after a restart: {}\n", command);
      continue;
    }
    PAGODA_ASSIGN(const int code,
                  run_visible({{"systemctl", "restart", std::string(engine_name(engine))}, {}, ""}));
    if (code != 0) return fail(ErrorCode::kUnavailable, format("{} ended with {}", command, code));
  }
  return {};
}

Status install(const ToolkitInstall& options) {
  const auto engines = engines_found(options);
  PAGODA_TRY(link_programs(options));
  PAGODA_TRY(write_config(options));
  PAGODA_TRY(write_spec(options));
  for (const Engine engine : engines) PAGODA_TRY(configure_engine(options, engine, true));
  if (engines.empty())
    fmt::print("no engine found: none of docker, containerd, CRI-O and podman is installed\n");
  return restart_engines(options, engines);
}

Status uninstall(const ToolkitInstall& options) {
  const auto engines = engines_found(options);
  for (const Engine engine : engines) PAGODA_TRY(configure_engine(options, engine, false));
  const std::string config = options.place("/etc/nvidia-container-runtime/config.toml");
  const auto text = read_whole_file(config);
  std::vector<std::string> files = {options.place(kSpec)};
  // A configuration that somebody has changed is kept.
  if (text && *text == default_toolkit_config()) files.push_back(config);
  for (const auto& file : files) {
    if (access(file.c_str(), F_OK) != 0) continue;
    step(options, format("remove {}", file));
    if (!options.dry_run) unlink(file.c_str());
  }
  if (options.dry_run) {
    step(options, format("remove the links in {}", options.place(options.folder)));
    return {};
  }
  PAGODA_ASSIGN(const auto done, remove_links(options.root, options.folder, own_program()));
  for (const auto& line : done) fmt::print("{}\n", line);
  return restart_engines(options, engines);
}

}  // namespace

int run_toolkit_install(const Invocation& invocation) {
  ToolkitInstall options;
  FlagTable table;
  table.usage = invocation.program + " [flags]";
  table.summary = "Links under NVIDIA's names, config.toml, CDI spec, and every engine that is installed.";
  table.flags = install_flags(options);
  table.flags.push_back(switch_row("force", &options.force, "put files that are in the links' way aside"));
  table.flags.push_back(
      switch_row("keep-default-runtime", &options.keep_default,
                 "leave docker's default runtime as it is (docker run needs --runtime nvidia then)"));
  const auto outcome = read_flags(table, invocation);
  if (outcome.exit) return *outcome.exit;
  const Status done = install(options);
  return done ? kExitOk : report_error(invocation, done.error());
}

int run_toolkit_uninstall(const Invocation& invocation) {
  ToolkitInstall options;
  FlagTable table;
  table.usage = invocation.program + " [flags]";
  table.summary = "Takes back what install did; files that were put aside come back.";
  table.flags = install_flags(options);
  const auto outcome = read_flags(table, invocation);
  if (outcome.exit) return *outcome.exit;
  const Status done = uninstall(options);
  return done ? kExitOk : report_error(invocation, done.error());
}

}  // namespace pagoda::app
