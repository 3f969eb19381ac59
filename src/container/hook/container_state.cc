#include "container/hook/container_state.h"

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/format.h"

namespace pagoda::container {

Result<std::string> root_of_state(std::string_view state) {
  using Json = nlohmann::json;
  const auto value = Json::parse(state, nullptr, false);
  if (!value.is_object() || !value.contains("bundle") || !value["bundle"].is_string()) {
    return fail(
        ErrorCode::kCorruptData,
        "standard input is no container state with a bundle: this program is called by an OCI runtime");
  }
  const std::string bundle = value["bundle"].get<std::string>();
  std::ifstream file(bundle + "/config.json");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto config = Json::parse(text, nullptr, false);
  const auto root = config.is_object() ? config.find("root") : config.end();
  if (!config.is_object() || root == config.end() || !root->is_object() || !root->contains("path") ||
      !(*root)["path"].is_string()) {
    return fail(ErrorCode::kCorruptData, format("{}/config.json names no root", bundle));
  }
  const std::string path = (*root)["path"].get<std::string>();
  return path.starts_with('/') ? path : format("{}/{}", bundle, path);
}

}  // namespace pagoda::container
