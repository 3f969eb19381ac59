// A libnvidia-ml of three GPUs for the binding's tests: 0 is healthy, 1 hangs when its power is read until it
// is let go, 2 has no handle. Built twice: as a library of today, and as one that has only the first version
// of each call.
#include <nvml.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

struct StandIn {
  unsigned index;
};
StandIn healthy{0}, hanging{1};
std::atomic<bool> let_go{false};
unsigned power_limit_mw = 300000;

unsigned index_of(nvmlDevice_t device) {
  return reinterpret_cast<StandIn*>(device)->index;
}

nvmlReturn_t handle(unsigned index, nvmlDevice_t* device) {
  if (index == 2) return NVML_ERROR_GPU_IS_LOST;
  if (index > 2) return NVML_ERROR_INVALID_ARGUMENT;
  *device = reinterpret_cast<nvmlDevice_t>(index == 0 ? &healthy : &hanging);
  return NVML_SUCCESS;
}

template <class Info>
nvmlReturn_t processes(unsigned* count, Info* infos) {
  constexpr unsigned kProcesses = 20;  // more than a caller would guess
  if (*count < kProcesses) {
    *count = kProcesses;
    return NVML_ERROR_INSUFFICIENT_SIZE;
  }
  for (unsigned i = 0; i < kProcesses; ++i) {
    infos[i] = {};
    infos[i].pid = 100 + i;
    infos[i].usedGpuMemory = i == 0 ? static_cast<unsigned long long>(NVML_VALUE_NOT_AVAILABLE) : 1000ULL * i;
    if constexpr (requires { infos[i].gpuInstanceId; }) {
      infos[i].gpuInstanceId = i == 1 ? 7 : 0xFFFFFFFF;
      infos[i].computeInstanceId = i == 1 ? 0 : 0xFFFFFFFF;
    }
  }
  *count = kProcesses;
  return NVML_SUCCESS;
}

}  // namespace

extern "C" {

void stand_in_let_go() {
  let_go = true;
}

nvmlReturn_t nvmlShutdown() {
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlSystemGetNVMLVersion(char* version, unsigned length) {
  std::snprintf(version, length, "580.178");
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char* uuid, unsigned length) {
  std::snprintf(uuid, length, "GPU-%u", index_of(device));
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* device) {
  if (std::strcmp(uuid, "GPU-1") != 0) return NVML_ERROR_NOT_FOUND;
  return handle(1, device);
}

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned* milliwatts) {
  while (index_of(device) == 1 && !let_go) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  *milliwatts = 71150;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceSetPowerManagementLimit(nvmlDevice_t, unsigned milliwatts) {
  if (milliwatts > 400000) return NVML_ERROR_INVALID_ARGUMENT;
  power_limit_mw = milliwatts;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPowerManagementLimit(nvmlDevice_t, unsigned* milliwatts) {
  *milliwatts = power_limit_mw;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetFanSpeed(nvmlDevice_t, unsigned*) {
  return NVML_ERROR_NOT_SUPPORTED;
}

nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t, nvmlEnableState_t* current, nvmlEnableState_t* pending) {
  *current = NVML_FEATURE_ENABLED;
  *pending = NVML_FEATURE_DISABLED;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t, nvmlMemory_t* memory) {
  *memory = {1000, 700, 300};
  return NVML_SUCCESS;
}

#if defined(STAND_IN_IS_NEW)
nvmlReturn_t nvmlInit_v2() {
  return std::getenv("STAND_IN_MISMATCH") != nullptr ? NVML_ERROR_LIB_RM_VERSION_MISMATCH : NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 3;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t* device) {
  return handle(index, device);
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t, nvmlPciInfo_t* pci) {
  std::snprintf(pci->busId, sizeof pci->busId, "00000000:3B:00.0");
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t, nvmlMemory_v2_t* memory) {
  if (memory->version != nvmlMemory_v2) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  memory->total = 1000;
  memory->reserved = 100;
  memory->used = 200;
  memory->free = 700;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t, unsigned* count,
                                                     nvmlProcessInfo_t* infos) {
  return processes(count, infos);
}

nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t, int count, nvmlFieldValue_t* values) {
  for (int i = 0; i < count; ++i) {
    values[i].nvmlReturn =
        values[i].fieldId == NVML_FI_DEV_MEMORY_TEMP ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
    values[i].valueType = NVML_VALUE_TYPE_SIGNED_INT;
    values[i].value.siVal = -5;
  }
  return NVML_SUCCESS;
}
#else
nvmlReturn_t nvmlInit() {
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCount(unsigned* count) {
  *count = 1;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned index, nvmlDevice_t* device) {
  return handle(index, device);
}

nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t, nvmlPciInfo_t* pci) {
  std::snprintf(pci->busIdLegacy, sizeof pci->busIdLegacy, "0000:3B:00.0");
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t, unsigned* count,
                                                  nvmlProcessInfo_v1_t* infos) {
  return processes(count, infos);
}
#endif

}  // extern "C"
