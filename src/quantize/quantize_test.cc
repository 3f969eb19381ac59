#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include "base/thread_pool.h"
#include "kernels/dequantise.h"
#include "quantize/block_codes.h"
#include "quantize/gguf_scheme.h"
#include "quantize/gguf_writer.h"

namespace pagoda::quantize {
namespace {

namespace fs = std::filesystem;

std::vector<float> random_values(size_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(0.f, 0.05f);
  std::vector<float> values(count);
  for (float& value : values) value = normal(engine);
  return values;
}

double relative_error(DType dtype, const std::vector<float>& values) {
  std::vector<std::byte> blocks(bytes_of(dtype, values.size()));
  write_blocks(dtype, values, blocks.data());
  std::vector<float> back(values.size());
  kernels::dequantise_row(dtype, blocks.data(), static_cast<int>(back.size()), back.data());
  double error = 0, size = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    error += (back[i] - values[i]) * (back[i] - values[i]);
    size += values[i] * values[i];
  }
  return std::sqrt(error / size);
}

// What each width can do on normally distributed weights; the plain rounding of Q4_0 makes 0.09.
TEST(BlockCodes, AreReadBackNearWhatTheyWere) {
  const auto values = random_values(256 * 40, 1);
  EXPECT_EQ(relative_error(DType::kF32, values), 0);
  EXPECT_LT(relative_error(DType::kF16, values), 4e-4);
  EXPECT_LT(relative_error(DType::kBF16, values), 3e-3);
  EXPECT_LT(relative_error(DType::kQ8_0, values), 6e-3);
  EXPECT_LT(relative_error(DType::kQ6_K, values), 0.022);
  EXPECT_LT(relative_error(DType::kQ5_0, values), 0.045);
  EXPECT_LT(relative_error(DType::kQ4_0, values), 0.087);
  EXPECT_LT(relative_error(DType::kQ4_K, values), 0.08);
}

TEST(BlockCodes, ZerosStayZeros) {
  const std::vector<float> zeros(256, 0.f);
  for (const DType dtype : {DType::kQ4_0, DType::kQ5_0, DType::kQ8_0, DType::kQ4_K, DType::kQ6_K}) {
    std::vector<std::byte> blocks(bytes_of(dtype, zeros.size()));
    write_blocks(dtype, zeros, blocks.data());
    std::vector<float> back(zeros.size(), 1.f);
    kernels::dequantise_row(dtype, blocks.data(), 256, back.data());
    for (const float value : back) ASSERT_EQ(std::fabs(value), 0.f) << info_of(dtype).name;
  }
}

TEST(BlockCodes, OneLargeValueDoesNotSpoilItsBlock) {
  auto values = random_values(256, 2);
  values[17] = 3.f;
  for (const DType dtype : {DType::kQ8_0, DType::kQ6_K, DType::kQ4_K})
    EXPECT_LT(relative_error(dtype, values), 0.12);
}

TEST(GgufScheme, WidensWhatIsSensitive) {
  const GgufScheme& q4_k = *find_gguf_scheme("q4_k");
  const auto dtype = [&](const char* name, Shape shape) {
    return gguf_dtype_of(q4_k, name, shape, 32, true);
  };
  EXPECT_EQ(dtype("blk.10.attn_q.weight", {512, 512}), DType::kQ4_K);
  EXPECT_EQ(dtype("blk.0.attn_v.weight", {512, 512}), DType::kQ6_K) << "the first eighth";
  EXPECT_EQ(dtype("blk.4.ffn_down.weight", {512, 512}), DType::kQ4_K);
  EXPECT_EQ(dtype("blk.6.ffn_down.weight", {512, 512}), DType::kQ6_K) << "every third";
  EXPECT_EQ(dtype("blk.31.ffn_down.weight", {512, 512}), DType::kQ6_K) << "the last eighth";
  EXPECT_EQ(dtype("output.weight", {1000, 512}), DType::kQ6_K);
  EXPECT_EQ(dtype("token_embd.weight", {1000, 512}), DType::kQ4_K);
  EXPECT_EQ(gguf_dtype_of(q4_k, "token_embd.weight", {1000, 512}, 32, false), DType::kQ6_K) << "it is both";
  EXPECT_EQ(dtype("blk.10.attn_q.weight", {576, 576}), DType::kQ5_0) << "no whole blocks of 256";
  EXPECT_EQ(dtype("output.weight", {1000, 576}), DType::kQ8_0);
  EXPECT_EQ(dtype("blk.10.attn_q.weight", {576, 100}), DType::kF16) << "nor of 32";
  EXPECT_EQ(dtype("blk.0.attn_norm.weight", {512}), DType::kF32);
  EXPECT_EQ(dtype("blk.0.attn_q.bias", {512}), DType::kF32);
  EXPECT_EQ(find_gguf_scheme("q5_k"), nullptr);
}

// The project's own reader takes what the writer writes.
TEST(GgufWriter, IsReadBack) {
  std::string pattern = (fs::temp_directory_path() / "pagoda-quantize-XXXXXX").string();
  const fs::path folder = ::mkdtemp(pattern.data());
  const std::string path = (folder / "m.gguf").string();
  model::WeightMetadata metadata;
  metadata.set("general.architecture", std::string_view("llama"));
  metadata.set("llama.block_count", int64_t{3});
  metadata.set("llama.rope.freq_base", 10000.0);
  metadata.set("a.below_zero", int64_t{-5});
  metadata.set("a.flag", true);
  metadata.set("a.texts", std::vector<std::string_view>{"x", "", "yz"});
  metadata.set("a.kinds", std::vector<int64_t>{1, 3, -1});
  const std::vector<TensorToWrite> table = {{"a", DType::kF32, Shape{3}},
                                            {"b.weight", DType::kQ8_0, Shape{2, 64}}};
  {
    auto writer = GgufWriter::create(path, metadata, table);
    ASSERT_TRUE(writer) << writer.error().message;
    const float a[3] = {1, 2, 3};
    std::vector<std::byte> b(bytes_of(DType::kQ8_0, 128), std::byte{7});
    ASSERT_TRUE((*writer)->write(std::as_bytes(std::span(a))));
    ASSERT_TRUE((*writer)->end_tensor());
    ASSERT_TRUE((*writer)->write(b));
    ASSERT_TRUE((*writer)->end_tensor());
    EXPECT_FALSE(fs::exists(path)) << "not before it is whole";
    ASSERT_TRUE((*writer)->finish());
  }
  const auto source = model::open_weights(path);
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ((*source)->metadata().integer("llama.block_count"), 3);
  EXPECT_EQ((*source)->metadata().integer("a.below_zero"), -5);
  EXPECT_EQ((*source)->metadata().number("llama.rope.freq_base"), 10000.0);
  EXPECT_EQ((*source)->metadata().boolean("a.flag"), true);
  EXPECT_THAT(*(*source)->metadata().texts("a.texts"), testing::ElementsAre("x", "", "yz"));
  EXPECT_THAT(*(*source)->metadata().integers("a.kinds"), testing::ElementsAre(1, 3, -1));
  ASSERT_NE((*source)->find("b.weight"), nullptr);
  EXPECT_EQ((*source)->find("b.weight")->shape, (Shape{2, 64}));
  EXPECT_EQ((*source)->find("b.weight")->data[5], std::byte{7});
  { const auto abandoned = GgufWriter::create(path + "2", metadata, table); }
  EXPECT_FALSE(fs::exists(path + "2.part")) << "nothing is left of what was not finished";
  EXPECT_FALSE(GgufWriter::create("/nonexistent/x.gguf", metadata, table));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace pagoda::quantize
