#include "api/openai/model_names.h"

#include <algorithm>

namespace pagoda::api {
namespace {

constexpr std::string_view kGgufSuffix = ".gguf";

std::string_view last_component(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string_view without_gguf(std::string_view name) {
  if (name.size() > kGgufSuffix.size() && name.ends_with(kGgufSuffix)) name.remove_suffix(kGgufSuffix.size());
  return name;
}

std::string_view without_trailing_slash(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  return path;
}

}  // namespace

bool ModelNames::matches(std::string_view name) const {
  if (name.empty()) return true;
  if (std::find(served.begin(), served.end(), name) != served.end()) return true;
  if (path.empty()) return false;
  const std::string_view base = last_component(path);
  return without_trailing_slash(name) == without_trailing_slash(path) || name == base ||
         name == without_gguf(base);
}

std::string model_name_of_path(std::string_view path) {
  return std::string(without_gguf(last_component(path)));
}

}  // namespace pagoda::api
