// Watches the node's GPUs: XIDs as NVML tells them, and whether each still answers.
#pragma once

#include <atomic>
#include <thread>
#include <vector>

#include "driver/nvml_events.h"
#include "kubelet/device_health.h"
#include "kubelet/plugin_resource.h"

namespace pagoda::kubelet {

// An XID whose remedy is to restart the application, or none: no reason to take the GPU from everybody else.
bool is_applications_own_xid(unsigned long long xid);

class HealthWatch {
 public:
  // `health` outlives the watch. A GPU that NVML takes no event registration of is watched by its answers
  // alone.
  HealthWatch(driver::Nvml nvml, const std::vector<PluginResource>& resources, std::vector<int> ignored_xids,
              DeviceHealth& health);
  ~HealthWatch();
  HealthWatch(const HealthWatch&) = delete;
  HealthWatch& operator=(const HealthWatch&) = delete;

 private:
  void run();
  void take(const driver::NvmlEvent& event);
  void look_at_answers();

  driver::Nvml nvml_;
  std::vector<PluginDevice> devices_;  // one per UUID
  std::vector<int> ignored_xids_;
  DeviceHealth& health_;
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

}  // namespace pagoda::kubelet
