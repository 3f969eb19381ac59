#include "app/config_file.h"

#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/format.h"

namespace pagoda::app {
namespace {

using Json = nlohmann::ordered_json;

Json json_of_scalar(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (node.Tag() == "!") return text;  // quoted: a text whatever it looks like
  if (text == "true" || text == "True") return true;
  if (text == "false" || text == "False") return false;
  const auto number = Json::parse(text, nullptr, false);
  return number.is_number() ? number : Json(text);
}

Json json_of(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Map: {
      Json object = Json::object();
      for (const auto& item : node) object[item.first.as<std::string>()] = json_of(item.second);
      return object;
    }
    case YAML::NodeType::Sequence: {
      Json list = Json::array();
      for (const auto& item : node) list.push_back(json_of(item));
      return list;
    }
    case YAML::NodeType::Scalar:
      return json_of_scalar(node);
    case YAML::NodeType::Null:
    case YAML::NodeType::Undefined:
      return nullptr;
  }
  return nullptr;
}

std::vector<std::string> values_of(const YAML::Node& node) {
  if (node.IsScalar()) return {node.Scalar()};
  if (node.IsMap()) return {json_of(node).dump()};
  std::vector<std::string> values;
  for (const auto& item : node) values.push_back(item.IsScalar() ? item.Scalar() : json_of(item).dump());
  return values;
}

}  // namespace

Result<std::vector<ConfigEntry>> read_config(const std::string& yaml, const std::string& name) {
  std::vector<ConfigEntry> entries;
  try {
    const YAML::Node root = YAML::Load(yaml);
    if (root.IsNull()) return entries;
    if (!root.IsMap())
      return fail(ErrorCode::kInvalidArgument, format("{} is not a YAML map of flags", name), "config");
    for (const auto& item : root) {
      if (item.second.IsNull()) continue;
      entries.push_back({item.first.as<std::string>(), values_of(item.second), item.first.Mark().line + 1});
    }
  } catch (const YAML::Exception& fault) {
    return fail(ErrorCode::kInvalidArgument,
                format("{}:{}: not valid YAML: {}", name, fault.mark.line + 1, fault.msg), "config");
  } catch (const std::exception& fault) {
    return fail(ErrorCode::kInvalidArgument, format("{}: {}", name, fault.what()), "config");
  }
  return entries;
}

Result<std::vector<ConfigEntry>> read_config_file(const std::string& path) {
  std::ifstream file(path);
  if (!file || std::filesystem::is_directory(path)) {
    return fail(ErrorCode::kNotFound, format("cannot read the config file {}", path), "config");
  }
  std::ostringstream text;
  text << file.rdbuf();
  return read_config(text.str(), path);
}

}  // namespace pagoda::app
