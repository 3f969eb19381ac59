// Power, temperature, fans.
#include <nvml.h>

#include "simulate/abi/reply.h"

using namespace pagoda::simulate;

PAGODA_SIMULATED_VALUE(nvmlDeviceGetPowerManagementMode, nvmlEnableState_t, "power.management")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetPowerManagementLimit, unsigned, "power.limit_mw")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetPowerManagementDefaultLimit, unsigned, "power.default_limit_mw")
PAGODA_SIMULATED_PAIR(nvmlDeviceGetPowerManagementLimitConstraints, unsigned, "power.min_limit_mw",
                      "power.max_limit_mw")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetPowerUsage, unsigned, "power.draw_mw")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetEnforcedPowerLimit, unsigned, "power.enforced_limit_mw")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetTotalEnergyConsumption, unsigned long long, "power.energy_mj")

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t sensor,
                                                         unsigned* celsius) {
  Reply reply("nvmlDeviceGetTemperature", device);
  return reply.require(sensor == NVML_TEMPERATURE_GPU).put("temperature.gpu", celsius);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t device,
                                                          nvmlTemperature_t* temperature) {
  Reply reply("nvmlDeviceGetTemperatureV", device);
  if (reply.require(is_version(temperature, {nvmlTemperature_v1}), NVML_ERROR_ARGUMENT_VERSION_MISMATCH)
          .failed())
    return reply;
  return reply.require(temperature->sensorType == NVML_TEMPERATURE_GPU)
      .put("temperature.gpu", &temperature->temperature);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetTemperatureThreshold(nvmlDevice_t device,
                                                                  nvmlTemperatureThresholds_t threshold,
                                                                  unsigned* celsius) {
  constexpr const char* kKeys[] = {
      "temperature.threshold.shutdown",     "temperature.threshold.slowdown",
      "temperature.threshold.mem_max",      "temperature.threshold.gpu_max",
      "temperature.threshold.acoustic_min", "temperature.threshold.acoustic_current",
      "temperature.threshold.acoustic_max", "temperature.threshold.gps_current"};
  Reply reply("nvmlDeviceGetTemperatureThreshold", device);
  if (reply.require(threshold >= 0 && threshold < NVML_TEMPERATURE_THRESHOLD_COUNT).failed()) return reply;
  return reply.put(kKeys[threshold], celsius);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetMarginTemperature(nvmlDevice_t device,
                                                               nvmlMarginTemperature_t* margin) {
  Reply reply("nvmlDeviceGetMarginTemperature", device);
  if (reply.require(is_version(margin, {nvmlMarginTemperature_v1}), NVML_ERROR_ARGUMENT_VERSION_MISMATCH)
          .failed())
    return reply;
  return reply.put("temperature.margin", &margin->marginTemperature);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetThermalSettings(nvmlDevice_t device, unsigned sensor,
                                                             nvmlGpuThermalSettings_t* settings) {
  Reply reply("nvmlDeviceGetThermalSettings", device);
  if (reply.require(settings != nullptr).require(sensor == 0 || sensor == NVML_THERMAL_TARGET_ALL).failed())
    return reply;
  *settings = {};
  settings->count = 1;
  auto& place = settings->sensor[0];
  return reply.put("thermal_settings.controller", &place.controller)
      .put("thermal_settings.target", &place.target)
      .put("thermal_settings.min", &place.defaultMinTemp)
      .put("thermal_settings.max", &place.defaultMaxTemp)
      .put("temperature.gpu", &place.currentTemp);
}

namespace {

// The fan that is asked for is one of those there are.
Reply fan_reply(const char* function, nvmlDevice_t device, unsigned fan) {
  Reply reply(function, device);
  unsigned count = 0;
  reply.put("fans.count", &count).require(fan < count);
  return reply;
}

}  // namespace

PAGODA_SIMULATED_VALUE(nvmlDeviceGetNumFans, unsigned, "fans.count")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetFanSpeed, unsigned, "fans.speed_percent")
PAGODA_SIMULATED_PAIR(nvmlDeviceGetMinMaxFanSpeed, unsigned, "fans.min_percent", "fans.max_percent")
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetFanSpeed_v2(nvmlDevice_t device, unsigned fan, unsigned* speed) {
  return fan_reply("nvmlDeviceGetFanSpeed_v2", device, fan).put("fans.speed_percent", speed);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetTargetFanSpeed(nvmlDevice_t device, unsigned fan,
                                                            unsigned* speed) {
  return fan_reply("nvmlDeviceGetTargetFanSpeed", device, fan).put("fans.target_percent", speed);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetFanControlPolicy_v2(nvmlDevice_t device, unsigned fan,
                                                                 nvmlFanControlPolicy_t* policy) {
  return fan_reply("nvmlDeviceGetFanControlPolicy_v2", device, fan).put("fans.policy", policy);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetFanSpeedRPM(nvmlDevice_t device, nvmlFanSpeedInfo_t* info) {
  if (!is_version(info, {nvmlFanSpeedInfo_v1}))
    return Reply("nvmlDeviceGetFanSpeedRPM", device).fail(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
  return fan_reply("nvmlDeviceGetFanSpeedRPM", device, info->fan).put("fans.rpm", &info->speed);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetCoolerInfo(nvmlDevice_t device, nvmlCoolerInfo_t* info) {
  Reply reply("nvmlDeviceGetCoolerInfo", device);
  if (reply.require(is_version(info, {nvmlCoolerInfo_v1}), NVML_ERROR_ARGUMENT_VERSION_MISMATCH).failed())
    return reply;
  return reply.put("cooler.signal", &info->signalType).put("cooler.target", &info->target);
}
