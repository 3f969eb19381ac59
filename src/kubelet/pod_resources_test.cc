#include "kubelet/pod_resources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace pagoda::kubelet {
namespace {

using testing::HasSubstr;

const PodDevice kDevice{"nvidia.com/gpu", "GPU-0::3", "serve-1", "default", "worker"};

TEST(PodDevices, ThereAndBack) {
  const std::vector<PodDevice> devices = {kDevice, {"nvidia.com/mig-1g.10gb", "MIG-1", "a", "b", "c"}};
  EXPECT_EQ(*parse_pod_devices(pod_devices_text(devices)), devices);
  EXPECT_TRUE(parse_pod_devices("[]")->empty());
  EXPECT_FALSE(parse_pod_devices("[{}]"));
  EXPECT_FALSE(parse_pod_devices(""));
  EXPECT_EQ(kDevice.uuid(), "GPU-0");
  EXPECT_EQ(devices[1].uuid(), "MIG-1");
}

class Asking : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  // A program that stands for pagoda-grpc.
  std::string program(const std::string& script) const {
    const std::string path = folder_ / "program";
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    chmod(path.c_str(), 0755);
    return path;
  }
  std::string socket() const {
    const std::string path = folder_ / "kubelet.sock";
    std::ofstream(path) << "";
    return path;
  }
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("pagoda-pods-" + std::to_string(getpid()));
};

TEST_F(Asking, TheProgramGetsSocketAndDeadline) {
  const auto found = list_pod_devices_by(
      program(
          R"(printf '[{"resource":"%s","device":"%s","pod":"","namespace":"","container":""}]' "$1" "$3")"),
      socket(), std::chrono::milliseconds(250));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->front().resource, "pod-resources");
  EXPECT_EQ(found->front().device_id, "250");
}

TEST_F(Asking, WhatGoesWrong) {
  const std::chrono::milliseconds deadline(100);
  EXPECT_THAT(list_pod_devices_by("/bin/true", folder_ / "absent.sock", deadline).error().message,
              HasSubstr("no kubelet here"));
  EXPECT_EQ(list_pod_devices_by(program("echo 'pagoda-grpc: no answer' >&2; exit 1"), socket(), deadline)
                .error()
                .message,
            "pagoda-grpc: no answer");
  EXPECT_EQ(list_pod_devices_by(program("exit 3"), socket(), deadline).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(list_pod_devices_by(program("echo rubbish"), socket(), deadline).error().code,
            ErrorCode::kCorruptData);
}

}  // namespace
}  // namespace pagoda::kubelet
