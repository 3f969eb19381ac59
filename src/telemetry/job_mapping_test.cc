#include "telemetry/job_mapping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace pagoda::telemetry {
namespace {

using testing::ElementsAre;

TEST(JobMapping, FilesAreNamedByTheIndex) {
  const auto folder = std::filesystem::path(testing::TempDir()) / ("jobs-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder / "7");
  std::ofstream(folder / "0") << "1234\n1235\r\n\n";
  std::ofstream(folder / "12") << "9";
  std::ofstream(folder / "3.tmp") << "1";
  std::ofstream(folder / "4") << "";
  const auto jobs = read_job_mapping(folder.string());
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(jobs) << jobs.error().message;
  EXPECT_EQ(jobs->size(), 2u);
  EXPECT_THAT(jobs->at(0), ElementsAre("1234", "1235"));
  EXPECT_THAT(jobs->at(12), ElementsAre("9"));
}

TEST(JobMapping, AFolderThatIsNotThere) {
  const auto jobs = read_job_mapping("/nonexistent");
  ASSERT_FALSE(jobs);
  EXPECT_THAT(jobs.error().message, testing::HasSubstr("/nonexistent cannot be read: No such file"));
}

}  // namespace
}  // namespace pagoda::telemetry
