#include "app/hub_model.h"

#include <algorithm>
#include <array>

#include "app/pull_progress.h"
#include "base/format.h"
#include "base/log.h"
#include "hub/hub_cache.h"
#include "hub/pull.h"

namespace pagoda::app {
namespace {

namespace fs = std::filesystem;

constexpr size_t kListed = 12;
constexpr std::array<std::string_view, 5> kTextSuffixes = {".json", ".txt", ".model", ".jinja", ".tiktoken"};
// Folders of sentence-transformers whose configuration says what is done with the last layer.
constexpr std::array<std::string_view, 3> kModules = {"1_Pooling/", "2_Normalize/", "2_Dense/"};

bool at_top(const std::string& path) {
  return path.find('/') == std::string::npos;
}

bool is_weights(const std::string& path, std::string_view suffix) {
  return at_top(path) && path.ends_with(suffix) && !path.starts_with("consolidated") &&
         !path.starts_with("mmproj");
}

bool is_text(const std::string& path) {
  const bool known = std::any_of(kTextSuffixes.begin(), kTextSuffixes.end(),
                                 [&](std::string_view suffix) { return path.ends_with(suffix); });
  return known &&
         (at_top(path) || std::any_of(kModules.begin(), kModules.end(),
                                      [&](std::string_view module) { return path.starts_with(module); }));
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < std::min(kListed, names.size()); ++i) text += (i > 0 ? ", " : "") + names[i];
  return names.size() > kListed ? text + format(" and {} more", names.size() - kListed) : text;
}

// What a person without a network can do.
std::string without_network(const std::string& model, const hub::HubSettings& settings) {
  return format(
      "Without a network, bring its folder by other means: `pagoda serve FOLDER` takes one with config.json, "
      "*.safetensors and tokenizer.json, or a .gguf file; or copy {} from a machine that has it",
      hub::ModelFolder(settings.cache, model).path().string());
}

// Readers of the cache may be given a snapshot that is not all there: by --include, or by an interrupted run.
std::string what_is_here(const fs::path& snapshot) {
  if (snapshot.empty()) return "not in the cache";
  return format("the cache has only a part of it ({} lacks {})", snapshot.string(),
                joined(hub::missing_parts(snapshot)));
}

}  // namespace

Result<std::vector<hub::RemoteFile>> files_to_serve(const std::string& model,
                                                    std::vector<hub::RemoteFile> files) {
  const auto count = [&](std::string_view suffix) {
    return std::count_if(files.begin(), files.end(),
                         [&](const auto& f) { return is_weights(f.path, suffix); });
  };
  const bool safetensors = count(".safetensors") > 0;
  const auto ggufs = count(".gguf");
  if (!safetensors && ggufs == 0) {
    const bool pickled = std::any_of(files.begin(), files.end(), [](const auto& f) {
      return f.path.ends_with(".bin") || f.path.ends_with(".pth") || f.path.ends_with(".pt");
    });
    return fail(ErrorCode::kUnsupported,
                format("{} has no *.safetensors and no *.gguf{}", model,
                       pickled ? ", only pickled weights, which can run code and are not opened; look for a "
                                 "revision or a conversion in safetensors"
                               : ""),
                "model");
  }
  if (!safetensors && ggufs > 1) {
    std::vector<std::string> names;
    for (const auto& file : files) {
      if (is_weights(file.path, ".gguf")) names.push_back(file.path);
    }
    return fail(
        ErrorCode::kInvalidArgument,
        format("{0} has {1} GGUF files: {2}. Fetch one: pagoda pull {0} --include {3}; then serve {0}", model,
               names.size(), joined(names), names.front()),
        "model");
  }
  std::erase_if(files, [&](const auto& file) {
    return !is_text(file.path) && !is_weights(file.path, safetensors ? ".safetensors" : ".gguf");
  });
  return files;
}

Result<fs::path> model_from_hub(const std::string& model, const std::string& revision,
                                const hub::HubSettings& settings) {
  const fs::path here = hub::ModelFolder(settings.cache, model).find(revision);
  if (!here.empty() && hub::missing_parts(here).empty()) return here;
  if (settings.offline)
    return fail(ErrorCode::kNotFound,
                format("no model '{}': no such folder, {}, and HF_HUB_OFFLINE forbids to fetch it. {}", model,
                       what_is_here(here), without_network(model, settings)),
                "model");
  log::info("{} is fetched from {} into {}", model, settings.endpoint, settings.cache.string());
  hub::PullRequest request;
  request.model = model;
  request.revision = revision;
  request.choose = [&](auto files) { return files_to_serve(model, std::move(files)); };
  PullProgressDisplay display(model);
  auto pulled = hub::pull(request, settings,
                          [&](const auto& progress, const auto& state) { display.begin(progress, state); });
  display.finish();
  if (pulled || pulled.error().code != ErrorCode::kUnavailable) return pulled;
  return fail(ErrorCode::kNotFound,
              format("no model '{}': no such folder, {}, and {}. {}", model, what_is_here(here),
                     pulled.error().message, without_network(model, settings)),
              "model");
}

Result<fs::path> pulled_model(const std::string& name, const std::string& revision) {
  const auto folder = hub::ModelFolder(hub::settings_from_environment().cache, name);
  if (const auto snapshot = folder.find(revision); !snapshot.empty()) return snapshot;
  return fail(ErrorCode::kNotFound,
              format("no model '{0}': no such folder, and not in the Hugging Face cache ({1}); fetch it by "
                     "`pagoda pull {0}`",
                     name, folder.path().string()),
              "model");
}

}  // namespace pagoda::app
