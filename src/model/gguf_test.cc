#include "model/gguf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "model/gguf_bytes.h"
#include "model/model_config.h"

namespace pagoda::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

enum : uint32_t { kU8, kI8, kU16, kI16, kU32, kI32, kF32, kBool, kString, kArray, kU64, kI64, kF64 };
enum : uint32_t { kTypeF32 = 0, kTypeQ4_0 = 2, kTypeIQ2_XXS = 16 };

std::string error_of(const GgufBytes& bytes) {
  const auto contents = parse_gguf(bytes.span(), "x.gguf");
  return contents ? "no error" : contents.error().message;
}

GgufBytes two_tensors() {
  GgufBytes bytes;
  bytes.key("general.architecture", "llama");
  bytes.tensor("a", {4, 2}, kTypeF32, 0).tensor("b", {64, 3}, kTypeQ4_0, 32).data(32 + 6 * 18);
  return bytes;
}

TEST(Gguf, ReadsEveryKindOfValue) {
  GgufBytes bytes;
  bytes.key<uint8_t>("u8", kU8, 200).key<int8_t>("i8", kI8, -3).key<uint16_t>("u16", kU16, 60000);
  bytes.key<int16_t>("i16", kI16, -30000)
      .key<uint32_t>("u32", kU32, 4000000000)
      .key<int32_t>("i32", kI32, -5);
  bytes.key<float>("f32", kF32, 0.5f).key<uint8_t>("yes", kBool, 1).key("text", "Zürich");
  bytes.key<uint64_t>("u64", kU64, ~uint64_t{0}).key<int64_t>("i64", kI64, -6).key<double>("f64", kF64, 0.25);
  bytes.key("list", kArray).put(kString).put<uint64_t>(2).string("ab").string("");
  bytes.key("ints", kArray).put(kI32).put<uint64_t>(2).put<int32_t>(-1).put<int32_t>(7);
  bytes.key("floats", kArray).put(kF32).put<uint64_t>(1).put(1.5f);
  bytes.key("bools", kArray).put(kBool).put<uint64_t>(2).put<uint8_t>(1).put<uint8_t>(0);
  const auto contents = parse_gguf(bytes.span(), "x.gguf");
  ASSERT_TRUE(contents) << contents.error().message;
  const WeightMetadata& metadata = contents->metadata;
  EXPECT_EQ(metadata.integer("u8"), 200);
  EXPECT_EQ(metadata.integer("i8"), -3);
  EXPECT_EQ(metadata.integer("u16"), 60000);
  EXPECT_EQ(metadata.integer("i16"), -30000);
  EXPECT_EQ(metadata.integer("u32"), 4000000000);
  EXPECT_EQ(metadata.integer("i32"), -5);
  EXPECT_EQ(metadata.number("f32"), 0.5);
  EXPECT_EQ(metadata.boolean("yes"), true);
  EXPECT_EQ(metadata.text("text"), "Zürich");
  EXPECT_EQ(metadata.integer("u64"), std::nullopt);  // does not fit
  EXPECT_EQ(metadata.integer("i64"), -6);
  EXPECT_EQ(metadata.number("i64"), -6.0);
  EXPECT_EQ(metadata.number("f64"), 0.25);
  EXPECT_THAT(*metadata.texts("list"), ElementsAre("ab", ""));
  EXPECT_THAT(*metadata.integers("ints"), ElementsAre(-1, 7));
  EXPECT_THAT(*metadata.numbers("floats"), ElementsAre(1.5));
  EXPECT_THAT(*metadata.booleans("bools"), ElementsAre(true, false));
  EXPECT_EQ(metadata.text("u8"), std::nullopt);
  EXPECT_EQ(metadata.integer("absent"), std::nullopt);
}

TEST(Gguf, ShapesHaveTheSlowestDimensionFirst) {
  const GgufBytes bytes = two_tensors();
  const auto contents = parse_gguf(bytes.span(), "x.gguf");
  ASSERT_TRUE(contents) << contents.error().message;
  ASSERT_EQ(contents->tensors.size(), 2u);
  const TensorView& a = contents->tensors[0].view;
  const TensorView& b = contents->tensors[1].view;
  EXPECT_EQ(a.shape, (Shape{2, 4}));
  EXPECT_EQ(b.shape, (Shape{3, 64}));
  EXPECT_EQ(b.dtype, DType::kQ4_0);
  EXPECT_EQ(b.row_bytes(), 36u);
  EXPECT_EQ(b.data - a.data, 32);
  EXPECT_EQ(static_cast<int>(*a.data), 0);
  EXPECT_EQ(contents->header_bytes % 32, 0u);
}

TEST(Gguf, VersionTwoIsReadAndOthersAreNamed) {
  EXPECT_TRUE(parse_gguf(GgufBytes(2).span(), "x"));
  EXPECT_THAT(error_of(GgufBytes(1)), HasSubstr("GGUF version 1; versions 2 and 3 are read here (convert"));
  EXPECT_THAT(error_of(GgufBytes(4)), HasSubstr("GGUF version 4; versions 2 and 3"));
  EXPECT_THAT(error_of(GgufBytes(0x03000000)), HasSubstr("a big-endian GGUF"));
}

TEST(Gguf, AnyTruncationIsAnError) {
  const GgufBytes whole = two_tensors();
  ASSERT_TRUE(parse_gguf(whole.span(), "x"));
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(parse_gguf(whole.span().first(size), "x")) << "cut to " << size;
  EXPECT_THAT(error_of(GgufBytes().truncate(3)), HasSubstr("not a GGUF file"));
  EXPECT_THAT(error_of(GgufBytes().truncate(10)), HasSubstr("it ends at byte 10 inside the tensor count"));
  EXPECT_THAT(
      error_of(two_tensors().truncate(whole.size() - 1)),
      HasSubstr(
          "the tensor 'b' (Q4_0 [3, 64]) needs 108 bytes from byte 32 of the data, past the file's end"));
}

TEST(Gguf, AbsurdCountsAreRefusedBeforeAnythingIsAllocated) {
  EXPECT_THAT(error_of(GgufBytes().set<uint64_t>(8, ~uint64_t{0})),
              HasSubstr("it claims 18446744073709551615 tensors"));
  EXPECT_THAT(error_of(GgufBytes().set<uint64_t>(16, uint64_t{1} << 40)),
              HasSubstr("metadata entries, more than its"));
  for (const uint32_t type : {kU8, kBool, kString, kU64}) {
    GgufBytes bytes;
    bytes.key("k", kArray).put(type).put<uint64_t>(uint64_t{1} << 61);
    EXPECT_THAT(error_of(bytes), HasSubstr("the array 'k' claims 2305843009213693952 elements"));
  }
  GgufBytes bytes;
  bytes.key("k", kString).put<uint64_t>(~uint64_t{0}).text("abc");
  EXPECT_THAT(error_of(bytes), HasSubstr("inside the value of 'k'"));
}

TEST(Gguf, BadMetadataAreNamed) {
  EXPECT_THAT(error_of(GgufBytes().key<uint32_t>("k", 13, 0)),
              HasSubstr("the key 'k' has the unknown value type 13"));
  EXPECT_THAT(error_of(GgufBytes().key<uint8_t>("k", kBool, 2)), HasSubstr("'k' is a boolean of value 2"));
  EXPECT_THAT(error_of(GgufBytes().key<uint8_t>("k", kU8, 2).key<uint8_t>("k", kU8, 2)),
              HasSubstr("'k' stands in it twice"));
  EXPECT_THAT(error_of(GgufBytes().key<uint32_t>("", kU32, 2)), HasSubstr("a metadata key of 0 bytes"));
  GgufBytes nested;
  nested.key("k", kArray).put(kArray).put<uint64_t>(0);
  EXPECT_THAT(error_of(nested), HasSubstr("'k' is an array of arrays"));
  GgufBytes unknown;
  unknown.key("k", kArray).put<uint32_t>(99).put<uint64_t>(0);
  EXPECT_THAT(error_of(unknown), HasSubstr("'k' has the unknown element type 99"));
  GgufBytes wide;
  wide.key("k", kArray).put(kU64).put<uint64_t>(1).put(~uint64_t{0});
  EXPECT_THAT(error_of(wide), HasSubstr("more than 63 bits"));
}

TEST(Gguf, AlignmentIsAPowerOfTwoFromEight) {
  for (const uint32_t alignment : {0u, 1u, 4u, 24u, 1u << 21}) {
    GgufBytes bytes;
    bytes.key("general.alignment", kU32, alignment);
    EXPECT_THAT(error_of(bytes), HasSubstr("general.alignment is " + std::to_string(alignment)));
  }
  EXPECT_THAT(error_of(GgufBytes().key("general.alignment", "32")), HasSubstr("general.alignment is 0"));
  GgufBytes bytes;
  bytes.key<uint32_t>("general.alignment", kU32, 64).tensor("a", {4}, kTypeF32, 64).data(80, 64);
  const auto contents = parse_gguf(bytes.span(), "x");
  ASSERT_TRUE(contents) << contents.error().message;
  EXPECT_EQ(contents->header_bytes % 64, 0u);
}

TEST(Gguf, BadTensorsAreNamed) {
  const auto one = [](const std::vector<uint64_t>& dims, uint32_t type, uint64_t offset) {
    GgufBytes bytes;
    bytes.tensor("w", dims, type, offset).data(4096);
    return error_of(bytes);
  };
  EXPECT_EQ(one({32, 8}, kTypeF32, 0), "no error");
  EXPECT_THAT(one({32, 8}, kTypeF32, 8),
              HasSubstr("'w' begins at byte 8 of the data, no multiple of the alignment 32"));
  EXPECT_THAT(one({32, 8}, kTypeF32, uint64_t{1} << 63), HasSubstr("past the file's end"));
  EXPECT_THAT(one({32, 8}, kTypeF32, ~uint64_t{31}), HasSubstr("past the file's end"));
  EXPECT_THAT(one({32, 8}, kTypeF32, 3104), HasSubstr("past the file's end"));
  EXPECT_THAT(one({}, kTypeF32, 0), HasSubstr("'w' has 0 dimensions"));
  EXPECT_THAT(one({1, 1, 1, 1, 1}, kTypeF32, 0), HasSubstr("'w' has 5 dimensions"));
  EXPECT_THAT(one({32, 0}, kTypeF32, 0), HasSubstr("'w' has a dimension of 0"));
  EXPECT_THAT(one({uint64_t{1} << 40, uint64_t{1} << 40}, kTypeF32, 0), HasSubstr("more elements than"));
  EXPECT_THAT(one({uint64_t{1} << 63, 2, 2}, kTypeF32, 0), HasSubstr("more elements than"));
  EXPECT_THAT(one({33}, kTypeQ4_0, 0), HasSubstr("rows of 33 elements, no multiple of Q4_0's block of 32"));
  EXPECT_THAT(one({256}, kTypeIQ2_XXS, 0),
              HasSubstr("'w' is IQ2_XXS, which is not supported; supported are F32, F16, Q4_0"));
  EXPECT_THAT(one({256}, 99, 0), HasSubstr("'w' is type 99"));
}

TEST(Gguf, TensorsHaveTheirOwnNamesAndBytes) {
  GgufBytes twice;
  twice.tensor("w", {4}, kTypeF32, 0).tensor("w", {4}, kTypeF32, 32).data(64);
  EXPECT_THAT(error_of(twice), HasSubstr("'w' stands in it twice"));
  GgufBytes overlapping;
  overlapping.tensor("v", {16}, kTypeF32, 0).tensor("w", {4}, kTypeF32, 32).data(64);
  EXPECT_THAT(error_of(overlapping), HasSubstr("'v' and 'w' overlap"));
  GgufBytes strange;
  strange.tensor(std::string(70, 'n') + "\x1b[31m" + std::string(30, 'n'), {0}, kTypeF32, 0);
  EXPECT_THAT(error_of(strange), HasSubstr("n?[31mnnnnn…'"));
}

// The seeds of fuzz/gguf_fuzz.cc, and every file that is one byte off: whatever they are, no crash.
TEST(Gguf, TheFuzzCorpusAndItsNeighboursAreAnswered) {
  const auto corpus = std::filesystem::path(PAGODA_SOURCE_DIR) / "fuzz/corpus/gguf_fuzz";
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(corpus)) {
    std::ifstream file(entry.path(), std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    const auto span = std::span(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size());
    const auto whole = parse_gguf(span, "x");
    EXPECT_TRUE(whole && read_config(whole->metadata)) << entry.path();
    for (char& byte : bytes) {
      for (const int flip : {0x01, 0x80, 0xff}) {
        byte = static_cast<char>(byte ^ flip);
        if (const auto contents = parse_gguf(span, "x")) (void)read_config(contents->metadata);
        byte = static_cast<char>(byte ^ flip);
      }
    }
    ++files;
  }
  EXPECT_GE(files, 2);
}

}  // namespace
}  // namespace pagoda::model
