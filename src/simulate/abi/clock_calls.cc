// Clocks: current, highest, asked for, supported; and why they are held down.
#include <nvml.h>

#include <algorithm>

#include "base/format.h"
#include "simulate/abi/reply.h"

using namespace pagoda::simulate;

namespace {

constexpr const char* kDomains[] = {"graphics", "sm", "memory", "video"};

bool is_domain(nvmlClockType_t type) {
  return type >= 0 && type < NVML_CLOCK_COUNT;
}

// The current clock, within the bounds that a setting has locked it to.
nvmlReturn_t current_clock(Reply& reply, nvmlClockType_t type, unsigned* mhz) {
  reply.put(pagoda::format("clocks.current.{}", kDomains[type]), mhz);
  if (reply.failed() || type == NVML_CLOCK_VIDEO) return reply;
  const std::string bounds = type == NVML_CLOCK_MEM ? "clocks.locked_memory" : "clocks.locked_gpu";
  const double low = reply.number_or(bounds + ".min", 0), high = reply.number_or(bounds + ".max", 1e9);
  *mhz = static_cast<unsigned>(std::clamp<double>(*mhz, std::min(low, high), high));
  return reply;
}

nvmlReturn_t clock(const char* function, nvmlDevice_t device, const char* group, nvmlClockType_t type,
                   unsigned* mhz) {
  Reply reply(function, device);
  if (reply.require(is_domain(type)).require(mhz != nullptr).failed()) return reply;
  return reply.put(pagoda::format("clocks.{}.{}", group, kDomains[type]), mhz);
}

}  // namespace

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type,
                                                       unsigned* mhz) {
  Reply reply("nvmlDeviceGetClockInfo", device);
  if (reply.require(is_domain(type)).require(mhz != nullptr).failed()) return reply;
  return current_clock(reply, type, mhz);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type,
                                                          unsigned* mhz) {
  return clock("nvmlDeviceGetMaxClockInfo", device, "max", type, mhz);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetApplicationsClock(nvmlDevice_t device, nvmlClockType_t type,
                                                               unsigned* mhz) {
  return clock("nvmlDeviceGetApplicationsClock", device, "application", type, mhz);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetDefaultApplicationsClock(nvmlDevice_t device,
                                                                      nvmlClockType_t type, unsigned* mhz) {
  return clock("nvmlDeviceGetDefaultApplicationsClock", device, "default_application", type, mhz);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetMaxCustomerBoostClock(nvmlDevice_t device, nvmlClockType_t type,
                                                                   unsigned* mhz) {
  return clock("nvmlDeviceGetMaxCustomerBoostClock", device, "customer_boost_max", type, mhz);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetClock(nvmlDevice_t device, nvmlClockType_t type,
                                                   nvmlClockId_t id, unsigned* mhz) {
  constexpr const char* kGroups[] = {"current", "application", "default_application", "customer_boost_max"};
  Reply reply("nvmlDeviceGetClock", device);
  if (reply.require(is_domain(type))
          .require(id >= 0 && id < NVML_CLOCK_ID_COUNT)
          .require(mhz != nullptr)
          .failed())
    return reply;
  if (id == NVML_CLOCK_ID_CURRENT) return current_clock(reply, type, mhz);
  return reply.put(pagoda::format("clocks.{}.{}", kGroups[id], kDomains[type]), mhz);
}

PAGODA_SIMULATED_VALUE(nvmlDeviceGetCurrentClocksEventReasons, unsigned long long, "clocks.event_reasons")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetCurrentClocksThrottleReasons, unsigned long long, "clocks.event_reasons")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetSupportedClocksEventReasons, unsigned long long,
                       "clocks.supported_event_reasons")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetSupportedClocksThrottleReasons, unsigned long long,
                       "clocks.supported_event_reasons")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetAdaptiveClockInfoStatus, unsigned, "clocks.adaptive")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetPerformanceState, nvmlPstates_t, "pstate")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetPowerState, nvmlPstates_t, "pstate")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetGpcClkVfOffset, int, "clocks.offset.graphics.current")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetMemClkVfOffset, int, "clocks.offset.memory.current")
PAGODA_SIMULATED_PAIR(nvmlDeviceGetGpcClkMinMaxVfOffset, int, "clocks.offset.graphics.min",
                      "clocks.offset.graphics.max")
PAGODA_SIMULATED_PAIR(nvmlDeviceGetMemClkMinMaxVfOffset, int, "clocks.offset.memory.min",
                      "clocks.offset.memory.max")

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetClockOffsets(nvmlDevice_t device, nvmlClockOffset_t* info) {
  Reply reply("nvmlDeviceGetClockOffsets", device);
  if (reply.require(is_version(info, {nvmlClockOffset_v1}), NVML_ERROR_ARGUMENT_VERSION_MISMATCH).failed())
    return reply;
  reply.require(info->type == NVML_CLOCK_GRAPHICS || info->type == NVML_CLOCK_MEM);
  if (reply.failed()) return reply;
  const std::string stem =
      pagoda::format("clocks.offset.{}", info->type == NVML_CLOCK_MEM ? "memory" : "graphics");
  return reply.put(stem + ".current", &info->clockOffsetMHz)
      .put(stem + ".min", &info->minClockOffsetMHz)
      .put(stem + ".max", &info->maxClockOffsetMHz);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetSupportedMemoryClocks(nvmlDevice_t device, unsigned* count,
                                                                   unsigned* clocks) {
  Reply reply("nvmlDeviceGetSupportedMemoryClocks", device);
  if (reply.failed()) return reply;
  const Answer rows = reply.get("clocks.supported");
  if (rows.code != NVML_SUCCESS) return rows.code;
  std::vector<unsigned> mhz;
  for (const Record& row : *rows.list)
    mhz.push_back(static_cast<unsigned>(reply.machine().record_value(reply.device(), row, "memory").number));
  return hand_out(mhz, count, clocks);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetSupportedGraphicsClocks(nvmlDevice_t device, unsigned memory_mhz,
                                                                     unsigned* count, unsigned* clocks) {
  Reply reply("nvmlDeviceGetSupportedGraphicsClocks", device);
  if (reply.failed()) return reply;
  const Answer rows = reply.get("clocks.supported");
  if (rows.code != NVML_SUCCESS) return rows.code;
  for (const Record& row : *rows.list) {
    const auto number = [&](std::string_view key) {
      return static_cast<int>(reply.machine().record_value(reply.device(), row, key).number);
    };
    if (number("memory") != static_cast<int>(memory_mhz)) continue;
    std::vector<unsigned> mhz;
    for (int clock = number("graphics_from"); clock >= number("graphics_to") && number("graphics_step") > 0;
         clock -= number("graphics_step"))
      mhz.push_back(static_cast<unsigned>(clock));
    return hand_out(mhz, count, clocks);
  }
  return NVML_ERROR_NOT_FOUND;
}

namespace {

nvmlReturn_t pstate_rows(Reply& reply, std::shared_ptr<const std::vector<Record>>& rows) {
  if (reply.failed()) return reply;
  const Answer answer = reply.get("pstates");
  rows = answer.list;
  return answer.code;
}

}  // namespace

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetSupportedPerformanceStates(nvmlDevice_t device,
                                                                        nvmlPstates_t* pstates,
                                                                        unsigned size) {
  Reply reply("nvmlDeviceGetSupportedPerformanceStates", device);
  std::shared_ptr<const std::vector<Record>> rows;
  if (const nvmlReturn_t code = pstate_rows(reply.require(pstates != nullptr), rows); code != NVML_SUCCESS)
    return code;
  const unsigned room = size / sizeof *pstates;  // the size is in bytes
  if (room < rows->size()) return NVML_ERROR_INSUFFICIENT_SIZE;
  std::fill_n(pstates, room, NVML_PSTATE_UNKNOWN);
  for (size_t i = 0; i < rows->size(); ++i)
    pstates[i] =
        Reply::as<nvmlPstates_t>(reply.machine().record_value(reply.device(), (*rows)[i], "pstate").number);
  return NVML_SUCCESS;
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetMinMaxClockOfPState(nvmlDevice_t device, nvmlClockType_t type,
                                                                 nvmlPstates_t pstate, unsigned* low,
                                                                 unsigned* high) {
  Reply reply("nvmlDeviceGetMinMaxClockOfPState", device);
  std::shared_ptr<const std::vector<Record>> rows;
  reply.require(is_domain(type)).require(low != nullptr && high != nullptr);
  if (const nvmlReturn_t code = pstate_rows(reply, rows); code != NVML_SUCCESS) return code;
  const std::string domain = type == NVML_CLOCK_MEM ? "memory" : "graphics";
  if (type == NVML_CLOCK_VIDEO) return NVML_ERROR_NOT_SUPPORTED;
  for (const Record& row : *rows) {
    const auto number = [&](std::string_view key) {
      return static_cast<unsigned>(reply.machine().record_value(reply.device(), row, key).number);
    };
    if (number("pstate") != static_cast<unsigned>(pstate)) continue;
    *low = number(domain + "_min");
    *high = number(domain + "_max");
    return NVML_SUCCESS;
  }
  return NVML_ERROR_INVALID_ARGUMENT;
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetDynamicPstatesInfo(nvmlDevice_t device,
                                                                nvmlGpuDynamicPstatesInfo_t* info) {
  Reply reply("nvmlDeviceGetDynamicPstatesInfo", device);
  if (reply.require(info != nullptr).failed()) return reply;
  *info = {};
  constexpr const char* kDomainsOfUse[] = {"utilization.gpu", "utilization.memory"};
  for (int i = 0; i < 2; ++i) {
    info->utilization[i].bIsPresent = 1;
    reply.put(kDomainsOfUse[i], &info->utilization[i].percentage);
  }
  return reply;
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetViolationStatus(nvmlDevice_t device, nvmlPerfPolicyType_t policy,
                                                             nvmlViolationTime_t* time) {
  struct PolicyRow {
    nvmlPerfPolicyType_t policy;
    const char* key;
  };
  constexpr PolicyRow kPolicies[] = {{NVML_PERF_POLICY_POWER, "violation.power_ns"},
                                     {NVML_PERF_POLICY_THERMAL, "violation.thermal_ns"},
                                     {NVML_PERF_POLICY_SYNC_BOOST, "violation.sync_boost_ns"},
                                     {NVML_PERF_POLICY_BOARD_LIMIT, "violation.board_limit_ns"},
                                     {NVML_PERF_POLICY_LOW_UTILIZATION, "violation.low_utilization_ns"},
                                     {NVML_PERF_POLICY_RELIABILITY, "violation.reliability_ns"},
                                     {NVML_PERF_POLICY_TOTAL_APP_CLOCKS, "violation.app_clocks_ns"},
                                     {NVML_PERF_POLICY_TOTAL_BASE_CLOCKS, "violation.base_clocks_ns"}};
  Reply reply("nvmlDeviceGetViolationStatus", device);
  if (reply.require(time != nullptr).failed()) return reply;
  for (const PolicyRow& row : kPolicies) {
    if (row.policy != policy) continue;
    time->referenceTime = now_us();
    return reply.put(row.key, &time->violationTime);
  }
  return NVML_ERROR_INVALID_ARGUMENT;
}
