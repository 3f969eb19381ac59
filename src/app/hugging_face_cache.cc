#include "app/hugging_face_cache.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "base/format.h"

namespace pagoda::app {
namespace {

namespace fs = std::filesystem;

fs::path variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
         c == '.';
}

}  // namespace

fs::path hub_cache_folder() {
  if (const fs::path hub = variable("HF_HUB_CACHE"); !hub.empty()) return hub;
  if (const fs::path home = variable("HF_HOME"); !home.empty()) return home / "hub";
  if (const fs::path cache = variable("XDG_CACHE_HOME"); !cache.empty()) return cache / "huggingface" / "hub";
  return variable("HOME") / ".cache" / "huggingface" / "hub";
}

bool is_hub_name(const std::string& text) {
  const size_t slash = text.find('/');
  return slash != std::string::npos && slash > 0 && slash + 1 < text.size() && text[0] != '.' &&
         text[slash + 1] != '.' && std::all_of(text.begin(), text.end(), [&](const char& c) {
           return is_plain(c) || &c == &text[slash];
         });
}

Result<fs::path> snapshot_of(const std::string& hub_name) {
  const size_t slash = hub_name.find('/');
  const fs::path model =
      hub_cache_folder() / format("models--{}--{}", hub_name.substr(0, slash), hub_name.substr(slash + 1));
  std::string revision;
  std::ifstream(model / "refs" / "main") >> revision;
  const fs::path snapshot = model / "snapshots" / revision;
  std::error_code error;
  if (!revision.empty() && revision.find('/') == std::string::npos && fs::is_directory(snapshot, error))
    return snapshot;
  return fail(
      ErrorCode::kNotFound,
      format("no model '{0}': no such folder, and not in the Hugging Face cache ({1}). This version does not "
             "fetch models: run `hf download {0}`, or give a folder or a .gguf file",
             hub_name, hub_cache_folder().string()),
      "model");
}

}  // namespace pagoda::app
