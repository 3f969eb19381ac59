#include "golden.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/check.h"

namespace pagoda::model {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class BinaryReader {
 public:
  explicit BinaryReader(const std::string& path) : file_(path, std::ios::binary) {}

  template <class T>
  T one() {
    return some<T>(1)[0];
  }
  template <class T>
  std::vector<T> some(size_t count) {
    std::vector<T> values(count);
    file_.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(T)));
    PAGODA_CHECK(file_.good(), "a golden binary file is shorter than its header says");
    return values;
  }
  bool at_end() { return file_.peek() == std::ifstream::traits_type::eof(); }

 private:
  std::ifstream file_;
};

void read_prompts(const Json& header, BinaryReader& binary, Golden& golden) {
  const size_t top = header.at("top");
  for (const Json& entry : header.at("prompts")) {
    GoldenPrompt prompt{entry.at("name"), entry.at("ids"), {}, {}, entry.at("sharp"), 0};
    const Json& rounded = header.at("transformers_bf16").at("top20_delta_logprob_by_prompt");
    prompt.bf16_top20_delta_p99 = rounded.at(prompt.name).at("p99");
    for (const int position : entry.at("positions")) {
      GoldenPosition at{position, binary.some<uint32_t>(top), binary.some<float>(top), 0};
      at.log_sum = binary.one<double>();
      prompt.positions.push_back(std::move(at));
    }
    golden.prompts.push_back(std::move(prompt));
  }
  const size_t stride = static_cast<size_t>(golden.full_stride);
  const size_t kept = (static_cast<size_t>(golden.vocabulary) + stride - 1) / stride;
  for (size_t i = 0; i < golden.prompts.size(); ++i) {
    for (const int position : header.at("prompts")[i].at("full_positions"))
      golden.prompts[i].full.push_back({position, binary.some<float>(kept)});
  }
}

void read_text(const Json& header, BinaryReader& binary, GoldenText& text) {
  const Json& figures = header.at("perplexity");
  const size_t length = figures.at("length");
  const size_t windows = figures.at("windows");
  for (size_t i = 0; i < windows; ++i) text.windows.push_back(binary.some<int32_t>(length));
  for (size_t i = 0; i < windows; ++i) text.best.push_back(binary.some<int32_t>(length));
  text.nll_all = figures.at("nll_all");
  text.perplexity_second_half = figures.at("perplexity_second_half");
  text.llama_cpp_second_half = figures.value("llama_cpp_second_half", 0.0);
}

}  // namespace

std::string test_data(const std::string& name) {
  return (fs::path(PAGODA_SOURCE_DIR) / "tests/model/data" / name).string();
}

std::string real_model(const std::string& file) {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return fs::path(value ? value : "");
  };
  fs::path folder = variable("PAGODA_MODELS");
  if (folder.empty() && !variable("XDG_CACHE_HOME").empty())
    folder = variable("XDG_CACHE_HOME") / "pagoda/models";
  if (folder.empty()) folder = variable("HOME") / ".cache/pagoda/models";
  return fs::exists(folder / file) ? (folder / file).string() : "";
}

Golden read_golden(const std::string& name) {
  std::ifstream file(test_data(name + ".json"));
  PAGODA_CHECK(file.good(), "a golden header is missing");
  const Json header = Json::parse(file);
  BinaryReader binary(test_data(name + ".bin"));
  Golden golden;
  golden.vocabulary = header.at("vocabulary");
  golden.full_stride = header.at("full_stride");
  golden.bf16_top20_delta_max = header.at("transformers_bf16").at("top20_delta_logprob_max");
  read_prompts(header, binary, golden);
  read_text(header, binary, golden.text);
  PAGODA_CHECK(binary.at_end(), "a golden binary file is longer than its header says");
  return golden;
}

}  // namespace pagoda::model
