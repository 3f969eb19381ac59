#include "app/pull_progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/hub_model.h"

namespace pagoda::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(PullProgress, TellsShareRateAndTimeLeft) {
  hub::PullProgress progress;
  progress.bytes = 2'800'000'000;
  progress.bytes_here = 400'000'000;
  EXPECT_EQ(progress_line(progress, 1'200'000'000, 10, 0), " 42 %  1.2 GB of 2.8 GB  80.0 MB/s  0:20 left");
  EXPECT_EQ(progress_line(progress, 400'000'000, 10, 0), " 14 %  400.0 MB of 2.8 GB") << "nothing came yet";
  EXPECT_THAT(progress_line(progress, 2'799'999'999, 10, 4), HasSubstr("▕███░▏  99 %"))
      << "100 only at the end";
  progress = {};
  EXPECT_EQ(progress_line(progress, 0, 0, 0), "100 %  0 bytes of 0 bytes");
}

std::vector<std::string> chosen(std::vector<std::string> paths) {
  std::vector<hub::RemoteFile> files;
  for (const std::string& path : paths) files.push_back({path, "e", 1});
  auto served = files_to_serve("org/model", std::move(files));
  if (!served) return {served.error().message};
  std::vector<std::string> names;
  for (const auto& file : *served) names.push_back(file.path);
  return names;
}

TEST(FilesToServe, AreWeightsAtTheTopAndTheirTexts) {
  EXPECT_THAT(chosen({"config.json", "model.safetensors", "pytorch_model.bin", "onnx/model.onnx", "README.md",
                      "original/consolidated.safetensors", "consolidated.safetensors",
                      "1_Pooling/config.json", "other/config.json", "tokenizer.model"}),
              ElementsAre("config.json", "model.safetensors", "1_Pooling/config.json", "tokenizer.model"));
  EXPECT_THAT(chosen({"a.Q4_0.gguf", "config.json", "mmproj-a.gguf"}),
              ElementsAre("a.Q4_0.gguf", "config.json"));
  EXPECT_THAT(chosen({"a.gguf", "b.gguf"}), ElementsAre(HasSubstr("pagoda pull org/model --include a.gguf")));
  EXPECT_THAT(chosen({"pytorch_model.bin"}), ElementsAre(HasSubstr("pickled")));
}

}  // namespace
}  // namespace pagoda::app
