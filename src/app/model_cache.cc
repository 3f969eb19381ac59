#include "app/model_cache.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "app/nearest.h"
#include "base/format.h"
#include "hub/hub_cache.h"
#include "model/weight_source.h"

namespace pagoda::app {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_gguf(const fs::directory_entry& entry) {
  std::error_code error;
  return entry.is_regular_file(error) && entry.path().extension() == ".gguf";
}

std::vector<fs::path> gguf_files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (is_gguf(entry)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

CachedModel described(std::string name, const fs::path& path) {
  std::error_code error;
  const auto bytes = fs::file_size(path, error);
  return {std::move(name), path, error ? 0 : static_cast<int64_t>(bytes)};
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string as_name(const std::string& text) {
  const std::string name = lower(text);
  return name.ends_with(".gguf") ? name.substr(0, name.size() - 5) : name;
}

Result<fs::path> only_model_in(const fs::path& folder) {
  if (model::is_hugging_face_folder(folder.string())) return folder;
  const auto files = gguf_files_in(folder);
  if (files.size() == 1) return files.front();
  if (!files.empty()) {
    std::string names;
    for (const auto& file : files) names += (names.empty() ? "" : ", ") + file.filename().string();
    return fail(
        ErrorCode::kInvalidArgument,
        format("{} holds {} models: {}; name one of these files", folder.string(), files.size(), names),
        "model");
  }
  return fail(ErrorCode::kNotFound,
              format("{} is a folder without a .gguf file, and no Hugging Face folder: it has no config.json",
                     folder.string()),
              "model");
}

std::string what_there_is(const std::string& wanted, const std::vector<CachedModel>& cached) {
  if (cached.empty()) return "the model cache is empty";
  std::vector<std::string_view> names;
  std::string all;
  for (const auto& model : cached) {
    names.push_back(model.name);
    all += (all.empty() ? "" : ", ") + model.name;
  }
  if (const auto close = nearest(wanted, names)) return format("did you mean {}?", *close);
  return "in the cache: " + all;
}

}  // namespace

fs::path model_cache_folder() {
  if (const std::string xdg = variable("XDG_CACHE_HOME"); !xdg.empty())
    return fs::path(xdg) / "pagoda" / "models";
  const std::string home = variable("HOME");
  return fs::path(home.empty() ? "/" : home) / ".cache" / "pagoda" / "models";
}

std::vector<CachedModel> list_models(const fs::path& folder) {
  std::vector<CachedModel> models;
  for (const auto& file : gguf_files_in(folder)) models.push_back(described(file.stem().string(), file));
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!entry.is_directory(error)) continue;
    const auto files = gguf_files_in(entry.path());
    for (const auto& file : files) {
      models.push_back(
          described(files.size() == 1 ? entry.path().filename().string() : file.stem().string(), file));
    }
  }
  std::sort(models.begin(), models.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return models;
}

Result<fs::path> resolve_model(const std::string& argument, const fs::path& folder, const FromHub& from_hub) {
  std::error_code error;
  const fs::path path(argument);
  if (fs::is_directory(path, error)) return only_model_in(path);
  if (fs::exists(path, error)) return path;
  const auto cached = list_models(folder);
  for (const auto& model : cached) {
    const std::string wanted = as_name(argument);
    if (wanted == lower(model.name) || wanted == as_name(model.path.filename().string())) return model.path;
  }
  if (hub::is_hub_name(argument)) {
    PAGODA_ASSIGN(const fs::path snapshot, from_hub(argument));
    return only_model_in(snapshot);
  }
  return fail(ErrorCode::kNotFound,
              format("no model '{}': no such file or folder, and not in {} ({})", argument, folder.string(),
                     what_there_is(argument, cached)),
              "model");
}

}  // namespace pagoda::app
