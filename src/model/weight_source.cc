#include "model/weight_source.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/format.h"
#include "model/gguf_file.h"
#include "model/hugging_face/folder.h"

namespace pagoda::model {
namespace {

namespace fs = std::filesystem;

constexpr size_t kListed = 8;  // names that an error prints before it says how many more there are

std::string file_name(const fs::path& path) {
  return path.filename().string();
}

// "NAME-00002-of-00005.gguf": a part other than the first.
bool is_following_part(const std::string& name) {
  constexpr size_t kSuffix = std::char_traits<char>::length("-00001-of-00005.gguf");
  if (name.size() < kSuffix) return false;
  const std::string suffix = name.substr(name.size() - kSuffix);
  return suffix[0] == '-' && suffix.compare(6, 4, "-of-") == 0 && suffix.compare(1, 5, "00001") != 0 &&
         suffix.find_first_not_of("0123456789", 1) == 6;
}

struct Listing {
  std::vector<std::string> models;  // *.gguf, sorted; of a split model its first file only
  bool has_safetensors = false;
  bool has_config = false;

  bool is_hugging_face() const { return has_safetensors || (has_config && models.empty()); }
};

Result<Listing> list_folder(const fs::path& folder) {
  Listing listing;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = file_name(entry->path());
    if (name.ends_with(".gguf") && !is_following_part(name)) listing.models.push_back(name);
    if (name.ends_with(".safetensors")) listing.has_safetensors = true;
    if (name == "config.json") listing.has_config = true;
  }
  if (error)
    return fail(ErrorCode::kInvalidArgument,
                format("{}: cannot read the folder: {}", folder.string(), error.message()));
  std::sort(listing.models.begin(), listing.models.end());
  return listing;
}

// The one GGUF file that the folder holds.
Result<std::string> model_in(const std::string& folder, const Listing& listing) {
  if (listing.models.size() == 1) return (fs::path(folder) / listing.models[0]).string();
  if (listing.models.empty())
    return fail(ErrorCode::kNotFound,
                format("{}: a folder without a .gguf file, and no Hugging Face folder: it has no config.json",
                       folder));
  std::string names;
  for (size_t i = 0; i < std::min(kListed, listing.models.size()); ++i)
    names += (i > 0 ? ", " : "") + listing.models[i];
  if (listing.models.size() > kListed) names += format(" and {} more", listing.models.size() - kListed);
  return fail(ErrorCode::kInvalidArgument,
              format("{}: holds {} models, say which: {}", folder, listing.models.size(), names));
}

struct KnownFormat {
  std::string_view begins_with;
  size_t at;
  std::string_view is;
};

// What people hand over in place of a GGUF file.
constexpr KnownFormat kOtherFormats[] = {
    {"version https://git-lfs", 0, "a Git LFS pointer, not the model itself: fetch it with `git lfs pull`"},
    {"{\"", 8, "a safetensors file: give the folder with its config.json and tokenizer.json"},
    {"PK\x03\x04", 0, "a zip archive (a PyTorch checkpoint or a wheel): give a .gguf file"},
    {"tjgg", 0, "a GGML file of before GGUF: convert the model again with a current converter"},
    {"fmgg", 0, "a GGML file of before GGUF: convert the model again with a current converter"},
    {"lmgg", 0, "a GGML file of before GGUF: convert the model again with a current converter"},
    {"<!DOCTYPE", 0, "a web page, not a model: the download went wrong"},
    {"<html", 0, "a web page, not a model: the download went wrong"},
};

// The error for a file that is no GGUF, with its true nature where its first bytes tell.
Error not_a_model(const std::string& path, Error error) {
  auto file = MappedFile::open(path);
  if (!file) return error;
  const std::string_view bytes(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
  for (const KnownFormat& known : kOtherFormats) {
    if (bytes.size() > known.at && bytes.substr(known.at).starts_with(known.begins_with))
      return {ErrorCode::kUnsupported, format("{}: {}", path, known.is), {}};
  }
  return error;
}

}  // namespace

bool is_hugging_face_folder(const std::string& path) {
  const auto listing = list_folder(path);
  return listing && listing->is_hugging_face();
}

Result<std::unique_ptr<WeightSource>> open_weights(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found)
    return fail(ErrorCode::kNotFound, format("{}: no such file or folder", path));
  if (error) return fail(ErrorCode::kInvalidArgument, format("{}: {}", path, error.message()));
  std::string file_path = path;
  if (fs::is_directory(status)) {
    PAGODA_ASSIGN(const Listing listing, list_folder(path));
    if (listing.is_hugging_face()) {
      PAGODA_ASSIGN(auto folder, HuggingFaceFolder::open(path));
      return std::unique_ptr<WeightSource>(std::move(folder));
    }
    PAGODA_ASSIGN(file_path, model_in(path, listing));
  }
  auto file = GgufFile::open(file_path);
  if (file) return std::unique_ptr<WeightSource>(std::move(*file));
  if (file.error().code == ErrorCode::kCorruptData) return Unexpected(not_a_model(file_path, file.error()));
  return Unexpected(std::move(file).error());
}

}  // namespace pagoda::model
