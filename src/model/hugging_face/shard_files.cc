#include "model/hugging_face/shard_files.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/format.h"

namespace pagoda::model {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

}  // namespace

Result<std::set<std::string>> shard_names(const std::string& folder) {
  std::set<std::string> names;
  const fs::path index_path = fs::path(folder) / "model.safetensors.index.json";
  if (std::ifstream file(index_path, std::ios::binary); file) {
    const Json index = Json::parse(file, nullptr, /*allow_exceptions=*/false);
    if (index.is_discarded())
      return fail(ErrorCode::kCorruptData, format("{}: no valid JSON", index_path.string()));
    if (index.is_object() && index.contains("weight_map")) {
      for (const Json& shard : index["weight_map"]) {
        if (!shard.is_string() || fs::path(shard.get<std::string>()).has_parent_path())
          return fail(ErrorCode::kCorruptData,
                      format("{}: model.safetensors.index.json names no file of the folder: {}", folder,
                             shard.dump()));
        names.insert(shard.get<std::string>());
      }
      return names;
    }
  }
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".safetensors") names.insert(entry->path().filename().string());
  }
  return names;
}

Result<int64_t> stored_weight_bytes(const std::string& folder) {
  PAGODA_ASSIGN(const std::set<std::string> names, shard_names(folder));
  int64_t sum = 0;
  for (const std::string& name : names) {
    std::error_code error;
    const auto size = fs::file_size(fs::path(folder) / name, error);
    if (error)
      return fail(ErrorCode::kNotFound,
                  format("{}: the shard {} is missing; fetch the model again", folder, name));
    sum += static_cast<int64_t>(size);
  }
  return sum;
}

}  // namespace pagoda::model
