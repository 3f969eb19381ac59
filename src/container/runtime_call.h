// The command line of an OCI runtime, as far as a wrapper must understand it.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/result.h"

namespace pagoda::container {

struct RuntimeCall {
  bool creates = false;  // create or run: the bundle is to be edited
  std::string bundle = ".";
  std::string log_file;      // --log: where the engine looks for the error's text
  bool log_is_json = false;  // --log-format json
};

// Never fails: what it does not know is the inner runtime's business.
RuntimeCall read_runtime_call(std::span<const std::string> arguments);

// Adds one error to the runtime's log in its own format, so that docker and containerd show it.
void log_for_engine(const RuntimeCall& call, const std::string& message);

}  // namespace pagoda::container
