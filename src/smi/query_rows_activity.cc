#include <array>

#include "smi/gpu_field_cells.h"
#include "smi/names.h"
#include "smi/query_row.h"
#include "smi/sample_rows.h"

namespace pagoda::smi {
namespace {

using Gpu = driver::GpuSnapshot;

Cell reason(const Gpu& gpu, std::uint64_t bit) {
  return active(gpu.clock_events.active, bit);
}

constexpr std::array kRows = {
    QueryRow{1, "Fan Speed", "fan_speed", 0, [](const Gpu& g) { return number(g.fan_percent, "%"); }},
    QueryRow{1, "Performance State", "performance_state", kPerformance, performance_state},
    QueryRow{1, "Clocks Event Reasons", "clocks_event_reasons", kPerformance},
    QueryRow{2, "Idle", "clocks_event_reason_gpu_idle", 0,
             [](const Gpu& g) { return reason(g, nvmlClocksEventReasonGpuIdle); }},
    QueryRow{2, "Applications Clocks Setting", "clocks_event_reason_applications_clocks_setting", 0,
             [](const Gpu& g) { return reason(g, nvmlClocksEventReasonApplicationsClocksSetting); }},
    QueryRow{2, "SW Power Cap", "clocks_event_reason_sw_power_cap", 0,
             [](const Gpu& g) { return reason(g, nvmlClocksEventReasonSwPowerCap); }},
    QueryRow{2, "HW Slowdown", "clocks_event_reason_hw_slowdown", 0,
             [](const Gpu& g) { return reason(g, nvmlClocksThrottleReasonHwSlowdown); }},
    QueryRow{3, "HW Thermal Slowdown", "clocks_event_reason_hw_thermal_slowdown", 0,
             [](const Gpu& g) { return reason(g, nvmlClocksThrottleReasonHwThermalSlowdown); }},
    QueryRow{3, "HW Power Brake Slowdown", "clocks_event_reason_hw_power_brake_slowdown", 0,
             [](const Gpu& g) { return reason(g, nvmlClocksThrottleReasonHwPowerBrakeSlowdown); }},
    QueryRow{2, "Sync Boost", "clocks_event_reason_sync_boost", 0,
             [](const Gpu& g) { return reason(g, nvmlClocksEventReasonSyncBoost); }},
    QueryRow{2, "SW Thermal Slowdown", "clocks_event_reason_sw_thermal_slowdown", 0,
             [](const Gpu& g) { return reason(g, nvmlClocksEventReasonSwThermalSlowdown); }},
    QueryRow{2, "Display Clock Setting", "clocks_event_reason_display_clocks_setting", 0,
             [](const Gpu& g) { return reason(g, nvmlClocksEventReasonDisplayClockSetting); }},
    QueryRow{1, "Clocks Event Reasons Counters", "clocks_event_reasons_counters", kPerformance},
    QueryRow{2, "SW Power Capping", "clocks_event_reasons_counters_sw_power_cap", 0,
             [](const Gpu& g) { return number(g.clock_events.sw_power_cap_us, "us"); }},
    QueryRow{2, "Sync Boost", "clocks_event_reasons_counters_sync_boost", 0,
             [](const Gpu& g) { return number(g.clock_events.sync_boost_us, "us"); }},
    QueryRow{2, "SW Thermal Slowdown", "clocks_event_reasons_counters_sw_therm_slowdown", 0,
             [](const Gpu& g) { return number(g.clock_events.sw_thermal_us, "us"); }},
    QueryRow{2, "HW Thermal Slowdown", "clocks_event_reasons_counters_hw_therm_slowdown", 0,
             [](const Gpu& g) { return number(g.clock_events.hw_thermal_us, "us"); }},
    QueryRow{2, "HW Power Braking", "clocks_event_reasons_counters_hw_power_brake", 0,
             [](const Gpu& g) { return number(g.clock_events.hw_power_brake_us, "us"); }},
    QueryRow{1, "Sparse Operation Mode", "sparse_operation_mode", kPerformance,
             [](const Gpu& g) { return enabled_disabled(g.modes.sparse_operation); }},
    QueryRow{1, "FB Memory Usage", "fb_memory_usage", kMemory},
    QueryRow{2, "Total", "total", 0, [](const Gpu& g) { return mib(g.memory.total); }},
    QueryRow{2, "Reserved", "reserved", 0, [](const Gpu& g) { return mib(g.memory.reserved); }},
    QueryRow{2, "Used", "used", 0, [](const Gpu& g) { return mib(g.memory.used); }},
    QueryRow{2, "Free", "free", 0, [](const Gpu& g) { return mib(g.memory.free); }},
    QueryRow{1, "BAR1 Memory Usage", "bar1_memory_usage", kMemory},
    QueryRow{2, "Total", "total", 0, [](const Gpu& g) { return mib(g.bar1.total); }},
    QueryRow{2, "Used", "used", 0, [](const Gpu& g) { return mib(g.bar1.used); }},
    QueryRow{2, "Free", "free", 0, [](const Gpu& g) { return mib(g.bar1.free); }},
    QueryRow{1, "Conf Compute Protected Memory Usage", "cc_protected_memory_usage", kMemory},
    QueryRow{2, "Total", "total", 0, [](const Gpu& g) { return mib(g.protected_memory.total); }},
    QueryRow{2, "Used", "used", 0, [](const Gpu& g) { return mib(g.protected_memory.used); }},
    QueryRow{2, "Free", "free", 0, [](const Gpu& g) { return mib(g.protected_memory.free); }},
    QueryRow{1, "Compute Mode", "compute_mode", kCompute,
             [](const Gpu& g) { return named(g.modes.compute, kComputeModes); }},
    QueryRow{1, "Utilization", "utilization", kUtilization},
    QueryRow{2, "GPU", "gpu_util", 0, [](const Gpu& g) { return number(g.utilization.gpu, "%"); }},
    QueryRow{2, "Memory", "memory_util", 0, [](const Gpu& g) { return number(g.utilization.memory, "%"); }},
    QueryRow{2, "Encoder", "encoder_util", 0,
             [](const Gpu& g) { return number(g.utilization.encoder, "%"); }},
    QueryRow{2, "Decoder", "decoder_util", 0,
             [](const Gpu& g) { return number(g.utilization.decoder, "%"); }},
    QueryRow{2, "JPEG", "jpeg_util", 0, [](const Gpu& g) { return number(g.utilization.jpeg, "%"); }},
    QueryRow{2, "OFA", "ofa_util", 0, [](const Gpu& g) { return number(g.utilization.ofa, "%"); }},
    QueryRow{1, "GPU Utilization Samples", "gpu_utilization_samples", kUtilization | kOnlyByDisplay, nullptr,
             nullptr,
             [](const RowContext& c, ReportNode& n) { add_samples(c.gpu.samples.gpu, kPercentSamples, n); }},
    QueryRow{
        1, "Memory Utilization Samples", "memory_utilization_samples", kUtilization | kOnlyByDisplay, nullptr,
        nullptr,
        [](const RowContext& c, ReportNode& n) { add_samples(c.gpu.samples.memory, kPercentSamples, n); }},
    QueryRow{
        1, "ENC Utilization Samples", "enc_utilization_samples", kUtilization | kOnlyByDisplay, nullptr,
        nullptr,
        [](const RowContext& c, ReportNode& n) { add_samples(c.gpu.samples.encoder, kPercentSamples, n); }},
    QueryRow{
        1, "DEC Utilization Samples", "dec_utilization_samples", kUtilization | kOnlyByDisplay, nullptr,
        nullptr,
        [](const RowContext& c, ReportNode& n) { add_samples(c.gpu.samples.decoder, kPercentSamples, n); }},
    QueryRow{1, "Encoder Stats", "encoder_stats", kEncoderStats},
    QueryRow{2, "Active Sessions", "session_count", 0,
             [](const Gpu& g) { return number(g.encoder.sessions); }},
    QueryRow{2, "Average FPS", "average_fps", 0, [](const Gpu& g) { return number(g.encoder.average_fps); }},
    QueryRow{2, "Average Latency", "average_latency", 0,
             [](const Gpu& g) { return number(g.encoder.average_latency_us); }},
    QueryRow{1, "FBC Stats", "fbc_stats", kFbcStats},
    QueryRow{2, "Active Sessions", "session_count", 0,
             [](const Gpu& g) { return number(g.capture.sessions); }},
    QueryRow{2, "Average FPS", "average_fps", 0, [](const Gpu& g) { return number(g.capture.average_fps); }},
    QueryRow{2, "Average Latency", "average_latency", 0,
             [](const Gpu& g) { return number(g.capture.average_latency_us); }},
};

}  // namespace

std::span<const QueryRow> activity_rows() {
  return kRows;
}

}  // namespace pagoda::smi
