// Events: XIDs and others, told to those who wait for them.
#include <nvml.h>

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "simulate/abi/reply.h"

using namespace pagoda::simulate;

namespace {

constexpr auto kPoll = std::chrono::milliseconds(10);
constexpr unsigned long long kSupported = nvmlEventTypeSingleBitEccError | nvmlEventTypeDoubleBitEccError |
                                          nvmlEventTypePState | nvmlEventTypeXidCriticalError |
                                          nvmlEventTypeClock;

// Behind an nvmlEventSet_t. Events from its making on are told, each once.
struct EventSet {
  std::mutex mutex;
  double seen = 0;  // scenario seconds up to which events are in `waiting` or told
  std::map<unsigned, unsigned long long> types;  // GPU → types that were registered for it
  std::deque<Machine::Event> waiting;
};

std::mutex sets_mutex;
std::map<nvmlEventSet_t, std::shared_ptr<EventSet>>& sets() {
  static auto* all = new std::map<nvmlEventSet_t, std::shared_ptr<EventSet>>;
  return *all;
}

std::shared_ptr<EventSet> find_set(nvmlEventSet_t handle) {
  std::lock_guard lock(sets_mutex);
  const auto found = sets().find(handle);
  return found == sets().end() ? nullptr : found->second;
}

void collect(EventSet& set, Machine& machine) {
  const double now = machine.seconds();
  for (const auto& event : machine.events_between(set.seen, now)) {
    const auto types = set.types.find(event.gpu);
    if (types != set.types.end() && (types->second & event.type) != 0) set.waiting.push_back(event);
  }
  set.seen = now;
}

nvmlReturn_t wait(const char* function, nvmlEventSet_t handle, nvmlEventData_t* data, unsigned timeout_ms) {
  Reply reply(function);
  const auto set = find_set(handle);
  if (reply.require(set != nullptr && data != nullptr).failed()) return reply;
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  while (true) {
    {
      std::lock_guard lock(set->mutex);
      collect(*set, reply.machine());
      if (!set->waiting.empty()) {
        const Machine::Event event = set->waiting.front();
        set->waiting.pop_front();
        *data = {Session::instance().handle(event.gpu), event.type, event.data, event.gpu_instance,
                 event.compute_instance};
        return NVML_SUCCESS;
      }
    }
    if (std::chrono::steady_clock::now() >= until) return NVML_ERROR_TIMEOUT;
    std::this_thread::sleep_for(kPoll);
  }
}

}  // namespace

PAGODA_NVML_EXPORT nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t* set) {
  Reply reply("nvmlEventSetCreate");
  if (reply.require(set != nullptr).failed()) return reply;
  auto made = std::make_shared<EventSet>();
  made->seen = reply.machine().seconds();
  std::lock_guard lock(sets_mutex);
  *set = reinterpret_cast<nvmlEventSet_t>(made.get());
  sets().emplace(*set, std::move(made));
  return NVML_SUCCESS;
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set) {
  Reply reply("nvmlEventSetFree");
  if (reply.failed()) return reply;
  std::lock_guard lock(sets_mutex);
  return sets().erase(set) == 1 ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t device,
                                                                 unsigned long long* types) {
  Reply reply("nvmlDeviceGetSupportedEventTypes", device);
  if (!reply.require(types != nullptr).failed()) *types = kSupported;
  return reply;
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long types,
                                                         nvmlEventSet_t handle) {
  Reply reply("nvmlDeviceRegisterEvents", device);
  const auto set = find_set(handle);
  reply.require(set != nullptr).require((types & ~kSupported) == 0, NVML_ERROR_NOT_SUPPORTED);
  if (reply.failed()) return reply;
  std::lock_guard lock(set->mutex);
  set->types[reply.device().gpu] |= types;
  return NVML_SUCCESS;
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t* data,
                                                    unsigned timeout_ms) {
  return wait("nvmlEventSetWait_v2", set, data, timeout_ms);
}
// The first version knows no instances.
PAGODA_NVML_EXPORT nvmlReturn_t nvmlEventSetWait(nvmlEventSet_t set, nvmlEventData_t* data,
                                                 unsigned timeout_ms) {
  const nvmlReturn_t code = wait("nvmlEventSetWait", set, data, timeout_ms);
  if (code == NVML_SUCCESS) data->gpuInstanceId = data->computeInstanceId = 0xFFFFFFFF;
  return code;
}
