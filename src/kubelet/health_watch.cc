#include "kubelet/health_watch.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/format.h"
#include "base/log.h"

namespace pagoda::kubelet {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kEventWait{500};  // how soon the watch notices that it should end
constexpr std::chrono::seconds kLookInterval{5};
constexpr std::chrono::seconds kRetryInterval{30};

// The remedy is to restart the application, or nothing: NVIDIA's XID catalogue.
constexpr std::array<unsigned, 14> kApplicationsOwn = {
    13,  // graphics engine exception
    31,  // memory page fault
    32,  // corrupted push buffer
    37,  // the driver's note
    38,  // the driver's note
    42,  // video processor exception
    43,  // the application's channel was stopped
    45,  // the application was ended
    63,  // a row remap was recorded; it is done at the next reset
    66,  // illegal access
    67,  // illegal access
    68,  // video decoder exception
    69,  // class error
    94,  // a contained memory error: the application that met it ends
};

bool is_hit(const PluginDevice& device, const driver::NvmlEvent& event) {
  if (device.gpu != static_cast<int>(event.gpu)) return false;
  if (!event.gpu_instance || !device.gpu_instance) return true;
  if (*device.gpu_instance != static_cast<int>(*event.gpu_instance)) return false;
  return !event.compute_instance || *device.compute_instance == static_cast<int>(*event.compute_instance);
}

}  // namespace

bool is_applications_own_xid(unsigned long long xid) {
  return std::find(kApplicationsOwn.begin(), kApplicationsOwn.end(), xid) != kApplicationsOwn.end();
}

HealthWatch::HealthWatch(driver::Nvml nvml, const std::vector<PluginResource>& resources,
                         std::vector<int> ignored_xids, DeviceHealth& health)
    : nvml_(std::move(nvml)), ignored_xids_(std::move(ignored_xids)), health_(health) {
  for (const auto& resource : resources) {
    for (const auto& device : resource.devices) {
      const bool known = std::any_of(devices_.begin(), devices_.end(),
                                     [&](const auto& other) { return other.uuid == device.uuid; });
      if (!known) devices_.push_back(device);
    }
  }
  thread_ = std::thread([this] { run(); });
}

HealthWatch::~HealthWatch() {
  ends_ = true;
  thread_.join();
}

void HealthWatch::run() {
  auto events = driver::NvmlEvents::open(nvml_);
  if (!events) log::warning("no XIDs will be told: {}", describe(events.error().reason));
  auto next_look = Clock::now(), next_open = Clock::now() + kRetryInterval;
  while (!ends_) {
    if (Clock::now() >= next_look) {
      look_at_answers();
      next_look = Clock::now() + kLookInterval;
    }
    if (!events && Clock::now() >= next_open) {
      events = driver::NvmlEvents::open(nvml_);
      next_open = Clock::now() + kRetryInterval;
    }
    if (!events) {
      std::this_thread::sleep_for(kEventWait);
      continue;
    }
    const auto event = events->wait(kEventWait);
    if (event && *event) take(**event);
    if (event) continue;
    // A set that fails once does not recover; a new one may.
    log::warning("waiting for XIDs failed: {}", describe(event.error().reason));
    events = tl::unexpected<driver::Absence>(event.error());
    next_open = Clock::now() + kRetryInterval;
  }
}

void HealthWatch::take(const driver::NvmlEvent& event) {
  if (event.type != nvmlEventTypeXidCriticalError) return;
  const bool ignored = is_applications_own_xid(event.data) ||
                       std::find(ignored_xids_.begin(), ignored_xids_.end(), static_cast<int>(event.data)) !=
                           ignored_xids_.end();
  if (ignored) {
    log::info("GPU {}: XID {}, which is no fault of the GPU's", event.gpu, event.data);
    return;
  }
  for (const auto& device : devices_) {
    if (!is_hit(device, event)) continue;
    log::error("{} (GPU {}) is unhealthy: XID {} (pagoda doctor)", device.uuid, event.gpu, event.data);
    health_.condemn(device.uuid, format("XID {}", event.data));
  }
}

void HealthWatch::look_at_answers() {
  nvml_.for_each_gpu([this](const driver::Gpu& gpu) {
    const auto answer = gpu.memory();
    // A card without this reading is no card that is lost.
    const bool silent = !answer && (answer.error().reason == driver::AbsenceReason::kLost ||
                                    answer.error().reason == driver::AbsenceReason::kTimedOut);
    for (const auto& device : devices_) {
      if (device.gpu != static_cast<int>(gpu.index())) continue;
      if (health_.set_silent(device.uuid, silent))
        log::warning("{} (GPU {}) {}", device.uuid, gpu.index(),
                     silent ? "does not answer" : "answers again");
    }
  });
}

}  // namespace pagoda::kubelet
