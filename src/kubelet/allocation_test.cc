#include "kubelet/allocation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pagoda::kubelet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

PluginResource resource_of(int gpus, int replicas = 1) {
  PluginResource resource{"nvidia.com/gpu", {}};
  for (int gpu = 0; gpu < gpus; ++gpu) {
    for (int replica = 0; replica < replicas; ++replica) {
      PluginDevice device;
      device.uuid = "GPU-" + std::to_string(gpu);
      device.id = replicas == 1 ? device.uuid : device.uuid + "::" + std::to_string(replica);
      device.gpu = gpu;
      resource.devices.push_back(device);
    }
  }
  return resource;
}

std::vector<std::string> ids_of(const PluginResource& resource) {
  std::vector<std::string> ids;
  for (const auto& device : resource.devices) ids.push_back(device.id);
  return ids;
}

// Two boards of four: links within each, the processors' link between them.
GpuCloseness two_islands() {
  GpuCloseness closeness;
  for (int a = 0; a < 8; ++a) {
    for (int b = a + 1; b < 8; ++b) closeness.set(a, b, a / 4 == b / 4 ? 4 * GpuCloseness::kPerNvLink : 10);
  }
  return closeness;
}

TEST(PreferredDevices, AWellConnectedSet) {
  const auto resource = resource_of(8);
  auto available = ids_of(resource);
  available.erase(available.begin());  // GPU-0 is taken: four together are 4 … 7
  EXPECT_THAT(*preferred_devices(resource, two_islands(), {available, {}, 4}),
              ElementsAre("GPU-4", "GPU-5", "GPU-6", "GPU-7"));
  EXPECT_THAT(*preferred_devices(resource, two_islands(), {available, {"GPU-2"}, 2}),
              ElementsAre("GPU-2", "GPU-1"));
}

TEST(PreferredDevices, OneIsTakenWhereTheRestStaysTogether) {
  const auto resource = resource_of(8);
  auto available = ids_of(resource);
  available.erase(available.begin());  // 1 2 3 | 4 5 6 7: the broken island gives
  EXPECT_THAT(*preferred_devices(resource, two_islands(), {available, {}, 1}), ElementsAre("GPU-1"));
}

TEST(PreferredDevices, TheOrderOfTheQuestionDoesNotMatter) {
  const auto resource = resource_of(8);
  auto available = ids_of(resource);
  const auto first = preferred_devices(resource, two_islands(), {available, {}, 3});
  std::reverse(available.begin(), available.end());
  EXPECT_EQ(*first, *preferred_devices(resource, two_islands(), {available, {}, 3}));
}

TEST(PreferredDevices, SharedOnesAreSpread) {
  const auto resource = resource_of(2, 4);
  EXPECT_THAT(*preferred_devices(resource, {}, {ids_of(resource), {}, 2}),
              ElementsAre("GPU-0::0", "GPU-1::0"));
  // GPU-0 has one turn left, GPU-1 three.
  EXPECT_THAT(*preferred_devices(resource, {}, {{"GPU-0::3", "GPU-1::1", "GPU-1::2", "GPU-1::3"}, {}, 1}),
              ElementsAre("GPU-1::1"));
}

TEST(PreferredDevices, ManyDevicesTakeNoTime) {
  const auto resource = resource_of(64);
  EXPECT_EQ(preferred_devices(resource, two_islands(), {ids_of(resource), {}, 32})->size(), 32u);
}

TEST(PreferredDevices, BadQuestions) {
  const auto resource = resource_of(2);
  EXPECT_THAT(preferred_devices(resource, {}, {{"GPU-7"}, {}, 1}).error().message,
              HasSubstr("no device 'GPU-7'"));
  EXPECT_THAT(preferred_devices(resource, {}, {ids_of(resource), {}, 3}).error().message,
              HasSubstr("3 of nvidia.com/gpu are wanted"));
  EXPECT_THAT(preferred_devices(resource, {}, {ids_of(resource), ids_of(resource), 1}).error().message,
              HasSubstr("2 of them named"));
  EXPECT_TRUE(preferred_devices(resource, {}, {ids_of(resource), {}, 0})->empty());
}

TEST(Allocate, EachWayOfTelling) {
  const auto resource = resource_of(2, 2);
  DevicePluginOptions options;
  options.replicas = 2;
  const std::vector<std::string> ids = {"GPU-1::0", "GPU-1::1", "GPU-0::0"};
  auto answer = allocate(resource, {}, ids, options);
  EXPECT_THAT(answer->cdi_names, ElementsAre("nvidia.com/gpu=GPU-1", "nvidia.com/gpu=GPU-0"));
  EXPECT_TRUE(answer->environment.empty() && answer->annotations.empty());
  options.device_lists = {DeviceList::kCdiAnnotations, DeviceList::kEnvironment};
  answer = allocate(resource, {}, ids, options);
  EXPECT_TRUE(answer->cdi_names.empty());
  EXPECT_THAT(answer->environment, ElementsAre(Pair("NVIDIA_VISIBLE_DEVICES", "GPU-1,GPU-0")));
  EXPECT_THAT(answer->annotations,
              ElementsAre(Pair("cdi.k8s.io/pagoda_gpu", "nvidia.com/gpu=GPU-1,nvidia.com/gpu=GPU-0")));
}

TEST(Allocate, Refusals) {
  const auto resource = resource_of(1, 2);
  DevicePluginOptions options;
  options.replicas = 2;
  options.one_replica_each = true;
  EXPECT_TRUE(allocate(resource, {}, {"GPU-0::1"}, options));
  EXPECT_THAT(allocate(resource, {}, {"GPU-0::0", "GPU-0::1"}, options).error().message,
              HasSubstr("is shared"));
  EXPECT_THAT(allocate(resource, {}, {"GPU-0"}, options).error().message, HasSubstr("no device 'GPU-0'"));
  DeviceHealth health;
  health.condemn("GPU-0", "XID 79");
  EXPECT_THAT(allocate(resource, health, {"GPU-0::1"}, options).error().message,
              HasSubstr("GPU-0 is unhealthy: XID 79"));
}

}  // namespace
}  // namespace pagoda::kubelet
