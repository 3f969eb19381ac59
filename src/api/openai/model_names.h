// Which names mean the served model: what users paste is its alias, its path, or its folder's or file's name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pagoda::api {

struct ModelNames {
  std::vector<std::string> served;  // --served-model-name, or the one derived name; never empty
  std::string path;                 // as given on the command line
  // True for a served name, the path, its last component, and that one without ".gguf". An empty name is the
  // served model as well: requests may leave `model` out.
  bool matches(std::string_view name) const;
};

// "/models/Qwen2.5-7B/" → "Qwen2.5-7B"; "m.Q4_1.gguf" → "m.Q4_1".
std::string model_name_of_path(std::string_view path);

}  // namespace pagoda::api
