// How long the clocks were held down, and by what.
#include "driver/gpu_section_readers.h"

namespace pagoda::driver {
namespace {

Reading<std::uint64_t> violation_ns(const Gpu& gpu, nvmlPerfPolicyType_t policy) {
  return count_of(gpu.read(nvml::kDeviceGetViolationStatus, policy), &nvmlViolationTime_t::violationTime);
}

}  // namespace

void read_violations(const Gpu& gpu, GpuSnapshot& out) {
  ViolationReadings& violations = out.violations;
  violations.power_ns = violation_ns(gpu, NVML_PERF_POLICY_POWER);
  violations.thermal_ns = violation_ns(gpu, NVML_PERF_POLICY_THERMAL);
  violations.sync_boost_ns = violation_ns(gpu, NVML_PERF_POLICY_SYNC_BOOST);
  violations.board_limit_ns = violation_ns(gpu, NVML_PERF_POLICY_BOARD_LIMIT);
  violations.low_utilization_ns = violation_ns(gpu, NVML_PERF_POLICY_LOW_UTILIZATION);
  violations.reliability_ns = violation_ns(gpu, NVML_PERF_POLICY_RELIABILITY);
  violations.app_clocks_ns = violation_ns(gpu, NVML_PERF_POLICY_TOTAL_APP_CLOCKS);
  violations.base_clocks_ns = violation_ns(gpu, NVML_PERF_POLICY_TOTAL_BASE_CLOCKS);
}

}  // namespace pagoda::driver
