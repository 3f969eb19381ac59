// Processes on a GPU: three versions of the call, each with a struct of its own, so the fall-back is written
// out.
#include "driver/nvml_gpu.h"

namespace pagoda::driver {
namespace {

constexpr unsigned kNoInstance = 0xFFFFFFFF;

Reading<unsigned long long> bytes_of(unsigned long long used) {
  if (used == static_cast<unsigned long long>(NVML_VALUE_NOT_AVAILABLE))
    return absent(NVML_ERROR_NOT_SUPPORTED);
  return used;
}

Reading<unsigned> instance_of(unsigned id) {
  if (id == kNoInstance) return absent(NVML_ERROR_NOT_SUPPORTED);
  return id;
}

std::vector<NvmlProcess> convert(const std::vector<nvmlProcessInfo_t>& infos) {
  std::vector<NvmlProcess> processes;
  for (const auto& info : infos) {
    processes.push_back({info.pid, bytes_of(info.usedGpuMemory), instance_of(info.gpuInstanceId),
                         instance_of(info.computeInstanceId)});
  }
  return processes;
}

std::vector<NvmlProcess> convert_first(const std::vector<nvmlProcessInfo_v1_t>& infos) {
  std::vector<NvmlProcess> processes;
  for (const auto& info : infos)
    processes.push_back({info.pid, bytes_of(info.usedGpuMemory), absent(NVML_ERROR_FUNCTION_NOT_FOUND),
                         absent(NVML_ERROR_FUNCTION_NOT_FOUND)});
  return processes;
}

using SecondCall = nvml::Call<nvmlReturn_t(nvmlDevice_t, unsigned*, nvmlProcessInfo_v2_t*)>;
using FirstCall = nvml::Call<nvmlReturn_t(nvmlDevice_t, unsigned*, nvmlProcessInfo_v1_t*)>;

struct ProcessCalls {
  const SecondCall& second;  // _v3, and _v2, which has the same struct
  const FirstCall& first;
};

ProcessCalls calls_of(ProcessKind kind) {
  switch (kind) {
    case ProcessKind::kCompute:
      return {nvml::kDeviceGetComputeRunningProcesses_v3, nvml::kDeviceGetComputeRunningProcesses};
    case ProcessKind::kGraphics:
      return {nvml::kDeviceGetGraphicsRunningProcesses_v3, nvml::kDeviceGetGraphicsRunningProcesses};
    case ProcessKind::kMpsCompute:
      break;
  }
  return {nvml::kDeviceGetMPSComputeRunningProcesses_v3, nvml::kDeviceGetMPSComputeRunningProcesses};
}

}  // namespace

Reading<std::vector<NvmlProcess>> Gpu::processes(ProcessKind kind) const {
  const ProcessCalls calls = calls_of(kind);
  const auto newest = list(calls.second);
  if (newest) return convert(*newest);
  if (newest.error().reason != AbsenceReason::kLibraryTooOld) return tl::unexpected<Absence>(newest.error());
  return list(calls.first).map(convert_first);
}

}  // namespace pagoda::driver
