#include "simulate/scenario.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/format.h"
#include "simulate/key_catalogue.h"
#include "simulate/record_parser.h"
#include "simulate/shipped.h"

namespace pagoda::simulate {
namespace {

constexpr int kFormat = 1;          // "pagoda_scenario: 1"
constexpr int kMostGpus = 64;       // of one scenario
constexpr int kMostExtensions = 4;  // models that stand on one another

// Own values win over those that are there already.
void lay_over(const Record& values, Record& record) {
  for (const auto& [key, value] : values) record[key] = value;
}

// A workload gives a card nothing that its model says it has not.
void lay_workload_over(const Record& values, Record& record) {
  for (const auto& [key, value] : values) {
    const auto known = record.find(key);
    if (known == record.end() || known->second.kind != Value::Kind::kError) record[key] = value;
  }
}

Result<YAML::Node> parse_yaml(const std::string& text, const std::string& file) {
  try {
    return YAML::Load(text);
  } catch (const YAML::Exception& fault) {
    return fail(ErrorCode::kInvalidArgument,
                format("{}:{}: not YAML: {}", file, fault.mark.line + 1, fault.msg));
  }
}

std::string shipped_file(const ShippedText& shipped) {
  return format("{}/{}.yaml", shipped.kind, shipped.name);
}

std::string list_of(std::string_view kind) {
  std::vector<std::string_view> names;
  for (const auto& shipped : shipped_texts()) {
    if (shipped.kind == kind && !shipped.name.starts_with('_')) names.push_back(shipped.name);
  }
  return format("{}", fmt::join(names, ", "));
}

// A model or workload by name into `record`, what it extends first.
Status add_shipped(std::string_view kind, const std::string& name, const YAML::Node& asked,
                   const std::string& file, Record& record, int depth = 0) {
  const ShippedText* shipped = find_shipped(kind, name);
  if (shipped == nullptr) {
    const std::string message =
        format("no {} '{}'; there are {}", kind.substr(0, kind.size() - 1), name, list_of(kind));
    return asked.IsNull() ? Status(fail(ErrorCode::kNotFound, message))
                          : Status(fail_at(asked, file, message));
  }
  const std::string own_file = shipped_file(*shipped);
  PAGODA_ASSIGN(const YAML::Node root, parse_yaml(std::string(shipped->text), own_file));
  if (const YAML::Node base = root["extends"]; base && depth < kMostExtensions)
    PAGODA_TRY(add_shipped(kind, base.as<std::string>(), base, own_file, record, depth + 1));
  constexpr std::array<std::string_view, 1> kReserved = {"extends"};
  Record values;
  PAGODA_TRY(parse_record(root, "", kReserved, own_file, values));
  lay_over(values, record);
  return {};
}

Result<int> count_of(const YAML::Node& node, const std::string& file) {
  const auto number = node.IsScalar() ? parse_number(node.Scalar()) : std::nullopt;
  if (!number || *number < 1 || *number > kMostGpus)
    return fail_at(node, file, format("'count' is a number from 1 to {}", kMostGpus));
  return static_cast<int>(*number);
}

Status add_gpus(const YAML::Node& node, const std::string& file, Scenario& scenario) {
  if (!node.IsMap()) return fail_at(node, file, "a GPU is a mapping: {model: h100, count: 8, …}");
  Record gpu;
  if (const YAML::Node model = node["model"])
    PAGODA_TRY(add_shipped("models", model.as<std::string>(), model, file, gpu));
  if (const YAML::Node workload = node["workload"]) {
    Record load;
    PAGODA_TRY(add_shipped("workloads", workload.as<std::string>(), workload, file, load));
    lay_workload_over(load, gpu);
  }
  constexpr std::array<std::string_view, 3> kReserved = {"model", "workload", "count"};
  Record own;
  PAGODA_TRY(parse_record(node, "", kReserved, file, own));
  lay_over(own, gpu);
  int count = 1;
  if (const YAML::Node wanted = node["count"]) {
    PAGODA_ASSIGN(count, count_of(wanted, file));
  }
  if (scenario.gpus.size() + count > kMostGpus)
    return fail_at(node, file, format("more than {} GPUs", kMostGpus));
  scenario.gpus.insert(scenario.gpus.end(), count, gpu);
  return {};
}

// The system's values that a scenario does not give, from system/system.yaml.
Status add_system_defaults(Scenario& scenario) {
  Record all;
  PAGODA_TRY(add_shipped("system", "system", YAML::Node(), "", all));
  all.insert(scenario.system.begin(), scenario.system.end());
  lay_over(scenario.system, all);
  scenario.system = std::move(all);
  return {};
}

Status check_words(const YAML::Node& root, const std::string& file, std::span<const std::string_view> words) {
  if (!root.IsMap())
    return fail(ErrorCode::kInvalidArgument, format("{}:1: not a scenario: expected a mapping", file));
  for (const auto& entry : root) {
    const std::string word = entry.first.as<std::string>();
    if (std::find(words.begin(), words.end(), word) == words.end())
      return fail_at(entry.first, file,
                     format("'{}' is unknown here; known are {}", word, fmt::join(words, ", ")));
  }
  return {};
}

Result<Scenario> read_scenario(const YAML::Node& root, const std::string& file) {
  constexpr std::array<std::string_view, 4> kWords = {"pagoda_scenario", "description", "system", "gpus"};
  PAGODA_TRY(check_words(root, file, kWords));
  const YAML::Node version = root["pagoda_scenario"];
  if (!version) return fail_at(root, file, "not a scenario: 'pagoda_scenario: 1' is missing");
  if (!version.IsScalar() || version.Scalar() != std::to_string(kFormat))
    return fail_at(version, file, format("this program reads scenarios of format {}", kFormat));
  Scenario scenario;
  if (const YAML::Node system = root["system"])
    PAGODA_TRY(parse_record(system, "system.", {}, file, scenario.system));
  if (const YAML::Node gpus = root["gpus"]) {
    if (!gpus.IsSequence()) return fail_at(gpus, file, "'gpus' is a list of mappings");
    for (const auto& gpu : gpus) PAGODA_TRY(add_gpus(gpu, file, scenario));
  }
  PAGODA_TRY(add_system_defaults(scenario));
  return scenario;
}

Result<Overlay> read_overlay(const YAML::Node& root, const std::string& file) {
  Overlay overlay;
  if (root.IsNull()) return overlay;
  constexpr std::array<std::string_view, 3> kWords = {"epoch_us", "system", "gpus"};
  PAGODA_TRY(check_words(root, file, kWords));
  if (const YAML::Node epoch = root["epoch_us"]) overlay.epoch_us = epoch.as<double>();
  if (const YAML::Node system = root["system"])
    PAGODA_TRY(parse_record(system, "system.", {}, file, overlay.system));
  if (const YAML::Node gpus = root["gpus"]) {
    if (!gpus.IsMap()) return fail_at(gpus, file, "'gpus' maps an index or 'all' to values");
    for (const auto& entry : gpus) {
      const auto selector = entry.first.as<std::string>();
      if (selector != "all" && selector.find_first_not_of("0123456789") != std::string::npos)
        return fail_at(entry.first, file, format("'{}' is no GPU: an index, or 'all'", selector));
      PAGODA_TRY(parse_record(entry.second, "", {}, file, overlay.gpus[selector]));
    }
  }
  return overlay;
}

// yaml-cpp throws on a conversion that does not fit.
template <class T, class Read>
Result<T> guarded(const std::string& text, const std::string& file, Read read) {
  PAGODA_ASSIGN(const YAML::Node root, parse_yaml(text, file));
  try {
    return read(root, file);
  } catch (const YAML::Exception& fault) {
    return fail(ErrorCode::kInvalidArgument, format("{}:{}: {}", file, fault.mark.line + 1, fault.msg));
  }
}

struct MachineName {
  std::string model;
  int count = 1;
  std::string workload;
};

// "h100x8:training"
MachineName split_name(const std::string& asked) {
  MachineName name;
  const size_t colon = asked.find(':');
  name.model = asked.substr(0, colon);
  if (colon != std::string::npos) name.workload = asked.substr(colon + 1);
  const size_t x = name.model.rfind('x');
  if (x == std::string::npos || x + 1 == name.model.size()) return name;
  int count = 0;
  const char* end = name.model.data() + name.model.size();
  const auto [stop, fault] = std::from_chars(name.model.data() + x + 1, end, count);
  if (fault == std::errc() && stop == end && count > 0 && find_shipped("models", name.model) == nullptr) {
    name.count = count;
    name.model.resize(x);
  }
  return name;
}

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) return fail(ErrorCode::kNotFound, format("cannot read the scenario {}", path));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> names_of(std::string_view kind) {
  std::vector<std::string> names;
  for (const auto& shipped : shipped_texts()) {
    if (shipped.kind == kind && !shipped.name.starts_with('_')) names.emplace_back(shipped.name);
  }
  return names;
}

}  // namespace

Result<Scenario> parse_scenario(const std::string& text, const std::string& file) {
  return guarded<Scenario>(text, file, read_scenario);
}

Result<Overlay> parse_overlay(const std::string& text, const std::string& file) {
  return guarded<Overlay>(text, file, read_overlay);
}

bool is_scenario_file(const std::string& asked) {
  return asked.find('/') != std::string::npos || asked.ends_with(".yaml") || asked.ends_with(".yml");
}

Result<Scenario> load_scenario(const std::string& asked) {
  if (is_scenario_file(asked)) {
    PAGODA_ASSIGN(const std::string text, read_file(asked));
    PAGODA_ASSIGN(Scenario scenario, parse_scenario(text, asked));
    scenario.name = asked;
    return scenario;
  }
  if (const ShippedText* shipped = find_shipped("scenarios", asked)) {
    PAGODA_ASSIGN(Scenario scenario, parse_scenario(std::string(shipped->text), shipped_file(*shipped)));
    scenario.name = asked;
    return scenario;
  }
  const MachineName name = split_name(asked);
  if (find_shipped("models", name.model) == nullptr) {
    return fail(ErrorCode::kNotFound,
                format("no scenario or model '{}'; scenarios: {}; models, also as MODELxCOUNT[:WORKLOAD]: {}",
                       asked, list_of("scenarios"), list_of("models")));
  }
  const std::string workload = name.workload.empty() ? "idle" : name.workload;
  return parse_scenario(format("{{pagoda_scenario: 1, gpus: [{{model: {}, count: {}, workload: {}}}]}}",
                               name.model, name.count, workload),
                        asked)
      .map([&](Scenario scenario) {
        scenario.name = asked;
        return scenario;
      });
}

std::vector<std::pair<std::string, std::string>> scenario_descriptions() {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const auto& shipped : shipped_texts()) {
    if (shipped.kind != "scenarios") continue;
    const auto root = parse_yaml(std::string(shipped.text), shipped_file(shipped));
    const YAML::Node description = root ? (*root)["description"] : YAML::Node();
    rows.emplace_back(shipped.name, description.IsScalar() ? description.Scalar() : "");
  }
  return rows;
}
std::vector<std::string> model_names() {
  return names_of("models");
}
std::vector<std::string> workload_names() {
  return names_of("workloads");
}

const ShippedText* find_shipped(std::string_view kind, std::string_view name) {
  for (const auto& shipped : shipped_texts()) {
    if (shipped.kind == kind && shipped.name == name) return &shipped;
  }
  return nullptr;
}

}  // namespace pagoda::simulate
