#include <unistd.h>

#include "app/command_words.h"
#include "app/ctk_commands.h"
#include "app/flag_values.h"
#include "base/atomic_file.h"
#include "base/format.h"
#include "container/runtime_configuration.h"

namespace pagoda::app {
namespace {

using namespace container;

struct ConfigureOptions {
  std::string engine = "docker", config, drop_in;
  RuntimeSetting setting;
  bool dry_run = false, cdi = false, remove = false;
};

FlagTable configure_table(ConfigureOptions& options, const Invocation& invocation) {
  FlagTable table;
  table.usage = invocation.program + " [flags]";
  table.summary = "Adds the NVIDIA runtime to an engine's configuration; a second run changes nothing.";
  table.flags = {
      flag_row("runtime", "ENGINE", to_text(&options.engine),
               "docker, containerd, crio or podman (default: docker)"),
      flag_row("config", "FILE", to_text(&options.config), "the engine's configuration file",
               {"config-path"}),
      flag_row("drop-in-config", "FILE", to_text(&options.drop_in),
               "containerd: a file of its own, which the main one imports", {"drop-in-config-path"}),
      flag_row("nvidia-runtime-name", "NAME", to_text(&options.setting.name),
               "under which name (default: nvidia)", {"runtime-name"}),
      flag_row("nvidia-runtime-path", "FILE", to_text(&options.setting.path),
               "the runtime (default: /usr/bin/nvidia-container-runtime)", {"runtime-path"}),
      switch_row("nvidia-set-as-default", &options.setting.set_as_default,
                 "containers get it without asking"),
      switch_row("cdi.enabled", &options.cdi, "switch the engine's own CDI support on (docker, containerd)"),
      switch_row("dry-run", &options.dry_run, "print what would be written, change nothing"),
      switch_row("remove", &options.remove, "take the runtime out again"),
  };
  table.flags[5].aliases = {"set-as-default"};
  table.flags[6].aliases = {"enable-cdi", "cdi.enable"};
  return table;
}

Result<std::string> text_or_empty(const std::string& path) {
  auto text = read_whole_file(path);
  if (!text && text.error().code == ErrorCode::kNotFound) return std::string();
  return text;
}

// Prints in a dry run, else changes; says what happened.
Status change_or_show(const ConfigureOptions& options, const std::string& path,
                      const std::function<Result<std::string>(const std::string&)>& change) {
  if (!options.dry_run) {
    PAGODA_ASSIGN(const bool changed, change_file(path, change));
    fmt::print(stderr, "{} {}\n", changed ? "wrote" : "unchanged:", path);
    return {};
  }
  PAGODA_ASSIGN(const auto before, text_or_empty(path));
  const auto after = change(before);
  if (!after)
    return fail(after.error().code, format("{}: {}; the file is left as it is", path, after.error().message));
  fmt::print("{}", *after);
  return {};
}

Status configure(const ConfigureOptions& options, Engine engine, const std::string& main_file) {
  const auto& setting = options.setting;
  if (options.remove) {
    const std::string& file = options.drop_in.empty() ? main_file : options.drop_in;
    return change_or_show(options, file,
                          [&](const auto& before) { return without_runtime(engine, before, setting.name); });
  }
  if (options.drop_in.empty()) {
    return change_or_show(options, main_file,
                          [&](const auto& before) { return with_runtime(engine, before, setting); });
  }
  if (engine != Engine::kContainerd) {
    return change_or_show(options, options.drop_in,
                          [&](const auto& before) { return with_runtime(engine, before, setting); });
  }
  PAGODA_ASSIGN(const auto main_text, text_or_empty(main_file));
  PAGODA_TRY(change_or_show(options, options.drop_in, [&](const auto& before) {
    return containerd_drop_in(main_text, before, setting);
  }));
  return change_or_show(options, main_file,
                        [&](const auto& before) { return with_import(before, options.drop_in); });
}

}  // namespace

int run_runtime_configure(const Invocation& invocation) {
  ConfigureOptions options;
  const auto outcome = read_flags(configure_table(options, invocation), invocation);
  if (outcome.exit) return *outcome.exit;
  const auto engine = engine_named(options.engine);
  if (!engine) {
    return report_error(
        invocation,
        {ErrorCode::kInvalidArgument,
         format("--runtime: '{}' is none of docker, containerd, crio, podman", options.engine), ""});
  }
  if (outcome.parsed.given.contains("cdi.enabled")) {
    if (*engine == Engine::kCrio || *engine == Engine::kPodman) {
      return report_error(
          invocation,
          {ErrorCode::kInvalidArgument,
           format("--cdi.enabled: {} has CDI always on; leave the flag out", options.engine), ""});
    }
    options.setting.cdi_enabled = options.cdi;
  }
  if (*engine == Engine::kDocker && !options.drop_in.empty()) {
    return report_error(invocation, {ErrorCode::kInvalidArgument,
                                     "--drop-in-config: docker reads one file only; use --config", ""});
  }
  const std::string main_file = options.config.empty() ? default_configuration_path(*engine) : options.config;
  if (const Status done = configure(options, *engine, main_file); !done)
    return report_error(invocation, done.error());
  if (const std::string restart = restart_command(*engine); !options.dry_run && !restart.empty()) {
    fmt::print(stderr, "it counts after a restart: {}\n", restart);
  }
  return kExitOk;
}

}  // namespace pagoda::app
