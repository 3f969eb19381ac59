#include "app/container_runtime_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "app/command_words.h"
#include "app/ctk_commands.h"
#include "base/format.h"
#include "base/subprocess.h"
#include "container/bundle_edit.h"
#include "container/runtime_call.h"

namespace pagoda::app {
namespace {

using namespace container;

Result<std::string> inner_runtime(const ToolkitConfig& config) {
  for (const auto& name : config.runtimes) {
    if (auto path = find_program(name)) return *path;
  }
  return fail(ErrorCode::kNotFound,
              format("none of the runtimes {} is installed", fmt::join(config.runtimes, ", ")));
}

// Runs only where exec failed.
Error become(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<const char*> words = {program.c_str()};
  for (const auto& argument : arguments) words.push_back(argument.c_str());
  words.push_back(nullptr);
  execv(program.c_str(), const_cast<char* const*>(words.data()));
  return {ErrorCode::kUnavailable, format("{}: {}", program, std::strerror(errno)), ""};
}

Error run(const RuntimeCall& call, const std::vector<std::string>& arguments) {
  const auto config = read_toolkit_config(toolkit_config_path());
  if (!config) return config.error();
  const auto runtime = inner_runtime(*config);
  if (!runtime) return runtime.error();
  if (call.creates) {
    const std::string hook = config->hook_path.empty() ? container_hook_path() : config->hook_path;
    if (const Status edited = edit_bundle(call.bundle, *config, hook); !edited) return edited.error();
  }
  return become(*runtime, arguments);
}

}  // namespace

int run_container_runtime_command(const Invocation& invocation) {
  const RuntimeCall call = read_runtime_call(invocation.arguments);
  const Error error = run(call, invocation.arguments);
  log_for_engine(call, error.message);
  report_error(invocation, error);
  return kExitFailure;
}

}  // namespace pagoda::app
