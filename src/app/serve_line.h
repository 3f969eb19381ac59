// A `pagoda serve` command line as a plan suggests it, and whether this version takes it.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace pagoda::app {

// Flags by name without dashes, in order; a later one of the same name replaces the earlier.
using ServeFlags = std::vector<std::pair<std::string, std::string>>;

struct ServeLine {
  std::string text;     // "pagoda serve MODEL --max-model-len 8192"
  std::string refusal;  // serve's own words why it does not take it; empty: it does
};

ServeLine serve_line(const std::string& model, const ServeFlags& flags);

}  // namespace pagoda::app
