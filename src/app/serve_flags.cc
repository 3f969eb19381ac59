#include "app/serve_flags.h"

#include <cstdlib>

#include "app/serve_flag_rows.h"
#include "base/format.h"

namespace pagoda::app {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void add_group(FlagTable& table, std::string_view group, FlagRows rows) {
  for (Flag& row : rows) {
    row.group = group;
    table.flags.push_back(std::move(row));
  }
}

Status check_together(const ServeRequest& request) {
  const ServeOptions& options = request.options;
  if (options.tls_key_file.empty() != options.tls_certificate_file.empty()) {
    const bool has_key = !options.tls_key_file.empty();
    return fail(ErrorCode::kInvalidArgument,
                format("--{} is given without --{}; HTTPS needs both",
                       has_key ? "ssl-keyfile" : "ssl-certfile", has_key ? "ssl-certfile" : "ssl-keyfile"),
                has_key ? "ssl-certfile" : "ssl-keyfile");
  }
  if (options.tls_certificate_file.empty() && !options.tls_client_ca_file.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "--ssl-ca-certs checks clients of HTTPS: give --ssl-keyfile and --ssl-certfile too",
                "ssl-ca-certs");
  }
  if (options.tls_certificate_file.empty() &&
      options.client_certificate != http::TlsFiles::ClientCertificate::kNone) {
    return fail(ErrorCode::kInvalidArgument,
                "--ssl-cert-reqs checks clients of HTTPS: give --ssl-keyfile and --ssl-certfile too",
                "ssl-cert-reqs");
  }
  if (!options.root_path.empty() && !options.root_path.starts_with('/')) {
    return fail(ErrorCode::kInvalidArgument,
                format("--root-path: '{}' does not begin with /", options.root_path), "root-path");
  }
  return check_speculation(options.speculation);
}

void warn_of_shadowed_flags(ServeRequest& request) {
  const auto& given = request.parsed.given;
  if (!request.options.unix_socket.empty() && (given.contains("host") || given.contains("port"))) {
    request.parsed.warnings.push_back("--host and --port have no effect beside --uds");
  }
  if (request.options.blocks_override > 0 && request.options.kv_cache_bytes > 0) {
    request.parsed.warnings.push_back(
        "--kv-cache-memory-bytes has no effect beside --num-gpu-blocks-override");
  }
}

}  // namespace

Flag works(std::string_view name, Takes takes, std::string_view value_name, Setter set, std::string help) {
  Flag flag;
  flag.name = name;
  flag.takes = takes;
  flag.value_name = value_name;
  flag.set = std::move(set);
  flag.help = std::move(help);
  return flag;
}

Flag no_effect(std::string_view name, Takes takes, std::string_view reason) {
  Flag flag;
  flag.name = name;
  flag.takes = takes;
  flag.value_name = takes == Takes::kNothing ? "" : "VALUE";
  flag.standing = Standing::kWithoutMeaning;
  flag.reason = reason;
  return flag;
}

Flag not_yet(std::string_view name, Takes takes, std::string_view reason,
             std::vector<std::string_view> harmless) {
  Flag flag = no_effect(name, takes, reason);
  flag.standing = Standing::kNotYet;
  flag.harmless = std::move(harmless);
  return flag;
}

Flag also(std::vector<std::string_view> aliases, Flag flag) {
  flag.aliases = std::move(aliases);
  return flag;
}

FlagTable serve_flag_table(ServeOptions& options, const std::string& program) {
  FlagTable table;
  table.usage = program + " [MODEL] [flags]";
  table.summary = "Serves a language model over the OpenAI API. Without MODEL: lists the cached ones.";
  table.examples = {
      {"pagoda serve SmolLM2-135M-Instruct.Q4_1", "a cached model, on http://127.0.0.1:8000"},
      {"pagoda serve /models/llama-3.2-1b.gguf --port 8080 --api-key SECRET --host 0.0.0.0",
       "for other machines, with a key"},
      {"pagoda serve MODEL --max-model-len 8k --max-num-seqs 32 --swap-space 2",
       "less memory per request, room for preempted ones"},
  };
  table.positional = "model";
  table.config = "config";
  add_group(table, "Model", model_rows(options));
  add_group(table, "Network", network_rows(options));
  add_group(table, "Answers", answer_rows(options));
  add_group(table, "KV cache", cache_rows(options));
  add_group(table, "Scheduling", scheduling_rows(options));
  add_group(table, "Speculation", speculation_rows(options));
  add_group(table, "Parallel", parallel_rows());
  add_group(table, "Log", log_rows(options));
  add_group(table, "Features", feature_rows());
  add_group(table, "Model repository", model_repository_rows());
  return table;
}

ServeDefaults serve_defaults(bool drop_in) {
  ServeDefaults defaults;
  defaults.all_interfaces = drop_in || variable("PAGODA_IN_CONTAINER") == "1";
  for (const char* name : {"VLLM_API_KEY", "PAGODA_API_KEY"}) {
    if (std::string key = variable(name); !key.empty()) defaults.api_keys.push_back(std::move(key));
  }
  return defaults;
}

Result<ServeRequest> parse_serve_flags(std::span<const std::string> arguments, const ServeDefaults& defaults,
                                       const std::string& program) {
  ServeRequest request;
  if (defaults.all_interfaces) request.options.host = "0.0.0.0";
  request.options.api_keys = defaults.api_keys;
  const FlagTable table = serve_flag_table(request.options, program);
  PAGODA_ASSIGN(request.parsed, parse_flags(table, arguments));
  PAGODA_TRY(check_together(request));
  warn_of_shadowed_flags(request);
  return request;
}

}  // namespace pagoda::app
