#include "model/weight_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "model/gguf_bytes.h"

namespace pagoda::model {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class WeightSourceTest : public testing::Test {
 protected:
  WeightSourceTest() {
    std::string pattern = (fs::temp_directory_path() / "pagoda-weights-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~WeightSourceTest() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, std::string_view bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return (folder_ / name).string();
  }
  static std::string error_of(const std::string& path) {
    const auto source = open_weights(path);
    return source ? "no error" : source.error().message;
  }
  static ErrorCode code_of(const std::string& path) { return open_weights(path).error().code; }

  fs::path folder_;
};

std::string model_bytes() {
  GgufBytes bytes;
  bytes.key("general.name", "tiny").tensor("a", {4}, 0, 0).tensor("b", {2, 2}, 0, 32).data(48);
  return bytes.str();
}

// One of `count` files, holding the tensor `name`.
std::string part_bytes(uint16_t number, uint16_t count, const std::string& name) {
  GgufBytes bytes;
  bytes.key<uint16_t>("split.no", 2, number).key<uint16_t>("split.count", 2, count);
  bytes.key<int32_t>("split.tensors.count", 5, count).tensor(name, {4}, 0, 0).data(16);
  return bytes.str();
}

TEST_F(WeightSourceTest, OpensAFile) {
  const auto source = open_weights(write("m.gguf", model_bytes()));
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ((*source)->metadata().text("general.name"), "tiny");
  EXPECT_EQ((*source)->tensor_bytes(), 32);
  ASSERT_NE((*source)->find("b"), nullptr);
  EXPECT_EQ((*source)->find("b")->shape, (Shape{2, 2}));
  EXPECT_EQ((*source)->find("c"), nullptr);
  std::vector<std::string> names;
  (*source)->for_each([&](const std::string& name, const TensorView&) { names.push_back(name); });
  EXPECT_THAT(names, testing::ElementsAre("a", "b"));
}

TEST_F(WeightSourceTest, ReleasedPagesComeBackAsTheyWere) {
  const auto source = open_weights(write("m.gguf", model_bytes()));
  ASSERT_TRUE(source);
  (*source)->prefetch();
  (*source)->release_pages();
  EXPECT_EQ(static_cast<int>((*source)->find("b")->data[1]), 33);
}

TEST_F(WeightSourceTest, MetadataOutliveATruncationOfTheFile) {
  const std::string path = write("m.gguf", model_bytes());
  const auto source = open_weights(path);
  ASSERT_TRUE(source);
  fs::resize_file(path, 0);
  EXPECT_EQ((*source)->metadata().text("general.name"), "tiny");
}

TEST_F(WeightSourceTest, AFolderWithOneModelIsThatModel) {
  write("readme.md", "x");
  write("m.gguf", model_bytes());
  const auto source = open_weights(folder_.string());
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_THAT((*source)->path(), testing::EndsWith("/m.gguf"));
  write("n.gguf", model_bytes());
  EXPECT_THAT(error_of(folder_.string()), HasSubstr("holds 2 models, say which: m.gguf, n.gguf"));
}

TEST_F(WeightSourceTest, OtherFoldersSayWhatTheyAre) {
  EXPECT_THAT(error_of(folder_.string()), HasSubstr("a folder without a .gguf file"));
  EXPECT_EQ(code_of(folder_.string()), ErrorCode::kNotFound);
  write("model.safetensors", "x");
  EXPECT_THAT(error_of(folder_.string()), HasSubstr("config.json is missing"));
  EXPECT_EQ(code_of(folder_.string()), ErrorCode::kNotFound);
}

TEST_F(WeightSourceTest, WhatIsNoModelSaysSo) {
  EXPECT_THAT(error_of((folder_ / "absent.gguf").string()), HasSubstr("no such file or folder"));
  EXPECT_EQ(code_of((folder_ / "absent.gguf").string()), ErrorCode::kNotFound);
  EXPECT_THAT(error_of(write("empty.gguf", "")), HasSubstr("the file is empty"));
  EXPECT_THAT(error_of(write("a.txt", "hello, world")), HasSubstr("does not begin with 'GGUF'"));
  EXPECT_THAT(error_of(write("lfs", "version https://git-lfs.github.com/spec/v1\n")),
              HasSubstr("git lfs pull"));
  EXPECT_THAT(error_of(write("s", std::string("\x10\0\0\0\0\0\0\0{\"__metadata__\":{}}", 28))),
              HasSubstr("a safetensors file"));
  EXPECT_THAT(error_of(write("z", "PK\x03\x04 and so on")), HasSubstr("a zip archive"));
  EXPECT_THAT(error_of("/dev/null"), HasSubstr("not a regular file"));
  const std::string fifo = (folder_ / "fifo").string();
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_THAT(error_of(fifo), HasSubstr("not a regular file"));
}

TEST_F(WeightSourceTest, AFileThatMayNotBeReadSaysSo) {
  const std::string path = write("m.gguf", model_bytes());
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  if (::geteuid() == 0) {  // root may read everything: be somebody else for the moment
    ASSERT_EQ(::chmod(folder_.c_str(), 0755), 0);
    ASSERT_EQ(::seteuid(65534), 0);
    const std::string message = error_of(path);
    ASSERT_EQ(::seteuid(0), 0);
    EXPECT_THAT(message, HasSubstr("cannot open it: Permission denied"));
  } else {
    EXPECT_THAT(error_of(path), HasSubstr("cannot open it: Permission denied"));
  }
}

TEST_F(WeightSourceTest, ASplitModelIsOpenedByItsFirstFile) {
  const std::string first = write("m-00001-of-00002.gguf", part_bytes(0, 2, "a"));
  EXPECT_THAT(error_of(first), HasSubstr("m-00002-of-00002.gguf: cannot open it"));
  const std::string second = write("m-00002-of-00002.gguf", part_bytes(1, 2, "b"));
  for (const std::string& path : {first, folder_.string()}) {
    const auto source = open_weights(path);
    ASSERT_TRUE(source) << source.error().message;
    EXPECT_NE((*source)->find("a"), nullptr);
    EXPECT_NE((*source)->find("b"), nullptr);
    EXPECT_EQ((*source)->tensor_bytes(), 32);
  }
  EXPECT_THAT(error_of(second), HasSubstr("part 2 of a model in 2 files; give the first one"));
  write("m-00002-of-00002.gguf", part_bytes(1, 2, "a"));
  EXPECT_THAT(error_of(first), HasSubstr("a tensor of it is in an earlier part too"));
  write("m-00002-of-00002.gguf", model_bytes());
  EXPECT_THAT(error_of(first), HasSubstr("in an earlier part too"));
  EXPECT_THAT(error_of(write("renamed.gguf", part_bytes(0, 2, "a"))),
              HasSubstr("must end with -00001-of-00002.gguf"));
}

}  // namespace
}  // namespace pagoda::model
