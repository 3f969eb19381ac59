// ORG/NAME, as `vllm serve` takes it: out of the cache that the Hugging Face tools share, or fetched into it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "hub/hub_client.h"
#include "hub/hub_settings.h"

namespace pagoda::app {

// Of a model's files those that serving reads: weights at its top (safetensors, else its one GGUF file),
// configuration, tokenizer, template. kInvalidArgument names the GGUF files where there are several;
// kUnsupported where there are only pickled weights, which are never opened.
Result<std::vector<hub::RemoteFile>> files_to_serve(const std::string& model,
                                                    std::vector<hub::RemoteFile> files);

// The folder of the model's files. What is in the cache and whole is taken as it is; else it is fetched, with
// progress on stderr. The error of a machine without a network, or told to be offline, names the folder that
// would do.
Result<std::filesystem::path> model_from_hub(const std::string& model, const std::string& revision,
                                             const hub::HubSettings& settings);

// The same of what is in the cache, and nothing is fetched: a look at a model is no reason to move gigabytes.
Result<std::filesystem::path> pulled_model(const std::string& model, const std::string& revision = "main");

}  // namespace pagoda::app
