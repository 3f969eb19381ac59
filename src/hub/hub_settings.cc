#include "hub/hub_settings.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

#include "base/atomic_file.h"

namespace pagoda::hub {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPublicEndpoint = "https://huggingface.co";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_true(std::string value) {
  for (char& c : value) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  constexpr std::array<std::string_view, 4> kTrue = {"1", "ON", "YES", "TRUE"};
  return std::find(kTrue.begin(), kTrue.end(), value) != kTrue.end();
}

// "~/models" → the folder models of $HOME, as Python's expanduser.
fs::path expanded(const std::string& path) {
  if (path != "~" && !path.starts_with("~/")) return path;
  return fs::path(variable("HOME")) / fs::path(path.substr(std::min<size_t>(path.size(), 2)));
}

std::string trimmed(std::string text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
  while (!text.empty() && is_space(text.back())) text.pop_back();
  text.erase(0, static_cast<size_t>(std::find_if_not(text.begin(), text.end(), is_space) - text.begin()));
  return text;
}

fs::path home_folder() {
  if (const std::string home = variable("HF_HOME"); !home.empty()) return expanded(home);
  if (const std::string cache = variable("XDG_CACHE_HOME"); !cache.empty())
    return fs::path(cache) / "huggingface";
  return fs::path(variable("HOME")) / ".cache" / "huggingface";
}

void read_token(HubSettings& settings, const fs::path& home) {
  for (const char* name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"}) {
    settings.token = trimmed(variable(name));
    settings.token_origin = name;
    if (!settings.token.empty()) return;
  }
  const std::string named = variable("HF_TOKEN_PATH");
  const fs::path file = named.empty() ? home / "token" : expanded(named);
  const auto content = read_whole_file(file.string(), 4096);
  settings.token = content ? trimmed(*content) : "";
  settings.token_origin = file.string();
}

}  // namespace

HubSettings settings_from_environment() {
  HubSettings settings;
  settings.endpoint = variable("HF_ENDPOINT");
  if (settings.endpoint.empty()) settings.endpoint = kPublicEndpoint;
  while (settings.endpoint.ends_with('/')) settings.endpoint.pop_back();
  const fs::path home = home_folder();
  std::string cache = variable("HF_HUB_CACHE");
  if (cache.empty()) cache = variable("HUGGINGFACE_HUB_CACHE");  // its older name
  settings.cache = cache.empty() ? home / "hub" : expanded(cache);
  settings.offline = is_true(variable("HF_HUB_OFFLINE")) || is_true(variable("TRANSFORMERS_OFFLINE"));
  if (!is_true(variable("HF_HUB_DISABLE_IMPLICIT_TOKEN"))) read_token(settings, home);
  return settings;
}

}  // namespace pagoda::hub
