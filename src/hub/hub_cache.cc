#include "hub/hub_cache.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/atomic_file.h"
#include "base/format.h"

namespace pagoda::hub {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kIndex = "model.safetensors.index.json";

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
         c == '.';
}

bool is_commit(const std::string& text) {
  return text.size() >= 7 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

std::string folder_name(std::string_view hub_name) {
  const size_t slash = hub_name.find('/');
  return format("models--{}--{}", hub_name.substr(0, slash), hub_name.substr(slash + 1));
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

}  // namespace

bool is_hub_name(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == text.npos || slash == 0 || slash + 1 >= text.size()) return false;
  const std::string_view parts[] = {text.substr(0, slash), text.substr(slash + 1)};
  return std::all_of(std::begin(parts), std::end(parts), [](std::string_view part) {
    return part[0] != '.' && std::all_of(part.begin(), part.end(), is_plain);
  });
}

ModelFolder::ModelFolder(const fs::path& cache, std::string_view hub_name)
    : path_(cache / folder_name(hub_name)), locks_(cache / ".locks" / folder_name(hub_name)) {}

fs::path ModelFolder::find(const std::string& revision) const {
  std::string commit = revision;
  if (!is_commit(revision) || !is_folder(snapshot(revision))) {
    const auto ref = read_whole_file((path_ / "refs" / revision).string(), 4096);
    if (!ref) return {};
    commit = ref->substr(0, ref->find_last_not_of(" \r\n\t") + 1);
  }
  const bool leads_outside = commit.empty() || commit[0] == '.' || commit.find('/') != commit.npos;
  return !leads_outside && is_folder(snapshot(commit)) ? snapshot(commit) : fs::path();
}

Status ModelFolder::write_ref(const std::string& revision, const std::string& commit) const {
  if (revision == commit) return {};
  return write_file_atomically((path_ / "refs" / revision).string(), commit);
}

Status ModelFolder::link(const std::string& commit, const std::string& file, const std::string& etag) const {
  const fs::path place = snapshot(commit) / file;
  fs::path target;
  for (const auto& part : fs::path(file)) target /= part.empty() ? "" : "..";
  target = target / ".." / "blobs" / etag;
  std::error_code error;
  fs::create_directories(place.parent_path(), error);
  if (!error && fs::read_symlink(place, error) == target) return {};
  fs::remove(place, error);
  fs::create_symlink(target, place, error);
  // Another run may have been quicker.
  if (!error || error == std::errc::file_exists) return {};
  return fail(ErrorCode::kUnavailable, format("{}: cannot be made: {}", place.string(), error.message()));
}

std::vector<std::string> missing_parts(const fs::path& snapshot) {
  std::error_code error;
  if (const auto text = read_whole_file((snapshot / kIndex).string(), size_t{256} << 20)) {
    const auto index = nlohmann::json::parse(*text, nullptr, false);
    std::set<std::string> shards;
    if (index.is_object() && index.contains("weight_map") && index["weight_map"].is_object()) {
      for (const auto& shard : index["weight_map"]) {
        if (shard.is_string()) shards.insert(shard.get<std::string>());
      }
    }
    std::vector<std::string> missing;
    for (const std::string& shard : shards) {
      if (!fs::exists(snapshot / shard, error)) missing.push_back(shard);
    }
    return missing;
  }
  for (const auto& entry : fs::directory_iterator(snapshot, error)) {
    const std::string name = entry.path().filename().string();
    const bool weights = name.ends_with(".safetensors") || name.ends_with(".gguf");
    if (weights && fs::exists(entry.path(), error)) return {};
  }
  return {"weights (*.safetensors or *.gguf)"};
}

}  // namespace pagoda::hub
