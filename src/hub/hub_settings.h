// Where models are fetched from and kept, as the environment says it to every tool of the Hugging Face
// family: HF_ENDPOINT, HF_TOKEN (else the file HF_TOKEN_PATH, else $HF_HOME/token), HF_HOME, HF_HUB_CACHE,
// HF_HUB_OFFLINE, HF_HUB_DISABLE_IMPLICIT_TOKEN. Source of the rules: the package `huggingface_hub`.
#pragma once

#include <filesystem>
#include <string>

namespace pagoda::hub {

struct HubSettings {
  std::string endpoint;         // "https://host", without a slash at its end
  std::string token;            // empty: none
  std::string token_origin;     // "HF_TOKEN", a file's path, …: for messages
  std::filesystem::path cache;  // the folder of models--ORG--NAME
  bool offline = false;
};

HubSettings settings_from_environment();

}  // namespace pagoda::hub
