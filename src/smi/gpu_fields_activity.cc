#include <array>

#include "smi/gpu_field.h"
#include "smi/gpu_field_cells.h"
#include "smi/names.h"

namespace pagoda::smi {
namespace {

constexpr std::array kFields = {
    GpuField{"fan.speed", "", "%", driver::kPerformanceSection,
             "What the fan is told to do; a stuck fan shows the same.",
             [](const FieldContext& f) { return number(f.gpu.fan_percent, "%"); }},
    GpuField{"pstate", "", "", driver::kPerformanceSection, "P0 is full speed, P8 and above is idle.",
             [](const FieldContext& f) { return performance_state(f.gpu); }},
    GpuField{"clocks_event_reasons.supported", "clocks_throttle_reasons.supported", "",
             driver::kClockEventsSection, "Which reasons this GPU can tell, as bits.",
             [](const FieldContext& f) { return hex(f.gpu.clock_events.supported, 16); }},
    GpuField{"clocks_event_reasons.active", "clocks_throttle_reasons.active", "", driver::kClockEventsSection,
             "Why clocks are below their maximum, as bits.",
             [](const FieldContext& f) { return hex(f.gpu.clock_events.active, 16); }},
    GpuField{"clocks_event_reasons.gpu_idle", "clocks_throttle_reasons.gpu_idle", "",
             driver::kClockEventsSection, "Nothing to do.",
             [](const FieldContext& f) {
               return active(f.gpu.clock_events.active, nvmlClocksEventReasonGpuIdle);
             }},
    GpuField{"clocks_event_reasons.applications_clocks_setting",
             "clocks_throttle_reasons.applications_clocks_setting", "", driver::kClockEventsSection,
             "Somebody set lower clocks.",
             [](const FieldContext& f) {
               return active(f.gpu.clock_events.active, nvmlClocksEventReasonApplicationsClocksSetting);
             }},
    GpuField{"clocks_event_reasons.sw_power_cap", "clocks_throttle_reasons.sw_power_cap", "",
             driver::kClockEventsSection, "The power limit holds it back: normal under full load.",
             [](const FieldContext& f) {
               return active(f.gpu.clock_events.active, nvmlClocksEventReasonSwPowerCap);
             }},
    GpuField{"clocks_event_reasons.hw_slowdown", "clocks_throttle_reasons.hw_slowdown", "",
             driver::kClockEventsSection, "Heat or the power supply: look at the two below.",
             [](const FieldContext& f) {
               return active(f.gpu.clock_events.active, nvmlClocksThrottleReasonHwSlowdown);
             }},
    GpuField{"clocks_event_reasons.hw_thermal_slowdown", "clocks_throttle_reasons.hw_thermal_slowdown", "",
             driver::kClockEventsSection, "Too hot: cooling.",
             [](const FieldContext& f) {
               return active(f.gpu.clock_events.active, nvmlClocksThrottleReasonHwThermalSlowdown);
             }},
    GpuField{"clocks_event_reasons.hw_power_brake_slowdown",
             "clocks_throttle_reasons.hw_power_brake_slowdown", "", driver::kClockEventsSection,
             "The power supply asked for it.",
             [](const FieldContext& f) {
               return active(f.gpu.clock_events.active, nvmlClocksThrottleReasonHwPowerBrakeSlowdown);
             }},
    GpuField{"clocks_event_reasons.sw_thermal_slowdown", "clocks_throttle_reasons.sw_thermal_slowdown", "",
             driver::kClockEventsSection, "Near its temperature limit.",
             [](const FieldContext& f) {
               return active(f.gpu.clock_events.active, nvmlClocksEventReasonSwThermalSlowdown);
             }},
    GpuField{"clocks_event_reasons.sync_boost", "clocks_throttle_reasons.sync_boost", "",
             driver::kClockEventsSection, "Waits for the slowest GPU of its group.",
             [](const FieldContext& f) {
               return active(f.gpu.clock_events.active, nvmlClocksEventReasonSyncBoost);
             }},
    GpuField{"clocks_event_reasons_counters.sw_power_cap", "", "us", driver::kClockEventsSection,
             "Time spent at the power limit.",
             [](const FieldContext& f) { return number(f.gpu.clock_events.sw_power_cap_us, "us"); }},
    GpuField{"clocks_event_reasons_counters.sync_boost", "", "us", driver::kClockEventsSection,
             "Time spent waiting for its group.",
             [](const FieldContext& f) { return number(f.gpu.clock_events.sync_boost_us, "us"); }},
    GpuField{"clocks_event_reasons_counters.sw_thermal_slowdown", "", "us", driver::kClockEventsSection,
             "Time spent near the temperature limit.",
             [](const FieldContext& f) { return number(f.gpu.clock_events.sw_thermal_us, "us"); }},
    GpuField{"clocks_event_reasons_counters.hw_thermal_slowdown", "", "us", driver::kClockEventsSection,
             "Time spent too hot.",
             [](const FieldContext& f) { return number(f.gpu.clock_events.hw_thermal_us, "us"); }},
    GpuField{"clocks_event_reasons_counters.hw_power_brake_slowdown", "", "us", driver::kClockEventsSection,
             "Time spent braked by the power supply.",
             [](const FieldContext& f) { return number(f.gpu.clock_events.hw_power_brake_us, "us"); }},
    GpuField{"memory.total", "", "MiB", driver::kMemorySection, "Memory of the board.",
             [](const FieldContext& f) { return mib(f.gpu.memory.total); }},
    GpuField{"memory.reserved", "", "MiB", driver::kMemorySection, "What driver and firmware keep.",
             [](const FieldContext& f) { return mib(f.gpu.memory.reserved); }},
    GpuField{"memory.used", "", "MiB", driver::kMemorySection, "What processes hold.",
             [](const FieldContext& f) { return mib(f.gpu.memory.used); }},
    GpuField{"memory.free", "", "MiB", driver::kMemorySection, "What can be had.",
             [](const FieldContext& f) { return mib(f.gpu.memory.free); }},
    GpuField{"compute_mode", "", "", driver::kModesSection,
             "How many processes may compute: Default is any number.",
             [](const FieldContext& f) { return named(f.gpu.modes.compute, kComputeModes); }},
    GpuField{"compute_cap", "", "", driver::kIdentitySection,
             "CUDA compute capability: which code the chip runs.",
             [](const FieldContext& f) { return compute_capability(f.gpu); }},
    GpuField{"utilization.gpu", "", "%", driver::kUtilizationSection,
             "Share of the last period in which any kernel ran.",
             [](const FieldContext& f) { return number(f.gpu.utilization.gpu, "%"); }},
    GpuField{"utilization.memory", "", "%", driver::kUtilizationSection,
             "Share of the last period in which memory was read or written.",
             [](const FieldContext& f) { return number(f.gpu.utilization.memory, "%"); }},
    GpuField{"utilization.encoder", "", "%", driver::kUtilizationSection, "Load of the video encoder.",
             [](const FieldContext& f) { return number(f.gpu.utilization.encoder, "%"); }},
    GpuField{"utilization.decoder", "", "%", driver::kUtilizationSection, "Load of the video decoder.",
             [](const FieldContext& f) { return number(f.gpu.utilization.decoder, "%"); }},
    GpuField{"utilization.jpeg", "", "%", driver::kUtilizationSection, "Load of the JPEG engine.",
             [](const FieldContext& f) { return number(f.gpu.utilization.jpeg, "%"); }},
    GpuField{"utilization.ofa", "", "%", driver::kUtilizationSection, "Load of the optical-flow engine.",
             [](const FieldContext& f) { return number(f.gpu.utilization.ofa, "%"); }},
    GpuField{"encoder.stats.sessionCount", "", "", driver::kEncoderSection, "Encoder sessions.",
             [](const FieldContext& f) { return number(f.gpu.encoder.sessions); }},
    GpuField{"encoder.stats.averageFps", "", "", driver::kEncoderSection,
             "Frames per second, mean of the sessions.",
             [](const FieldContext& f) { return number(f.gpu.encoder.average_fps); }},
    GpuField{"encoder.stats.averageLatency", "", "", driver::kEncoderSection,
             "Encoding time of a frame in microseconds, mean.",
             [](const FieldContext& f) { return number(f.gpu.encoder.average_latency_us); }},
    GpuField{"dramEncryption.mode.current", "", "", driver::kModesSection, "Memory is encrypted.",
             [](const FieldContext& f) { return named(f.gpu.modes.dram_encryption.current, kEnabledModes); }},
    GpuField{"dramEncryption.mode.pending", "", "", driver::kModesSection, "After the next reset.",
             [](const FieldContext& f) { return named(f.gpu.modes.dram_encryption.pending, kEnabledModes); }},
    GpuField{"ecc.mode.current", "", "", driver::kModesSection, "Memory errors are corrected.",
             [](const FieldContext& f) { return named(f.gpu.modes.ecc.current, kEnabledModes); }},
    GpuField{"ecc.mode.pending", "", "", driver::kModesSection, "After the next reset.",
             [](const FieldContext& f) { return named(f.gpu.modes.ecc.pending, kEnabledModes); }},
};

}  // namespace

std::span<const GpuField> activity_fields() {
  return kFields;
}

}  // namespace pagoda::smi
