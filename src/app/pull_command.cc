#include "app/pull_command.h"

#include "app/command_words.h"
#include "app/flag_values.h"
#include "app/pull_progress.h"
#include "base/format.h"
#include "hub/hub_cache.h"
#include "hub/pull.h"

namespace pagoda::app {
namespace {

struct PullOptions {
  std::string model, revision = "main", cache, token;
  hub::FilePatterns patterns;
  int parallel = 8;
  bool quiet = false;
};

FlagTable pull_table(PullOptions& options, const Invocation& invocation) {
  FlagTable table;
  table.usage = invocation.program + " ORG/NAME [flags]";
  table.summary =
      "Fetches a model from a hub into the cache that the Hugging Face tools share, and prints its folder. "
      "What is here is not fetched again; a broken run is gone on with; every file is checked by its hash. "
      "HF_ENDPOINT, HF_TOKEN, HF_HOME, HF_HUB_CACHE and HF_HUB_OFFLINE are obeyed.";
  table.positional = "model";
  table.examples = {
      {"pagoda pull Qwen/Qwen2.5-0.5B-Instruct", "all of it; then: pagoda serve Qwen/Qwen2.5-0.5B-Instruct"},
      {"pagoda pull org/name-GGUF --include '*Q4_K_M*'", "one of its files"},
  };
  table.flags = {
      flag_row("model", "ORG/NAME", to_text(&options.model), "which model; also as the first word"),
      flag_row("revision", "REVISION", to_text(&options.revision), "a branch, tag or commit (default: main)"),
      list_row("include", "PATTERN", &options.patterns.include, "only files like these: '*.json' 'onnx/*'"),
      list_row("exclude", "PATTERN", &options.patterns.exclude, "no files like these"),
      flag_row("cache-dir", "DIR", to_text(&options.cache), "another cache (default: HF_HUB_CACHE)"),
      flag_row("token", "TOKEN", to_text(&options.token), "for private models (default: HF_TOKEN)"),
      flag_row("max-workers", "N", to_integer(&options.parallel, {1, 64}), "files at once (default: 8)"),
      switch_row("quiet", &options.quiet, "print only the folder"),
  };
  return table;
}

}  // namespace

int run_pull_command(const Invocation& invocation) {
  PullOptions options;
  const auto outcome = read_flags(pull_table(options, invocation), invocation);
  if (outcome.exit) return *outcome.exit;
  if (!hub::is_hub_name(options.model))
    return report_error(invocation,
                        {ErrorCode::kInvalidArgument,
                         options.model.empty() ? "which model? pagoda pull ORG/NAME"
                                               : format("'{}' is no model of a hub: ORG/NAME", options.model),
                         "model"});
  hub::HubSettings settings = hub::settings_from_environment();
  if (!options.cache.empty()) settings.cache = options.cache;
  if (!options.token.empty()) {
    settings.token = options.token;
    settings.token_origin = "--token";
  }
  hub::PullRequest request;
  request.model = options.model;
  request.revision = options.revision;
  request.patterns = options.patterns;
  request.parallel = options.parallel;
  PullProgressDisplay display(options.model);
  const auto folder = hub::pull(request, settings, [&](const auto& progress, const auto& state) {
    if (!options.quiet) display.begin(progress, state);
  });
  display.finish();
  if (!folder) return report_error(invocation, folder.error());
  fmt::print("{}\n", folder->string());
  return kExitOk;
}

}  // namespace pagoda::app
