// What a device does: memory, utilization, its PCIe link, modes.
#include <nvml.h>

#include <cstdio>
#include <cstring>

#include "simulate/abi/reply.h"

using namespace pagoda::simulate;

namespace {

// The driver averages utilization over this long.
constexpr unsigned kSamplingPeriodUs = 167000;

nvmlReturn_t utilization(const char* function, nvmlDevice_t device, std::string_view key, unsigned* percent,
                         unsigned* period_us) {
  Reply reply(function, device);
  reply.require(period_us != nullptr).put(key, percent);
  if (!reply.failed()) *period_us = kSamplingPeriodUs;
  return reply;
}

}  // namespace

PAGODA_SIMULATED_VALUE(nvmlDeviceGetDisplayMode, nvmlEnableState_t, "display_mode")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetDisplayActive, nvmlEnableState_t, "display_active")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetPersistenceMode, nvmlEnableState_t, "persistence_mode")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetComputeMode, nvmlComputeMode_t, "compute_mode")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetAccountingMode, nvmlEnableState_t, "accounting.mode")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetAccountingBufferSize, unsigned, "accounting.buffer_size")
PAGODA_SIMULATED_PAIR(nvmlDeviceGetGpuOperationMode, nvmlGpuOperationMode_t, "gom.current", "gom.pending")
PAGODA_SIMULATED_PAIR(nvmlDeviceGetDriverModel_v2, nvmlDriverModel_t, "driver_model.current",
                      "driver_model.pending")
PAGODA_SIMULATED_PAIR(nvmlDeviceGetDriverModel, nvmlDriverModel_t, "driver_model.current",
                      "driver_model.pending")

PAGODA_SIMULATED_VALUE(nvmlDeviceGetMaxPcieLinkGeneration, unsigned, "pcie.link_gen.max")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetGpuMaxPcieLinkGeneration, unsigned, "pcie.link_gen.gpu_max")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetCurrPcieLinkGeneration, unsigned, "pcie.link_gen.current")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetMaxPcieLinkWidth, unsigned, "pcie.link_width.max")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetCurrPcieLinkWidth, unsigned, "pcie.link_width.current")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetPcieReplayCounter, unsigned, "pcie.replays")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetPcieLinkMaxSpeed, unsigned, "pcie.max_speed")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetPcieSpeed, unsigned, "pcie.speed_mbps")

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetPcieThroughput(nvmlDevice_t device,
                                                            nvmlPcieUtilCounter_t counter, unsigned* value) {
  Reply reply("nvmlDeviceGetPcieThroughput", device);
  if (reply.require(counter >= 0 && counter < NVML_PCIE_UTIL_COUNT).failed()) return reply;
  return reply.put(counter == NVML_PCIE_UTIL_TX_BYTES ? "pcie.throughput.tx_kbps" : "pcie.throughput.rx_kbps",
                   value);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t* rates) {
  Reply reply("nvmlDeviceGetUtilizationRates", device);
  if (reply.require(rates != nullptr).failed()) return reply;
  return reply.put("utilization.gpu", &rates->gpu).put("utilization.memory", &rates->memory);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetEncoderUtilization(nvmlDevice_t device, unsigned* percent,
                                                                unsigned* period_us) {
  return utilization("nvmlDeviceGetEncoderUtilization", device, "utilization.encoder", percent, period_us);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetDecoderUtilization(nvmlDevice_t device, unsigned* percent,
                                                                unsigned* period_us) {
  return utilization("nvmlDeviceGetDecoderUtilization", device, "utilization.decoder", percent, period_us);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetJpgUtilization(nvmlDevice_t device, unsigned* percent,
                                                            unsigned* period_us) {
  return utilization("nvmlDeviceGetJpgUtilization", device, "utilization.jpeg", percent, period_us);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetOfaUtilization(nvmlDevice_t device, unsigned* percent,
                                                            unsigned* period_us) {
  return utilization("nvmlDeviceGetOfaUtilization", device, "utilization.ofa", percent, period_us);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetEncoderStats(nvmlDevice_t device, unsigned* sessions,
                                                          unsigned* fps, unsigned* latency_us) {
  return Reply("nvmlDeviceGetEncoderStats", device)
      .put("encoder_stats.sessions", sessions)
      .put("encoder_stats.average_fps", fps)
      .put("encoder_stats.average_latency_us", latency_us);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetEncoderSessions(nvmlDevice_t device, unsigned* count,
                                                             nvmlEncoderSessionInfo_t*) {
  Reply reply("nvmlDeviceGetEncoderSessions", device);
  double sessions = 0;
  reply.require(count != nullptr).put("encoder_stats.sessions", &sessions);
  // A scenario holds how many sessions there are, not what each encodes.
  if (!reply.require(sessions == 0, NVML_ERROR_NOT_SUPPORTED).failed()) *count = 0;
  return reply;
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetEncoderCapacity(nvmlDevice_t device, nvmlEncoderType_t type,
                                                             unsigned* capacity) {
  constexpr const char* kKeys[] = {"encoder_capacity.h264", "encoder_capacity.hevc", "encoder_capacity.av1"};
  Reply reply("nvmlDeviceGetEncoderCapacity", device);
  if (reply.require(type >= 0 && type < 3).failed()) return reply;
  return reply.put(kKeys[type], capacity);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetFBCStats(nvmlDevice_t device, nvmlFBCStats_t* stats) {
  Reply reply("nvmlDeviceGetFBCStats", device);
  if (reply.require(stats != nullptr).failed()) return reply;
  return reply.put("fbc_stats.sessions", &stats->sessionsCount)
      .put("fbc_stats.average_fps", &stats->averageFPS)
      .put("fbc_stats.average_latency_us", &stats->averageLatency);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetFBCSessions(nvmlDevice_t device, unsigned* count,
                                                         nvmlFBCSessionInfo_t*) {
  Reply reply("nvmlDeviceGetFBCSessions", device);
  double sessions = 0;
  reply.require(count != nullptr).put("fbc_stats.sessions", &sessions);
  if (!reply.require(sessions == 0, NVML_ERROR_NOT_SUPPORTED).failed()) *count = 0;
  return reply;
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t* memory) {
  Reply reply("nvmlDeviceGetMemoryInfo_v2", device);
  reply.require(memory != nullptr)
      .require(is_version(memory, {nvmlMemory_v2}), NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
  if (reply.failed()) return reply;
  return reply.put("memory.total", &memory->total)
      .put_or("memory.reserved", 0, &memory->reserved)
      .put("memory.used", &memory->used)
      .put("memory.free", &memory->free);
}
// The first version counts what is reserved as used.
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t* memory) {
  Reply reply("nvmlDeviceGetMemoryInfo", device);
  if (reply.require(memory != nullptr).failed()) return reply;
  unsigned long long reserved = 0;
  reply.put("memory.total", &memory->total)
      .put("memory.used", &memory->used)
      .put("memory.free", &memory->free)
      .put_or("memory.reserved", 0, &reserved);
  memory->used += reserved;
  return reply;
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t device, nvmlBAR1Memory_t* memory) {
  Reply reply("nvmlDeviceGetBAR1MemoryInfo", device);
  if (reply.require(memory != nullptr).failed()) return reply;
  return reply.put("bar1.total", &memory->bar1Total)
      .put("bar1.used", &memory->bar1Used)
      .put("bar1.free", &memory->bar1Free);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetConfComputeProtectedMemoryUsage(nvmlDevice_t device,
                                                                             nvmlMemory_t* memory) {
  Reply reply("nvmlDeviceGetConfComputeProtectedMemoryUsage", device);
  if (reply.require(memory != nullptr).failed()) return reply;
  return reply.put("protected_memory.total", &memory->total)
      .put("protected_memory.used", &memory->used)
      .put("protected_memory.free", &memory->free);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetAddressingMode(nvmlDevice_t device,
                                                            nvmlDeviceAddressingMode_t* mode) {
  Reply reply("nvmlDeviceGetAddressingMode", device);
  if (reply.require(is_version(mode, {nvmlDeviceAddressingMode_v1}), NVML_ERROR_ARGUMENT_VERSION_MISMATCH)
          .failed())
    return reply;
  return reply.put("addressing_mode", &mode->value);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetC2cModeInfoV(nvmlDevice_t device, nvmlC2cModeInfo_v1_t* info) {
  Reply reply("nvmlDeviceGetC2cModeInfoV", device);
  if (reply.require(info != nullptr).failed()) return reply;
  return reply.put("c2c.enabled", &info->isC2cEnabled);
}
PAGODA_SIMULATED_PAIR(nvmlDeviceGetAutoBoostedClocksEnabled, nvmlEnableState_t, "auto_boost.enabled",
                      "auto_boost.default")
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetAPIRestriction(nvmlDevice_t device, nvmlRestrictedAPI_t api,
                                                            nvmlEnableState_t* restricted) {
  Reply reply("nvmlDeviceGetAPIRestriction", device);
  if (reply.require(api >= 0 && api < NVML_RESTRICTED_API_COUNT).failed()) return reply;
  return reply.put(api == NVML_RESTRICTED_API_SET_APPLICATION_CLOCKS ? "api_restriction.application_clocks"
                                                                     : "api_restriction.auto_boost",
                   restricted);
}
