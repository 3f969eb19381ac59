// A JSON value that comes in pieces on the command line: --flag '{"a": 1}' --flag.b.c 2 --flag.list+ x,y
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pagoda::app {

struct JsonPiece {
  std::string path;   // "b.c", "list+"; empty: `value` is the whole
  std::string value;  // JSON, a number such as 8k, or else a text
};

// Objects are merged, lists joined, other values replaced by later ones; pieces with a path lie over the
// whole.
Result<std::string> assemble_json(const std::vector<JsonPiece>& pieces);

}  // namespace pagoda::app
