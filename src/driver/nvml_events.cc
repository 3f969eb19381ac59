#include "driver/nvml_events.h"

namespace pagoda::driver {
namespace {

constexpr unsigned kNoInstance = 0xFFFFFFFF;

std::optional<unsigned> instance_of(unsigned id) {
  return id == kNoInstance ? std::nullopt : std::optional(id);
}

}  // namespace

struct NvmlEvents::Set {
  explicit Set(nvml::Runner owner) : runner(std::move(owner)) {}
  ~Set() {
    if (handle != nullptr)
      runner.run<std::tuple<>>(nvml::kEventSetFree,
                               [set = handle](auto* function, auto&) { return function(set); });
  }
  Set(const Set&) = delete;
  Set& operator=(const Set&) = delete;

  nvml::Runner runner;
  nvmlEventSet_t handle = nullptr;
};

Reading<NvmlEvents> NvmlEvents::open(const Nvml& nvml, unsigned long long types) {
  const nvml::Runner& system = nvml.system();
  auto set = std::make_shared<Set>(
      nvml::Runner(system.library(), std::make_shared<NvmlWorker>(), system.deadline()));
  const auto handle = set->runner.run<nvmlEventSet_t>(
      nvml::kEventSetCreate, [](auto* function, nvmlEventSet_t& out) { return function(&out); });
  if (!handle) return tl::unexpected<Absence>(handle.error());
  set->handle = *handle;
  std::vector<unsigned> registered;
  Absence last = absence_of(NVML_ERROR_NOT_FOUND);
  for (const Gpu& gpu : nvml.gpus()) {
    const auto supported = gpu.read(nvml::kDeviceGetSupportedEventTypes);
    const unsigned long long wanted = supported.value_or(types) & types;
    const auto done = wanted == 0 ? Reading<void>(absent(NVML_ERROR_NOT_SUPPORTED))
                                  : gpu.read(nvml::kDeviceRegisterEvents, wanted, set->handle);
    if (done) registered.push_back(gpu.index());
    if (!done) last = done.error();
  }
  if (registered.empty()) return tl::unexpected<Absence>(last);
  return NvmlEvents(nvml, std::move(set), std::move(registered));
}

Reading<std::optional<NvmlEvent>> NvmlEvents::wait(std::chrono::milliseconds timeout) {
  // The library's own time-out comes first; the deadline is for a library that does not keep it.
  const auto data = set_->runner.run_within<nvmlEventData_t>(
      timeout + set_->runner.deadline(), nvml::kEventSetWait_v2,
      [set = set_, timeout](auto* function, nvmlEventData_t& out) {
        return function(set->handle, &out, static_cast<unsigned>(timeout.count()));
      });
  if (!data && data.error().code == NVML_ERROR_TIMEOUT && !set_->runner.worker()->stuck())
    return std::nullopt;
  if (!data) return tl::unexpected<Absence>(data.error());
  NvmlEvent event{0, data->eventType, data->eventData, instance_of(data->gpuInstanceId),
                  instance_of(data->computeInstanceId)};
  for (const Gpu& gpu : nvml_.gpus()) {
    if (gpu.handle() && *gpu.handle() == data->device) event.gpu = gpu.index();
  }
  return event;
}

}  // namespace pagoda::driver
