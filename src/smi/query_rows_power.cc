#include <array>

#include "smi/gpu_field_cells.h"
#include "smi/query_row.h"
#include "smi/sample_rows.h"

namespace pagoda::smi {
namespace {

using Gpu = driver::GpuSnapshot;

Cell celsius(const driver::Signed& reading) {
  return number(reading, "C");
}

// From Hopper on thresholds are distances to a limit (T.Limit) rather than temperatures.
bool has_margins(const RowContext& c) {
  return c.gpu.temperature.shutdown_margin.has_value();
}
bool has_temperatures(const RowContext& c) {
  return !has_margins(c);
}
bool from_r610(const RowContext& c) {
  return c.style.branch >= 610;
}
bool to_r595(const RowContext& c) {
  return c.style.branch < 610;
}
bool smooths_power(const RowContext& c) {
  return c.gpu.power_smoothing.field(NVML_FI_PWR_SMOOTHING_ENABLED).has_value();
}
bool smooths_no_power(const RowContext& c) {
  return !smooths_power(c);
}

// No space before its unit here.
Cell edpp(const Gpu& gpu) {
  const Cell cell = edpp_percent(gpu);
  return cell.absent ? cell : word(cell.text + std::string(cell.unit));
}

constexpr std::array kRows = {
    QueryRow{1, "Temperature", "temperature", kTemperature},
    QueryRow{2, "GPU Current Temp", "gpu_temp", 0, [](const Gpu& g) { return celsius(g.temperature.gpu); }},
    QueryRow{2, "GPU Current T.Limit Temp", "gpu_temp_tlimit", 0,
             [](const Gpu& g) { return celsius(g.temperature.margin); }, from_r610},
    QueryRow{2, "GPU T.Limit Temp", "gpu_temp_tlimit", 0,
             [](const Gpu& g) { return celsius(g.temperature.margin); }, to_r595},
    QueryRow{2, "GPU Shutdown Temp", "gpu_temp_max_threshold", 0,
             [](const Gpu& g) { return celsius(g.temperature.shutdown); }, has_temperatures},
    QueryRow{2, "GPU Slowdown Temp", "gpu_temp_slow_threshold", 0,
             [](const Gpu& g) { return celsius(g.temperature.slowdown); }, has_temperatures},
    QueryRow{2, "GPU Max Operating Temp", "gpu_temp_max_gpu_threshold", 0,
             [](const Gpu& g) { return celsius(g.temperature.gpu_max); }, has_temperatures},
    QueryRow{2, "GPU Shutdown T.Limit Temp", "gpu_temp_max_tlimit_threshold", 0,
             [](const Gpu& g) { return celsius(g.temperature.shutdown_margin); }, has_margins},
    QueryRow{2, "GPU Slowdown T.Limit Temp", "gpu_temp_slow_tlimit_threshold", 0,
             [](const Gpu& g) { return celsius(g.temperature.slowdown_margin); }, has_margins},
    QueryRow{2, "GPU Max Operating T.Limit Temp", "gpu_temp_max_gpu_tlimit_threshold", 0,
             [](const Gpu& g) { return celsius(g.temperature.gpu_max_margin); }, has_margins},
    QueryRow{2, "GPU Target Temperature Specification", "gpu_target_temperature", 0,
             [](const Gpu& g) { return celsius(g.temperature.target); }, from_r610},
    QueryRow{2, "GPU Target Temperature", "gpu_target_temperature", 0,
             [](const Gpu& g) { return celsius(g.temperature.target); }, to_r595},
    QueryRow{2, "Memory Current Temp", "memory_temp", 0,
             [](const Gpu& g) { return celsius(g.temperature.memory); }},
    QueryRow{2, "Memory Max Operating Temp", "gpu_temp_max_mem_threshold", 0,
             [](const Gpu& g) { return celsius(g.temperature.memory_max); }, has_temperatures},
    QueryRow{2, "Memory Max Operating T.Limit Temp", "gpu_temp_max_mem_tlimit_threshold", 0,
             [](const Gpu& g) { return celsius(g.temperature.memory_max_margin); }, has_margins},
    QueryRow{1, "Supported GPU Target Temp", "supported_gpu_target_temp",
             kSupportedTargetTemp | kOnlyByDisplay},
    QueryRow{2, "GPU Target Temp Min", "gpu_target_temp_min", 0,
             [](const Gpu& g) { return celsius(g.temperature.target_min); }},
    QueryRow{2, "GPU Target Temp Max", "gpu_target_temp_max", 0,
             [](const Gpu& g) { return celsius(g.temperature.target_max); }},
    QueryRow{1, "GPU Power Readings", "gpu_power_readings", kPower},
    QueryRow{2, "Average Power Draw", "average_power_draw", 0,
             [](const Gpu& g) { return watts(g.power.gpu.average); }},
    QueryRow{2, "Instantaneous Power Draw", "instant_power_draw", 0,
             [](const Gpu& g) { return watts(g.power.gpu.instant); }},
    QueryRow{2, "Current Power Limit", "current_power_limit", 0,
             [](const Gpu& g) { return watts(g.power.gpu.limit_enforced); }, to_r595},
    QueryRow{2, "Requested Power Limit", "requested_power_limit", 0,
             [](const Gpu& g) { return watts(g.power.gpu.limit_requested); }, to_r595},
    QueryRow{2, "Default Power Limit", "default_power_limit", 0,
             [](const Gpu& g) { return watts(g.power.gpu.limit_default); }, to_r595},
    QueryRow{2, "GPU Ceiling Power Limit", "gpu_ceiling_power_limit", 0, nullptr, from_r610},
    QueryRow{3, "Current Power Limit", "current_power_limit", 0,
             [](const Gpu& g) { return watts(g.power.gpu.limit_enforced); }, from_r610},
    QueryRow{3, "Requested Power Limit", "requested_power_limit", 0,
             [](const Gpu& g) { return watts(g.power.gpu.limit_requested); }, from_r610},
    QueryRow{3, "Default Power Limit", "default_power_limit", 0,
             [](const Gpu& g) { return watts(g.power.gpu.limit_default); }, from_r610},
    QueryRow{2, "GPU Base Power", "gpu_base_power", 0, nullptr, from_r610},
    QueryRow{3, "Current Base Power", "current_base_power", 0,
             [](const Gpu& g) { return watts(g.power.base_current); }, from_r610},
    QueryRow{3, "Requested Base Power", "requested_base_power", 0,
             [](const Gpu& g) { return watts(g.power.base_requested); }, from_r610},
    QueryRow{3, "Default Base Power", "default_base_power", 0,
             [](const Gpu& g) { return watts(g.power.base_default); }, from_r610},
    QueryRow{2, "Min Power Limit", "min_power_limit", 0,
             [](const Gpu& g) { return watts(g.power.gpu.limit_min); }},
    QueryRow{2, "Max Power Limit", "max_power_limit", 0,
             [](const Gpu& g) { return watts(g.power.gpu.limit_max); }},
    QueryRow{1, "Power Samples", "power_samples", kPower | kOnlyByDisplay, nullptr, nullptr,
             [](const RowContext& c, ReportNode& n) { add_samples(c.gpu.samples.power, kPowerSamples, n); }},
    // The space at its end is NVIDIA's.
    QueryRow{1, "GPU Memory Power Readings ", "gpu_memory_power_readings", kPower},
    QueryRow{2, "Average Power Draw", "average_power_draw", 0,
             [](const Gpu& g) { return watts(g.power.memory_average); }},
    QueryRow{2, "Instantaneous Power Draw", "instant_power_draw", 0,
             [](const Gpu& g) { return watts(g.power.memory_instant); }},
    QueryRow{1, "Module Power Readings", "module_power_readings", kPower},
    QueryRow{2, "Average Power Draw", "average_power_draw", 0,
             [](const Gpu& g) { return watts(g.power.module.average); }},
    QueryRow{2, "Instantaneous Power Draw", "instant_power_draw", 0,
             [](const Gpu& g) { return watts(g.power.module.instant); }},
    QueryRow{2, "Current Power Limit", "current_power_limit", 0,
             [](const Gpu& g) { return watts(g.power.module.limit_enforced); }},
    QueryRow{2, "Requested Power Limit", "requested_power_limit", 0,
             [](const Gpu& g) { return watts(g.power.module.limit_requested); }},
    QueryRow{2, "Default Power Limit", "default_power_limit", 0,
             [](const Gpu& g) { return watts(g.power.module.limit_default); }},
    QueryRow{2, "Min Power Limit", "min_power_limit", 0,
             [](const Gpu& g) { return watts(g.power.module.limit_min); }},
    QueryRow{2, "Max Power Limit", "max_power_limit", 0,
             [](const Gpu& g) { return watts(g.power.module.limit_max); }},
    QueryRow{1, "Power Smoothing", "power_smoothing", kPowerSmoothing,
             [](const Gpu& g) { return number(g.power_smoothing.field(NVML_FI_PWR_SMOOTHING_ENABLED)); },
             smooths_no_power},
    QueryRow{1, "Power Smoothing", "power_smoothing", kPowerSmoothing, nullptr, smooths_power},
    QueryRow{2, "Enabled", "power_smoothing_enabled", 0,
             [](const Gpu& g) { return smoothing(g, NVML_FI_PWR_SMOOTHING_ENABLED, kEnabledDisabled); }, smooths_power},
    QueryRow{2, "Privilege Level", "privilege_level", 0,
             [](const Gpu& g) { return smoothing(g, NVML_FI_PWR_SMOOTHING_PRIV_LVL, kPlain); }, smooths_power},
    QueryRow{2, "Immediate Ramp Down", "immediate_ramp_down", 0,
             [](const Gpu& g) { return smoothing(g, NVML_FI_PWR_SMOOTHING_IMM_RAMP_DOWN_ENABLED, kEnabledDisabled); },
             smooths_power},
    QueryRow{2, "Current TMP Ceiling", "current_tmp_ceiling", 0,
             [](const Gpu& g) { return smoothing(g, NVML_FI_PWR_SMOOTHING_APPLIED_TMP_CEIL, kWatts); },
             smooths_power},
    QueryRow{2, "Current TMP Floor", "current_tmp_floor", 0,
             [](const Gpu& g) { return smoothing(g, NVML_FI_PWR_SMOOTHING_APPLIED_TMP_FLOOR, kWatts); },
             smooths_power},
    QueryRow{
        2, "Max % TMP Floor", "max_tmp_floor_percent", 0,
        [](const Gpu& g) { return smoothing(g, NVML_FI_PWR_SMOOTHING_MAX_PERCENT_TMP_FLOOR_SETTING, kPercent); },
        smooths_power},
    QueryRow{
        2, "Min % TMP Floor", "min_tmp_floor_percent", 0,
        [](const Gpu& g) { return smoothing(g, NVML_FI_PWR_SMOOTHING_MIN_PERCENT_TMP_FLOOR_SETTING, kPercent); },
        smooths_power},
    QueryRow{
        2, "HW Lifetime % Remaining", "hw_lifetime_percent_remaining", 0,
        [](const Gpu&
               g) { return smoothing(g, NVML_FI_PWR_SMOOTHING_HW_CIRCUITRY_PERCENT_LIFETIME_REMAINING, kPercent); },
        smooths_power},
    QueryRow{2, "Number of Preset Profiles", "num_preset_profiles", 0,
             [](const Gpu& g) { return smoothing(g, NVML_FI_PWR_SMOOTHING_MAX_NUM_PRESET_PROFILES, kPlain); },
             smooths_power},
    QueryRow{1, "Workload Power Profiles", "power_profiles", kPowerProfiles},
    QueryRow{2, "Requested Profiles", "power_profile_requested_profiles", 0,
             [](const Gpu& g) { return text(g.power.profiles_requested); }},
    QueryRow{2, "Enforced Profiles", "power_profile_enforced_profiles", 0,
             [](const Gpu& g) { return text(g.power.profiles_enforced); }},
    QueryRow{1, "EDPp Multiplier", "edpp_multiplier", kPower, edpp},
};

}  // namespace

std::span<const QueryRow> power_rows() {
  return kRows;
}

}  // namespace pagoda::smi
