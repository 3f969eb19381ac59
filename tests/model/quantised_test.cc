// Small folders in every layout of quantised checkpoints (quantised/, tools/make_quantised_folders.py):
// logits as transformers computes them from the weights that the layouts' own packages dequantise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "kernels/packed_matrix.h"
#include "model/quantisation_choice.h"
#include "model_under_test.h"
#include "tensor/grouped_weight.h"

namespace pagoda::model {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::HasSubstr;

struct Case {
  const char* folder;
  DType dtype;         // of a projection, as it is shown
  const char* packed;  // its format: "4 bit, spans of 128, zero points", …
};

const Case kCases[] = {
    {"awq_128", DType::kInt4, "4 bit, spans of 128, zero points"},
    {"awq_32", DType::kInt4, "4 bit, spans of 32, zero points"},
    {"awq_symmetric", DType::kInt4, "4 bit, spans of 64"},
    {"gptq4_symmetric", DType::kInt4, "4 bit, spans of 128"},
    {"gptq4_act_order", DType::kInt4, "4 bit, spans of 32, zero points, reordered"},
    {"gptq4_v2", DType::kInt4, "4 bit, spans of 64, zero points"},
    {"gptq4_rows", DType::kInt4, "4 bit, spans of 128, zero points"},
    {"gptq8", DType::kInt8, "8 bit, spans of 32, zero points"},
    {"gptq8_act_order", DType::kInt8, "8 bit, spans of 128"},  // one group in 128 columns: no order
    {"fp8_tensor", DType::kF8E4M3, "E4M3, spans of 128"},
    {"fp8_blocks", DType::kF8E4M3, "E4M3, spans of 128"},
    {"fp8_small_blocks", DType::kF8E4M3, "E4M3, spans of 64"},
    {"compressed_w4a16", DType::kInt4, "4 bit, spans of 128"},
    {"compressed_w4a16_asymmetric", DType::kInt4, "4 bit, spans of 32, zero points"},
    {"compressed_w8", DType::kInt8, "8 bit, spans of 128"},
    {"compressed_fp8", DType::kF8E4M3, "E4M3, spans of 128"},
    {"bitsandbytes_nf4", DType::kNF4, "bf16"},
    {"bitsandbytes_int8", DType::kInt8, "8 bit, spans of 128"},
};

void PrintTo(const Case& value, std::ostream* out) {
  *out << value.folder;
}

fs::path folders() {
  return fs::path(PAGODA_SOURCE_DIR) / "tests/model/quantised";
}

std::string words_for(const kernels::PackedMatrix& matrix) {
  const kernels::PackedFormat& format = matrix.format;
  std::ostringstream words;
  if (format.encoding == kernels::WeightEncoding::kBF16) return "bf16";
  if (format.encoding == kernels::WeightEncoding::kF8) {
    words << "E4M3";
  } else {
    words << int{format.bits} << " bit";
  }
  words << ", spans of " << format.span();
  if (format.offset_is_zero_point) words << ", zero points";
  if (!matrix.column_order.empty()) words << ", reordered";
  return words.str();
}

struct Difference {
  double most = 0, squares = 0, size = 0;
};

// Of the logits after each prompt's last token.
Difference compare(const Json& golden, ModelUnderTest& model, int step) {
  Difference difference;
  for (const Json& prompt : golden["prompts"]) {
    const auto ids = prompt["ids"].get<std::vector<int32_t>>();
    const auto wanted = prompt["logits"].get<std::vector<float>>();
    model.run(ids, step, [&](int position, std::span<const float> logits) {
      if (position + 1 != static_cast<int>(ids.size())) return;
      for (size_t i = 0; i < wanted.size(); ++i) {
        const double delta = logits[i] - wanted[i];
        difference.most = std::max(difference.most, std::abs(delta));
        difference.squares += delta * delta;
        difference.size += static_cast<double>(wanted[i]) * wanted[i];
      }
    });
  }
  return difference;
}

class Quantised : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    path_ = (folders() / GetParam().folder).string();
    golden_ = Json::parse(std::ifstream(path_ + "/golden.json"));
  }
  std::string path_;
  Json golden_;
};

TEST_P(Quantised, F32LogitsAreTheReferences) {
  ModelUnderTest model(path_, Precision::kFloat32);
  for (const int step : {512, 7}) {
    const Difference difference = compare(golden_, model, step);
    std::printf("%s: max |delta logit| %.2e\n", GetParam().folder, difference.most);
    EXPECT_LE(difference.most, 1e-3);
  }
}

// As served: the codes themselves are multiplied. What is left is int8 activations, or bf16 weights.
TEST_P(Quantised, RunsOnItsOwnCodes) {
  ModelUnderTest model(path_, Precision::kAuto);
  const Difference difference = compare(golden_, model, 512);
  const double relative = std::sqrt(difference.squares / difference.size);
  std::printf("%s: relative error %.2e\n", GetParam().folder, relative);
  EXPECT_LE(relative, 3e-2);
}

TEST_P(Quantised, PacksWithoutLoss) {
  const auto source = open_weights(path_);
  ASSERT_TRUE(source) << source.error().message;
  ThreadPool pool(2);
  const TensorView* view = (*source)->find("blk.0.attn_q.weight");
  ASSERT_NE(view, nullptr);
  EXPECT_EQ(view->dtype, GetParam().dtype);
  const auto reference = kernels::pack({view, 1}, kernels::plain_format(kernels::WeightEncoding::kF32), pool);
  const auto packed = kernels::pack({view, 1}, kernels::native_format(*view), pool);
  ASSERT_TRUE(reference && packed);
  EXPECT_EQ(words_for(*packed), GetParam().packed);
  std::vector<float> exact(128), kept(128);
  const double tolerance = view->dtype == DType::kNF4 ? 4e-3 : 1e-6;
  for (int row = 0; row < 128; ++row) {
    kernels::unpack_row(*reference, row, exact.data());
    kernels::unpack_row(*packed, row, kept.data());
    for (size_t k = 0; k < exact.size(); ++k)
      ASSERT_NEAR(kept[k], exact[k], tolerance * std::abs(exact[k])) << "row " << row << " column " << k;
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, Quantised, testing::ValuesIn(kCases),
                         [](const auto& parameter) { return std::string(parameter.param.folder); });

Result<QuantiseTo> choose(const char* folder, std::string_view method) {
  const auto source = open_weights((fs::path(PAGODA_SOURCE_DIR) / "tests/model" / folder).string());
  EXPECT_TRUE(source) << source.error().message;
  return choose_quantisation(**source, method);
}

TEST(ChooseQuantisation, QuantisesWhatIsNotAndChecksWhatIs) {
  EXPECT_EQ(choose("folders/llama3", ""), QuantiseTo::kNothing);
  EXPECT_EQ(choose("folders/llama3", "int8"), QuantiseTo::kInt8);
  EXPECT_EQ(choose("folders/llama3", "int4"), QuantiseTo::kInt4);
  EXPECT_EQ(choose("folders/llama3", "fp8"), QuantiseTo::kF8);
  EXPECT_EQ(choose("quantised/fp8_blocks", "fp8"), QuantiseTo::kNothing);
  EXPECT_EQ(choose("quantised/awq_128", "awq"), QuantiseTo::kNothing);
  EXPECT_EQ(choose("quantised/gptq8", "gptq_marlin"), QuantiseTo::kNothing);
  EXPECT_THAT(choose("quantised/awq_128", "gptq").error().message, HasSubstr("quantised by awq already"));
  EXPECT_THAT(choose("quantised/awq_128", "int8").error().message, HasSubstr("quantised by awq already"));
  EXPECT_THAT(choose("folders/llama3", "awq").error().message, HasSubstr("are not quantised"));
  EXPECT_THAT(choose("folders/llama3", "q2").error().message,
              HasSubstr("no such method; there are int8, int4, fp8, awq"));
}

// Memory is what the widths say, and the answers stay near.
TEST(QuantiseAtLoad, TakesTheMemoryThatItSays) {
  const auto source = open_weights(std::string(PAGODA_SOURCE_DIR) + "/tests/model/folders/llama3");
  ASSERT_TRUE(source);
  ThreadPool pool(2);
  kernels::CpuCompute compute(**kernels::choose_isa(), pool);
  const auto bytes_with = [&](QuantiseTo to) {
    const auto model = load_model(**source, {Precision::kAuto, to}, compute);
    EXPECT_TRUE(model) << model.error().message;
    return static_cast<double>((*model)->weight_bytes());
  };
  const double whole = bytes_with(QuantiseTo::kNothing);
  EXPECT_NEAR(bytes_with(QuantiseTo::kInt8) / whole, 8.5 / 16, 0.01);
  EXPECT_LT(bytes_with(QuantiseTo::kInt4) / whole, 0.45);  // embedding and output layer are half of it
  EXPECT_NEAR(bytes_with(QuantiseTo::kF8) / whole, 8.5 / 16, 0.02);
}

// A copy of a folder, to be broken.
class Broken : public testing::Test {
 protected:
  Broken() {
    std::string pattern = (fs::temp_directory_path() / "pagoda-quantised-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~Broken() override { fs::remove_all(folder_); }

  void copy(const char* name) {
    fs::copy(folders() / name, folder_, fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  }

  // Sets a key of quantization_config.
  void set(const char* key, const Json& value) {
    Json config = Json::parse(std::ifstream(folder_ / "config.json"));
    config["quantization_config"][key] = value;
    std::ofstream(folder_ / "config.json") << config;
  }
  // Replaces text of the safetensors' header by as many bytes.
  void replace(const std::string& from, const std::string& to) {
    std::ifstream in(folder_ / "model.safetensors", std::ios::binary);
    std::stringstream bytes;
    bytes << in.rdbuf();
    std::string text = bytes.str();
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos);
    ASSERT_EQ(from.size(), to.size());
    text.replace(at, from.size(), to);
    std::ofstream(folder_ / "model.safetensors", std::ios::binary) << text;
  }
  std::string error() const {
    const auto source = open_weights(folder_.string());
    return source ? "no error" : source.error().message;
  }

  fs::path folder_;
};

TEST_F(Broken, UnknownMethodsListTheKnownOnes) {
  copy("awq_128");
  set("quant_method", "hqq");
  EXPECT_THAT(error(),
              HasSubstr("weights quantised by 'hqq' are not supported; supported are awq, gptq, fp8, "
                        "compressed-tensors, bitsandbytes"));
  set("quant_method", "awq");
  set("version", "gemv");
  EXPECT_THAT(error(), HasSubstr("AWQ weights in the layout 'gemv' are not supported; gemm is"));
  copy("gptq8");
  set("checkpoint_format", "marlin");
  EXPECT_THAT(error(), HasSubstr("in the layout 'marlin' are not supported; gptq and gptq_v2 are"));
  set("checkpoint_format", "gptq");
  set("bits", 3);
  EXPECT_THAT(error(), HasSubstr("GPTQ weights of 3 bits are not supported; 2, 4 and 8 are"));
  copy("compressed_w8");
  set("format", "nvfp4-pack-quantized");
  EXPECT_THAT(error(), HasSubstr("'nvfp4-pack-quantized' are not supported"));
}

TEST_F(Broken, PartsThatDoNotFitAreNamed) {
  copy("awq_128");
  set("group_size", 64);
  EXPECT_THAT(error(), HasSubstr("model.layers.0.mlp.down_proj: scales has shape [2, 128], not [4, 128]"));
  set("group_size", 0);
  EXPECT_THAT(error(), HasSubstr("group_size is 0"));
  copy("awq_128");
  replace("q_proj.qzeros", "q_proj.xzeros");
  EXPECT_EQ(error(), "no error") << "AWQ may have no zero points";
  replace("q_proj.scales", "q_proj.xcales");
  EXPECT_THAT(error(), HasSubstr("scales are missing"));
  copy("gptq4_act_order");
  set("group_size", 128);
  EXPECT_THAT(error(), HasSubstr("scales has shape"));
  copy("bitsandbytes_nf4");
  replace("nested_absmax", "nested_absmix");
  EXPECT_THAT(error(), HasSubstr("nested_absmax is missing"));
}

// The group numbers follow the header: the first weight's g_idx holds one that there is no group for.
TEST_F(Broken, GroupNumbersOutOfRangeAreRefused) {
  copy("gptq4_act_order");
  std::fstream file(folder_ / "model.safetensors", std::ios::in | std::ios::out | std::ios::binary);
  uint64_t length = 0;
  file.read(reinterpret_cast<char*>(&length), sizeof length);
  std::string header(length, '\0');
  file.read(header.data(), static_cast<std::streamsize>(length));
  const Json json = Json::parse(header);
  const auto at = json["model.layers.0.mlp.down_proj.g_idx"]["data_offsets"][0].get<uint64_t>();
  const int32_t beyond = 8;
  file.seekp(static_cast<std::streamoff>(8 + length + at));
  file.write(reinterpret_cast<const char*>(&beyond), sizeof beyond);
  file.close();
  EXPECT_THAT(error(), HasSubstr("model.layers.0.mlp.down_proj: g_idx names group 8 of 8"));
}

}  // namespace
}  // namespace pagoda::model
