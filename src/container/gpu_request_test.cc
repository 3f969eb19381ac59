#include "container/gpu_request.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace pagoda::container {
namespace {

using Json = nlohmann::ordered_json;

Json with(std::vector<std::string> environment) {
  return {{"process", {{"env", environment}}}};
}

TEST(GpuRequest, TheVariablesMeanings) {
  const auto devices = [](const std::string& value) {
    const auto request = read_gpu_request(with({"NVIDIA_VISIBLE_DEVICES=" + value}), {}).value();
    return request.wanted ? request.devices : std::vector<std::string>{"not wanted"};
  };
  EXPECT_THAT(devices(""), testing::ElementsAre("not wanted"));
  EXPECT_THAT(devices("void"), testing::ElementsAre("not wanted"));
  EXPECT_THAT(devices("none"), testing::ElementsAre());
  EXPECT_THAT(devices("0,GPU-1,0:1"), testing::ElementsAre("0", "GPU-1", "0:1"));
  EXPECT_THAT(devices("nvidia.com/gpu=all"), testing::ElementsAre("all"));
  EXPECT_EQ(read_gpu_request(with({"NVIDIA_VISIBLE_DEVICES=x.y/nic=0"}), {})->others.at(0), "x.y/nic=0");
  EXPECT_FALSE(read_gpu_request(with({"NVIDIA_VISIBLE_DEVICES=$(x)"}), {}));
}

TEST(GpuRequest, TheLastVariableCounts) {
  EXPECT_EQ(
      read_gpu_request(with({"NVIDIA_VISIBLE_DEVICES=0", "NVIDIA_VISIBLE_DEVICES=1"}), {})->devices.at(0),
      "1");
}

TEST(GpuRequest, RulesOfTheConfiguration) {
  const RequestRules strict{.variable_when_unprivileged = false, .volume_mounts = true};
  EXPECT_EQ(read_gpu_request(with({"NVIDIA_VISIBLE_DEVICES=0"}), strict).error().code,
            ErrorCode::kUnauthorized);
  Json mounted = with({});
  mounted["mounts"] = Json::array({{{"destination", "/var/run/nvidia-container-devices/1"}}});
  EXPECT_EQ(read_gpu_request(mounted, strict)->devices.at(0), "1");
  EXPECT_FALSE(read_gpu_request(mounted, {})->wanted);
}

TEST(GpuRequest, Capabilities) {
  EXPECT_EQ(read_gpu_request(with({}), {})->capabilities, default_capabilities());
  EXPECT_EQ(read_gpu_request(with({"NVIDIA_DRIVER_CAPABILITIES=compute,all"}), {})->capabilities,
            all_capabilities());
  EXPECT_EQ(read_gpu_request(with({"NVIDIA_DRIVER_CAPABILITIES=video"}), {})->capabilities,
            Capabilities{Capability::kVideo});
}

TEST(Requirements, CommasAreAndSpacesAreOr) {
  const DriverOffer offer{"535.54.03", "12.2", "8.0", ""};
  const auto met = [&](const std::string& text) {
    return check_requirements(with({"NVIDIA_REQUIRE_CUDA=" + text}), offer).has_value();
  };
  EXPECT_TRUE(met("cuda>=12.0"));
  EXPECT_FALSE(met("cuda>=12.4"));
  EXPECT_TRUE(met("cuda>=12.4 brand=tesla,driver>=535,driver<536"));
  EXPECT_FALSE(met("cuda>=12.4 driver>=536"));
  EXPECT_FALSE(met("cuda>=12.0,arch>=9.0"));
  EXPECT_TRUE(met("cuda!=12.1,arch=8.0"));
  EXPECT_TRUE(met(""));
  EXPECT_FALSE(met("cuda~12"));
  EXPECT_TRUE(
      check_requirements(with({"NVIDIA_REQUIRE_CUDA=cuda>=99", "NVIDIA_DISABLE_REQUIRE=true"}), offer));
}

}  // namespace
}  // namespace pagoda::container
