#include "app/serve_command.h"

#include <unistd.h>

#include "app/flag_help.h"
#include "app/hub_model.h"
#include "app/machine.h"
#include "app/model_cache.h"
#include "app/serve.h"
#include "app/serve_flags.h"
#include "app/terminal.h"
#include "base/format.h"

namespace pagoda::app {
namespace {

int report(const Invocation& invocation, const Error& error) {
  const Paint paint = Paint::for_descriptor(STDERR_FILENO);
  fmt::print(stderr, "{} {}\n", paint(Ink::kRed, invocation.program + ":"), error.message);
  const bool askers_fault =
      error.code == ErrorCode::kInvalidArgument || error.code == ErrorCode::kUnsupported;
  return askers_fault ? kExitUsage : kExitFailure;
}

int print_serve_help(const Invocation& invocation, const std::string& word) {
  ServeOptions unused;
  const FlagTable table = serve_flag_table(unused, invocation.program);
  fmt::print("{}",
             help_text(table, word, Paint::for_descriptor(STDOUT_FILENO), terminal_width(STDOUT_FILENO)));
  return kExitOk;
}

// `pagoda serve` without a model: what could be served, as commands to copy.
int offer_models(const Invocation& invocation) {
  const auto folder = model_cache_folder();
  const auto models = list_models(folder);
  if (models.empty()) {
    fmt::print(stderr, "{}: no MODEL given, and none is cached in {}\n  {} FILE.gguf serves a file\n",
               invocation.program, folder.string(), invocation.program);
    return kExitUsage;
  }
  fmt::print(stderr, "{}: no MODEL given; cached in {}:\n", invocation.program, folder.string());
  for (const auto& model : models) {
    fmt::print(stderr, "  {} {}    ({})\n", invocation.program, model.name, human_bytes(model.bytes));
  }
  return kExitUsage;
}

hub::HubSettings hub_settings_of(const ServeOptions& options) {
  hub::HubSettings settings = hub::settings_from_environment();
  if (!options.download_folder.empty()) settings.cache = options.download_folder;
  if (!options.hub_token.empty()) {
    settings.token = options.hub_token;
    settings.token_origin = "--hf-token";
  }
  return settings;
}

}  // namespace

int run_serve_command(const Invocation& invocation) {
  auto request =
      parse_serve_flags(invocation.arguments, serve_defaults(invocation.drop_in), invocation.program);
  if (!request) return report(invocation, request.error());
  if (request->parsed.help) return print_serve_help(invocation, *request->parsed.help);
  log::configure(request->options.log_level, request->options.log_style);
  for (const std::string& warning : request->parsed.warnings) log::warning("{}", warning);
  if (request->options.model.empty()) return offer_models(invocation);
  const auto model =
      resolve_model(request->options.model, model_cache_folder(), [&](const std::string& name) {
        return model_from_hub(name, request->options.revision, hub_settings_of(request->options));
      });
  if (!model) return report(invocation, model.error());
  return serve(request->options, *model);
}

}  // namespace pagoda::app
