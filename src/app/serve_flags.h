// Every flag of `vllm serve` that users bring, as rows bound to a ServeOptions: those that work, those that
// have nothing to change here, and those that are refused until their feature is there.
#pragma once

#include <span>
#include <string>

#include "app/flags.h"
#include "app/serve_options.h"

namespace pagoda::app {

// `options` outlives the table.
FlagTable serve_flag_table(ServeOptions& options, const std::string& program);

struct ServeRequest {
  ServeOptions options;
  ParsedFlags parsed;
};

struct ServeDefaults {
  bool all_interfaces = false;        // called as vllm or tritonserver, or inside our image: host 0.0.0.0
  std::vector<std::string> api_keys;  // of the environment; flags win
};
ServeDefaults serve_defaults(bool drop_in);

// Parses and checks what concerns several flags at once.
Result<ServeRequest> parse_serve_flags(std::span<const std::string> arguments, const ServeDefaults& defaults,
                                       const std::string& program);

}  // namespace pagoda::app
