#include "kubelet/plugin_resource.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "kubelet/health_watch.h"

namespace pagoda::kubelet {
namespace {

using container::GpuDevice;
using container::MigDevice;
using testing::HasSubstr;

GpuDevice gpu(int index, std::string address = "") {
  GpuDevice device;
  device.index = device.minor = index;
  device.uuid = "GPU-" + std::to_string(index);
  device.pci_address = std::move(address);
  return device;
}

GpuDevice cut(int index, std::vector<std::string> profiles) {
  GpuDevice device = gpu(index);
  device.mig_mode = true;
  for (auto& profile : profiles) {
    MigDevice mig;
    mig.index = static_cast<int>(device.migs.size());
    mig.gpu_instance = 7 + mig.index;
    mig.uuid = "MIG-" + std::to_string(index) + std::to_string(mig.index);
    mig.profile = std::move(profile);
    device.migs.push_back(mig);
  }
  return device;
}

class Resources : public testing::Test {
 protected:
  std::string shown(const std::vector<GpuDevice>& gpus, const DevicePluginOptions& options) const {
    const auto found = plugin_resources(gpus, *driver::HostRoot::open("/"), options);
    if (!found) return found.error().message;
    std::string text;
    for (const auto& resource : *found) {
      text += resource.name + ":";
      for (const auto& device : resource.devices) text += " " + device.id;
      text += "\n";
    }
    return text;
  }
  DevicePluginOptions options_;
};

TEST_F(Resources, WholeGpusAndReplicas) {
  EXPECT_EQ(shown({gpu(0), gpu(1)}, options_), "nvidia.com/gpu: GPU-0 GPU-1\n");
  options_.replicas = 2;
  EXPECT_EQ(shown({gpu(0)}, options_), "nvidia.com/gpu: GPU-0::0 GPU-0::1\n");
}

TEST_F(Resources, MigByStrategy) {
  const std::vector<GpuDevice> gpus = {gpu(0), cut(1, {"1g.10gb", "3g.40gb", "1g.10gb+me"})};
  EXPECT_EQ(shown(gpus, options_),
            "nvidia.com/gpu: GPU-0\nnvidia.com/mig-1g.10gb: MIG-10\nnvidia.com/mig-1g.10gb.me: MIG-12\n"
            "nvidia.com/mig-3g.40gb: MIG-11\n");
  options_.mig_strategy = MigStrategy::kNone;
  EXPECT_EQ(shown(gpus, options_), "nvidia.com/gpu: GPU-0\n");
  options_.mig_strategy = MigStrategy::kSingle;
  EXPECT_THAT(shown(gpus, options_), HasSubstr("not all devices of this node are of one kind"));
  EXPECT_EQ(shown({cut(0, {"1g.10gb", "1g.10gb"})}, options_), "nvidia.com/gpu: MIG-00 MIG-01\n");
}

TEST_F(Resources, NothingToOffer) {
  EXPECT_THAT(shown({}, options_), HasSubstr("no GPU answers"));
  EXPECT_THAT(shown({cut(0, {})}, options_), HasSubstr("is in MIG mode"));
}

TEST_F(Resources, NumaNodesAndNames) {
  char folder[] = "/tmp/pagoda-numa-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::filesystem::path place = std::string(folder) + "/sys/bus/pci/devices/0000:17:00.0";
  std::filesystem::create_directories(place);
  std::ofstream(place / "numa_node") << "1\n";
  const auto found = plugin_resources({gpu(0, "0000:17:00.0"), gpu(1, "0000:18:00.0")},
                                      *driver::HostRoot::open(folder), options_);
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(found);
  const auto& devices = found->front().devices;
  EXPECT_EQ(devices[0].numa_node, 1);
  EXPECT_EQ(devices[1].numa_node, std::nullopt);
  EXPECT_EQ(cdi_name(devices[0]), "nvidia.com/gpu=GPU-0");
  EXPECT_EQ(found->front().socket_name(), "pagoda-gpu.sock");
}

TEST(Options, ThereAndBack) {
  DevicePluginOptions options;
  options.folder = "/x y/\"z\"";
  options.mig_strategy = MigStrategy::kSingle;
  options.replicas = 3;
  options.device_lists = {DeviceList::kEnvironment, DeviceList::kCdi};
  options.ignored_xids = {109};
  EXPECT_EQ(*parse_options_text(options_text(options)), options);
  EXPECT_FALSE(parse_options_text("{}"));
  EXPECT_FALSE(parse_options_text("["));
}

TEST(Health, CondemnedForGoodSilentForAWhile) {
  DeviceHealth health;
  const auto before = health.version();
  EXPECT_TRUE(health.is_healthy("GPU-0"));
  EXPECT_TRUE(health.set_silent("GPU-0", true));
  EXPECT_FALSE(health.set_silent("GPU-0", true));
  EXPECT_FALSE(health.is_healthy("GPU-0"));
  EXPECT_TRUE(health.set_silent("GPU-0", false));
  EXPECT_TRUE(health.is_healthy("GPU-0"));
  health.condemn("GPU-0", "XID 79");
  health.set_silent("GPU-0", true);
  health.set_silent("GPU-0", false);
  EXPECT_EQ(health.reason("GPU-0"), "XID 79");
  EXPECT_GT(health.version(), before);
}

TEST(Health, WhoseFaultAnXidIs) {
  for (const unsigned xid : {13u, 31u, 43u, 45u, 68u, 94u}) EXPECT_TRUE(is_applications_own_xid(xid)) << xid;
  for (const unsigned xid : {48u, 74u, 79u, 95u, 109u, 119u})
    EXPECT_FALSE(is_applications_own_xid(xid)) << xid;
}

}  // namespace
}  // namespace pagoda::kubelet
