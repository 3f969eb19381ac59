#include "app/inspect_command.h"

#include <nlohmann/json.hpp>

#include "app/command_words.h"
#include "app/flag_values.h"
#include "app/hub_model.h"
#include "app/model_cache.h"
#include "app/model_facts.h"
#include "base/format.h"

namespace pagoda::app {
namespace {

struct InspectOptions {
  std::string model, revision = "main";
  bool json = false;
};

FlagTable inspect_table(InspectOptions& options, const Invocation& invocation) {
  FlagTable table;
  table.usage = invocation.program + " MODEL [flags]";
  table.summary = "What a model is: architecture, parameters, dtypes, tokenizer, template, context, memory.";
  table.positional = "model";
  table.examples = {{"pagoda inspect model.gguf", "a file"},
                    {"pagoda inspect Qwen/Qwen2.5-0.5B-Instruct", "out of the Hugging Face cache"}};
  table.flags = {
      flag_row("model", "MODEL", to_text(&options.model),
               "a .gguf file, a folder, a cached model's name, or ORG/NAME that was pulled; also as the "
               "first word"),
      flag_row("revision", "REVISION", to_text(&options.revision), "of ORG/NAME (default: main)"),
      switch_row("json", &options.json, "print JSON"),
  };
  return table;
}

}  // namespace

int run_inspect_command(const Invocation& invocation) {
  InspectOptions options;
  const auto outcome = read_flags(inspect_table(options, invocation), invocation);
  if (outcome.exit) return *outcome.exit;
  if (options.model.empty())
    return report_error(invocation,
                        {ErrorCode::kInvalidArgument, "which model? pagoda inspect MODEL", "model"});
  const auto path = resolve_model(options.model, model_cache_folder(), [&](const std::string& name) {
    return pulled_model(name, options.revision);
  });
  if (!path) return report_error(invocation, path.error());
  const auto facts = read_model_facts(path->string());
  if (!facts) return report_error(invocation, facts.error());
  if (options.json) {
    fmt::print("{}\n", facts_json(*facts).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    fmt::print("{}", facts_text(*facts));
  }
  return kExitOk;
}

}  // namespace pagoda::app
