#include "app/plan_model.h"

#include <filesystem>
#include <vector>

#include "app/hub_model.h"
#include "app/model_cache.h"
#include "app/nearest.h"
#include "base/format.h"
#include "model/gguf_facts.h"
#include "model/hugging_face/config_facts.h"
#include "model/hugging_face/shard_files.h"
#include "model/known_models.h"
#include "model/weight_loader.h"

namespace pagoda::app {
namespace {

namespace fs = std::filesystem;

std::string name_of_path(const fs::path& path) {
  const fs::path plain = path.lexically_normal();
  return (plain.has_filename() ? plain : plain.parent_path()).filename().string();
}

// A folder of Hugging Face: sizes from config.json, whatever the engine makes of it.
Result<PlannedModel> from_folder(const fs::path& folder, const std::string& argument,
                                 model::Precision precision) {
  PlannedModel planned;
  planned.argument = argument;
  PAGODA_ASSIGN(planned.facts, model::facts_of_config_file((folder / "config.json").string()));
  planned.facts.name = name_of_path(folder);
  PAGODA_ASSIGN(const int64_t stored, model::stored_weight_bytes(folder.string()));
  if (stored == 0) {
    planned.engine_refusal = format("{} holds no *.safetensors", folder.string());
    return planned;
  }
  planned.has_weights = true;
  planned.stored_bytes = stored;
  const auto source = model::open_weights(folder.string());
  if (!source && source.error().code != ErrorCode::kUnsupported) return Unexpected(source.error());
  if (!source) {
    planned.engine_refusal = source.error().message;
    return planned;
  }
  planned.stored_bytes = (*source)->tensor_bytes();
  planned.packed_bytes = model::packed_weight_bytes(**source, precision);
  planned.float32 = model::resolved_precision(**source, precision) == model::Precision::kFloat32;
  return planned;
}

Result<PlannedModel> from_config(const fs::path& path, const std::string& argument) {
  PlannedModel planned;
  planned.argument = argument;
  PAGODA_ASSIGN(planned.facts, model::facts_of_config_file(path.string()));
  planned.facts.name = name_of_path(path.parent_path().empty() ? path : path.parent_path());
  planned.engine_refusal = "a config.json has no weights";
  return planned;
}

Result<PlannedModel> from_path(const fs::path& path, const std::string& argument,
                               model::Precision precision) {
  std::error_code error;
  if (fs::is_directory(path, error) && model::is_hugging_face_folder(path.string())) {
    if (!fs::exists(path / "config.json", error))
      return fail(ErrorCode::kNotFound,
                  format("{} is missing: it names the architecture", (path / "config.json").string()),
                  "model");
    return from_folder(path, argument, precision);
  }
  if (path.extension() == ".json") return from_config(path, argument);
  PAGODA_ASSIGN(const auto source, model::open_weights(path.string()));
  return planned_model_of(*source, argument, precision);
}

Result<PlannedModel> from_known_name(const std::string& argument) {
  PlannedModel planned;
  planned.argument = argument;
  PAGODA_ASSIGN(planned.facts, model::facts_of_known_model(argument));
  planned.engine_refusal = "its files are not on this machine";
  return planned;
}

// Neither here nor known: what it may have been.
Error unknown_model(const std::string& argument) {
  std::vector<std::string_view> names = model::known_model_names();
  const auto cached = list_models(model_cache_folder());
  for (const auto& model : cached) names.push_back(model.name);
  const std::string plain = model::plain_model_name(argument);
  std::string remedy = "give a folder, a .gguf file or a config.json";
  std::vector<std::string> plain_names;
  for (std::string_view name : names) plain_names.push_back(model::plain_model_name(name));
  const std::vector<std::string_view> views(plain_names.begin(), plain_names.end());
  if (const auto close = nearest(plain, views)) {
    for (size_t i = 0; i < views.size(); ++i) {
      if (views[i] == *close) remedy = format("did you mean {}? Else {}", names[i], remedy);
      if (views[i] == *close) break;
    }
  }
  return {ErrorCode::kNotFound,
          format("no model '{}': no such file, not in the cache and not among the known ones; {}", argument,
                 remedy),
          "model"};
}

}  // namespace

Result<PlannedModel> planned_model_of(const model::WeightSource& source, const std::string& argument,
                                      model::Precision precision) {
  PlannedModel planned;
  planned.argument = argument;
  PAGODA_ASSIGN(planned.facts, model::facts_of_weights(source));
  if (planned.facts.name.empty()) planned.facts.name = name_of_path(source.path());
  planned.has_weights = true;
  planned.stored_bytes = source.tensor_bytes();
  if (const auto config = model::read_config(source.metadata()); !config) {
    planned.engine_refusal = config.error().message;
    return planned;
  }
  planned.packed_bytes = model::packed_weight_bytes(source, precision);
  planned.float32 = model::resolved_precision(source, precision) == model::Precision::kFloat32;
  return planned;
}

Result<PlannedModel> find_planned_model(const std::string& argument, model::Precision precision) {
  std::error_code error;
  if (fs::exists(argument, error)) return from_path(argument, argument, precision);
  if (const auto cached = resolve_model(argument, model_cache_folder(),
                                        [](const std::string& name) { return pulled_model(name); }))
    return from_path(*cached, argument, precision);
  auto known = from_known_name(argument);
  if (known || known.error().code != ErrorCode::kNotFound) return known;
  // What looks like a path was meant as one.
  if (argument.starts_with('/') || argument.starts_with('.') || argument.ends_with(".gguf") ||
      argument.ends_with(".json"))
    return fail(ErrorCode::kNotFound, format("{}: no such file or folder", argument), "model");
  return Unexpected(unknown_model(argument));
}

}  // namespace pagoda::app
