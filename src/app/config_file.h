// The YAML file behind --config: a map from flag names to values, as `vllm serve --config` reads it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace pagoda::app {

struct ConfigEntry {
  std::string key;                  // as written
  std::vector<std::string> values;  // a scalar's text, a list's texts, or a map as one JSON text
  int line = 0;                     // from 1
};

// Entries in the file's order; those whose value is null are left out.
Result<std::vector<ConfigEntry>> read_config_file(const std::string& path);
// The same from a text; `name` stands for the file in errors.
Result<std::vector<ConfigEntry>> read_config(const std::string& yaml, const std::string& name);

}  // namespace pagoda::app
