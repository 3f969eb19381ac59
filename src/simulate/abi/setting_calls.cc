// Settings: what root may change. Each is written to the shared state, so that the next read, and every other
// client, sees it; a reset takes the volatile ones back.
#include <fmt/format.h>
#include <nvml.h>

#include "base/format.h"
#include "simulate/abi/reply.h"
#include "simulate/key_catalogue.h"

using namespace pagoda::simulate;

namespace {

// A device can only be set what it has.
Reply setting(const char* function, nvmlDevice_t device, std::string_view key) {
  Reply reply(function, device);
  if (!reply.failed()) reply.fail(reply.get(key).code);
  return reply;
}

nvmlReturn_t set_enum(const char* function, nvmlDevice_t device, const std::string& key, int value,
                      int highest) {
  return setting(function, device, key).require(value >= 0 && value <= highest).set(key, value);
}

nvmlReturn_t set_power_limit(const char* function, nvmlDevice_t device, unsigned milliwatts) {
  Reply reply = setting(function, device, "power.limit_mw");
  const double low = reply.number_or("power.min_limit_mw", 0),
               high = reply.number_or("power.max_limit_mw", 0);
  return reply.require(milliwatts >= low && milliwatts <= high).set("power.limit_mw", milliwatts);
}

nvmlReturn_t lock_clocks(const char* function, nvmlDevice_t device, const std::string& domain, unsigned low,
                         unsigned high) {
  Reply reply =
      setting(function, device, domain == "gpu" ? "clocks.current.graphics" : "clocks.current.memory");
  const std::string key = "clocks.locked_" + domain;
  return reply.require(low <= high && high > 0)
      .set({{key + ".min", Value::of(low)}, {key + ".max", Value::of(high)}});
}

nvmlReturn_t unlock_clocks(const char* function, nvmlDevice_t device, const std::string& domain) {
  const std::string key = "clocks.locked_" + domain;
  return Reply(function, device).set({{key + ".min", std::nullopt}, {key + ".max", std::nullopt}});
}

nvmlReturn_t set_offset(const char* function, nvmlDevice_t device, const std::string& domain, int mhz) {
  const std::string key = "clocks.offset." + domain;
  Reply reply = setting(function, device, key + ".current");
  return reply.require(mhz >= reply.number_or(key + ".min", 0) && mhz <= reply.number_or(key + ".max", 0))
      .set(key + ".current", mhz);
}

// Keys below `prefix` that the device has, all to 0.
std::vector<std::pair<std::string, std::optional<Value>>> zeros(const Reply& reply, std::string_view prefix) {
  std::vector<std::pair<std::string, std::optional<Value>>> values;
  for (const std::string& key : all_keys()) {
    if (key.starts_with(prefix) && reply.get(key).code == NVML_SUCCESS)
      values.emplace_back(key, Value::of(0));
  }
  return values;
}

}  // namespace

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceSetPersistenceMode(nvmlDevice_t device, nvmlEnableState_t mode) {
  return set_enum("nvmlDeviceSetPersistenceMode", device, "persistence_mode", mode, 1);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceSetComputeMode(nvmlDevice_t device, nvmlComputeMode_t mode) {
  return set_enum("nvmlDeviceSetComputeMode", device, "compute_mode", mode, NVML_COMPUTEMODE_COUNT - 1);
}
// Takes effect with the next reset.
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceSetEccMode(nvmlDevice_t device, nvmlEnableState_t mode) {
  return set_enum("nvmlDeviceSetEccMode", device, "ecc.mode.pending", mode, 1);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceSetAccountingMode(nvmlDevice_t device, nvmlEnableState_t mode) {
  return set_enum("nvmlDeviceSetAccountingMode", device, "accounting.mode", mode, 1);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceClearAccountingPids(nvmlDevice_t device) {
  return setting("nvmlDeviceClearAccountingPids", device, "accounting.mode")
      .set({{"accounted_processes", Value::of_list({})}});
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceSetGpuOperationMode(nvmlDevice_t device,
                                                              nvmlGpuOperationMode_t mode) {
  return set_enum("nvmlDeviceSetGpuOperationMode", device, "gom.pending", mode, 2);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceSetAPIRestriction(nvmlDevice_t device, nvmlRestrictedAPI_t api,
                                                            nvmlEnableState_t restricted) {
  return set_enum("nvmlDeviceSetAPIRestriction", device,
                  api == NVML_RESTRICTED_API_SET_APPLICATION_CLOCKS ? "api_restriction.application_clocks"
                                                                    : "api_restriction.auto_boost",
                  restricted, 1);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceSetAutoBoostedClocksEnabled(nvmlDevice_t device,
                                                                      nvmlEnableState_t enabled) {
  return set_enum("nvmlDeviceSetAutoBoostedClocksEnabled", device, "auto_boost.enabled", enabled, 1);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceSetDefaultAutoBoostedClocksEnabled(nvmlDevice_t device,
                                                                             nvmlEnableState_t enabled,
                                                                             unsigned) {
  return set_enum("nvmlDeviceSetDefaultAutoBoostedClocksEnabled", device, "auto_boost.default", enabled, 1);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceSetDramEncryptionMode(nvmlDevice_t device,
                                                                const nvmlDramEncryptionInfo_t* mode) {
  if (!is_version(mode, {nvmlDramEncryptionInfo_v1}))
    return Reply("nvmlDeviceSetDramEncryptionMode", device).fail(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
  return set_enum("nvmlDeviceSetDramEncryptionMode", device, "dram_encryption.pending", mode->encryptionState,
                  1);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceSetPowerManagementLimit(nvmlDevice_t device, unsigned milliwatts) {
  return set_power_limit("nvmlDeviceSetPowerManagementLimit", device, milliwatts);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceSetPowerManagementLimit_v2(nvmlDevice_t device,
                                                                     nvmlPowerValue_v2_t* value) {
  if (!is_version(value, {nvmlPowerValue_v2}))
    return Reply("nvmlDeviceSetPowerManagementLimit_v2", device).fail(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
  if (value->powerScope != NVML_POWER_SCOPE_GPU)
    return Reply("nvmlDeviceSetPowerManagementLimit_v2", device).fail(NVML_ERROR_NOT_SUPPORTED);
  return set_power_limit("nvmlDeviceSetPowerManagementLimit_v2", device, value->powerValueMw);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceSetGpuLockedClocks(nvmlDevice_t device, unsigned low,
                                                             unsigned high) {
  return lock_clocks("nvmlDeviceSetGpuLockedClocks", device, "gpu", low, high);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceResetGpuLockedClocks(nvmlDevice_t device) {
  return unlock_clocks("nvmlDeviceResetGpuLockedClocks", device, "gpu");
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceSetMemoryLockedClocks(nvmlDevice_t device, unsigned low,
                                                                unsigned high) {
  return lock_clocks("nvmlDeviceSetMemoryLockedClocks", device, "memory", low, high);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceResetMemoryLockedClocks(nvmlDevice_t device) {
  return unlock_clocks("nvmlDeviceResetMemoryLockedClocks", device, "memory");
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceSetApplicationsClocks(nvmlDevice_t device, unsigned memory_mhz,
                                                                unsigned graphics_mhz) {
  return setting("nvmlDeviceSetApplicationsClocks", device, "clocks.application.graphics")
      .set({{"clocks.application.graphics", Value::of(graphics_mhz)},
            {"clocks.application.memory", Value::of(memory_mhz)}});
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceResetApplicationsClocks(nvmlDevice_t device) {
  return setting("nvmlDeviceResetApplicationsClocks", device, "clocks.application.graphics")
      .set({{"clocks.application.graphics", std::nullopt}, {"clocks.application.memory", std::nullopt}});
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceSetGpcClkVfOffset(nvmlDevice_t device, int mhz) {
  return set_offset("nvmlDeviceSetGpcClkVfOffset", device, "graphics", mhz);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceSetMemClkVfOffset(nvmlDevice_t device, int mhz) {
  return set_offset("nvmlDeviceSetMemClkVfOffset", device, "memory", mhz);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceSetClockOffsets(nvmlDevice_t device, nvmlClockOffset_t* info) {
  if (!is_version(info, {nvmlClockOffset_v1}))
    return Reply("nvmlDeviceSetClockOffsets", device).fail(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
  return set_offset("nvmlDeviceSetClockOffsets", device, info->type == NVML_CLOCK_MEM ? "memory" : "graphics",
                    info->clockOffsetMHz);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceSetFanSpeed_v2(nvmlDevice_t device, unsigned fan,
                                                         unsigned percent) {
  Reply reply = setting("nvmlDeviceSetFanSpeed_v2", device, "fans.speed_percent");
  reply.require(fan < reply.number_or("fans.count", 0))
      .require(percent >= reply.number_or("fans.min_percent", 0) &&
               percent <= reply.number_or("fans.max_percent", 100));
  return reply.set({{"fans.speed_percent", Value::of(percent)},
                    {"fans.target_percent", Value::of(percent)},
                    {"fans.policy", Value::of(NVML_FAN_POLICY_MANUAL)}});
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceSetDefaultFanSpeed_v2(nvmlDevice_t device, unsigned fan) {
  Reply reply = setting("nvmlDeviceSetDefaultFanSpeed_v2", device, "fans.speed_percent");
  return reply.require(fan < reply.number_or("fans.count", 0))
      .set({{"fans.speed_percent", std::nullopt},
            {"fans.target_percent", std::nullopt},
            {"fans.policy", std::nullopt}});
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceSetFanControlPolicy(nvmlDevice_t device, unsigned fan,
                                                              nvmlFanControlPolicy_t policy) {
  Reply reply = setting("nvmlDeviceSetFanControlPolicy", device, "fans.policy");
  return reply.require(fan < reply.number_or("fans.count", 0)).set("fans.policy", policy);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceSetTemperatureThreshold(nvmlDevice_t device,
                                                                  nvmlTemperatureThresholds_t threshold,
                                                                  int* celsius) {
  Reply reply =
      setting("nvmlDeviceSetTemperatureThreshold", device, "temperature.threshold.acoustic_current");
  reply.require(celsius != nullptr)
      .require(threshold == NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_CURR, NVML_ERROR_NOT_SUPPORTED);
  if (reply.failed()) return reply;
  reply.require(*celsius >= reply.number_or("temperature.threshold.acoustic_min", 0) &&
                *celsius <= reply.number_or("temperature.threshold.acoustic_max", 0));
  return reply.set("temperature.threshold.acoustic_current", *celsius);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceClearEccErrorCounts(nvmlDevice_t device,
                                                              nvmlEccCounterType_t counter) {
  Reply reply("nvmlDeviceClearEccErrorCounts", device);
  reply.require(counter >= 0 && counter < NVML_ECC_COUNTER_TYPE_COUNT)
      .require(reply.number_or("ecc.mode.current", 0) != 0, NVML_ERROR_NOT_SUPPORTED);
  if (reply.failed()) return reply;
  const std::string_view kind = counter == NVML_VOLATILE_ECC ? "volatile" : "aggregate";
  for (const char* stem : {"ecc.corrected.{}.", "ecc.uncorrected.{}.", "ecc.sram.{}."})
    reply.set(zeros(reply, fmt::format(fmt::runtime(stem), kind)));
  return reply;
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceResetNvLinkErrorCounters(nvmlDevice_t device, unsigned link) {
  Reply reply("nvmlDeviceResetNvLinkErrorCounters", device);
  if (reply.require(reply.get("nvlink.count").code == NVML_SUCCESS, NVML_ERROR_NOT_SUPPORTED).failed())
    return reply;
  if (reply.require(link < reply.number_or("nvlink.count", 0)).failed()) return reply;
  // The link gets a row of its own with counters at 0, in front of those that are there.
  const Answer links = reply.get("nvlink.links");
  Record fresh;
  std::vector<Record> records;
  if (links.list) {
    for (const Record& record : *links.list) {
      const bool same =
          static_cast<unsigned>(reply.machine().record_value(reply.device(), record, "link").number) == link;
      (same ? fresh : records.emplace_back()) = record;
    }
  }
  fresh["link"] = Value::of(link);
  for (const char* counter : {"replay", "recovery", "crc_flit", "crc_data", "ecc_data"}) {
    if (reply.get(pagoda::format("nvlink.error.{}", counter)).code == NVML_SUCCESS)
      fresh[pagoda::format("error.{}", counter)] = Value::of(0);
  }
  records.push_back(std::move(fresh));
  return reply.set({{"nvlink.links", Value::of_list(std::move(records))}});
}

// NVML has no public call that resets a GPU (the tools use sysfs or a private one); clients that know that
// the GPUs are simulated call this by name. Pending modes become current, volatile counters 0, locks and a
// loss end.
PAGODA_NVML_EXPORT nvmlReturn_t pagodaSimulatedDeviceReset(nvmlDevice_t device) {
  if (!Session::instance().initialised()) return NVML_ERROR_UNINITIALIZED;
  const Device* known = Session::instance().find(device);
  if (known == nullptr || known->is_mig()) return NVML_ERROR_INVALID_ARGUMENT;
  auto& machine = Session::instance().machine();
  const Answer processes = machine.value(*known, "processes");
  if (processes.list && !processes.list->empty() && machine.value(*known, "lost").number == 0)
    return NVML_ERROR_IN_USE;
  std::vector<std::pair<std::string, std::optional<Value>>> values = {
      {"lost", Value::of(0)},
      {"processes", Value::of_list({})},
      {"recovery_action", Value::of(0)},
      {"clocks.locked_gpu.min", std::nullopt},
      {"clocks.locked_gpu.max", std::nullopt},
      {"clocks.locked_memory.min", std::nullopt},
      {"clocks.locked_memory.max", std::nullopt},
      {"power.limit_mw", std::nullopt}};
  const auto becomes = [&](const std::string& current, const std::string& pending) {
    const Answer answer = machine.value(*known, pending);
    if (answer.code == NVML_SUCCESS) values.emplace_back(current, Value::of(answer.number));
  };
  becomes("ecc.mode.current", "ecc.mode.pending");
  becomes("dram_encryption.current", "dram_encryption.pending");
  const Answer mig = machine.value(*known, "mig.current"), pending = machine.value(*known, "mig.pending");
  if (mig.code == NVML_SUCCESS && mig.number != pending.number) {
    becomes("mig.current", "mig.pending");
    for (const char* list : {"mig.gpu_instances", "mig.compute_instances", "mig.devices"})
      values.emplace_back(list, Value::of_list({}));
  }
  for (const std::string& key : all_keys()) {
    const bool counter =
        key.starts_with("ecc.") && key.find(".volatile.") != std::string::npos && !key.ends_with(".total");
    const bool pending_flag = key == "remapped_rows.pending" || key == "retired_pages_pending" ||
                              key == "repair.channel_pending" || key == "repair.tpc_pending";
    if ((counter || pending_flag) && machine.value(*known, key).code == NVML_SUCCESS)
      values.emplace_back(key, Value::of(0));
  }
  return machine.set(*known, values);
}
