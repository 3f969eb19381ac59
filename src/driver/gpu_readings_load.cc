// What the GPU does now: memory, utilization, clocks, heat, power.
#include <algorithm>
#include <array>

#include "base/format.h"
#include "driver/gpu_section_readers.h"

namespace pagoda::driver {
namespace {

constexpr std::uint64_t kNsPerUs = 1000;

Reading<std::uint64_t> field_microseconds(const Reading<NvmlFieldValue>& value) {
  return field_count(value).map([](std::uint64_t ns) { return ns / kNsPerUs; });
}

constexpr std::array kClockEventFields = {
    FieldTarget{
        {NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP},
        [](GpuSnapshot& s, const auto& v) { s.clock_events.sw_power_cap_us = field_microseconds(v); }},
    FieldTarget{{NVML_FI_DEV_CLOCKS_EVENT_REASON_SYNC_BOOST},
                [](GpuSnapshot& s, const auto& v) { s.clock_events.sync_boost_us = field_microseconds(v); }},
    FieldTarget{{NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN},
                [](GpuSnapshot& s, const auto& v) { s.clock_events.sw_thermal_us = field_microseconds(v); }},
    FieldTarget{{NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN},
                [](GpuSnapshot& s, const auto& v) { s.clock_events.hw_thermal_us = field_microseconds(v); }},
    FieldTarget{
        {NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN},
        [](GpuSnapshot& s, const auto& v) { s.clock_events.hw_power_brake_us = field_microseconds(v); }},
};

constexpr std::array kTemperatureFields = {
    FieldTarget{{NVML_FI_DEV_MEMORY_TEMP},
                [](GpuSnapshot& s, const auto& v) { s.temperature.memory = field_signed(v); }},
    FieldTarget{{NVML_FI_DEV_TEMPERATURE_SHUTDOWN_TLIMIT},
                [](GpuSnapshot& s, const auto& v) { s.temperature.shutdown_margin = field_signed(v); }},
    FieldTarget{{NVML_FI_DEV_TEMPERATURE_SLOWDOWN_TLIMIT},
                [](GpuSnapshot& s, const auto& v) { s.temperature.slowdown_margin = field_signed(v); }},
    FieldTarget{{NVML_FI_DEV_TEMPERATURE_MEM_MAX_TLIMIT},
                [](GpuSnapshot& s, const auto& v) { s.temperature.memory_max_margin = field_signed(v); }},
    FieldTarget{{NVML_FI_DEV_TEMPERATURE_GPU_MAX_TLIMIT},
                [](GpuSnapshot& s, const auto& v) { s.temperature.gpu_max_margin = field_signed(v); }},
};

template <unsigned kScope, PowerDomain PowerReadings::*kDomain>
constexpr std::array<FieldTarget, 7> domain_fields() {
  return {{
      {{NVML_FI_DEV_POWER_AVERAGE, kScope},
       [](GpuSnapshot& s, const auto& v) { (s.power.*kDomain).average = field_number(v); }},
      {{NVML_FI_DEV_POWER_INSTANT, kScope},
       [](GpuSnapshot& s, const auto& v) { (s.power.*kDomain).instant = field_number(v); }},
      {{NVML_FI_DEV_POWER_CURRENT_LIMIT, kScope},
       [](GpuSnapshot& s, const auto& v) { (s.power.*kDomain).limit_enforced = field_number(v); }},
      {{NVML_FI_DEV_POWER_REQUESTED_LIMIT, kScope},
       [](GpuSnapshot& s, const auto& v) { (s.power.*kDomain).limit_requested = field_number(v); }},
      {{NVML_FI_DEV_POWER_DEFAULT_LIMIT, kScope},
       [](GpuSnapshot& s, const auto& v) { (s.power.*kDomain).limit_default = field_number(v); }},
      {{NVML_FI_DEV_POWER_MIN_LIMIT, kScope},
       [](GpuSnapshot& s, const auto& v) { (s.power.*kDomain).limit_min = field_number(v); }},
      {{NVML_FI_DEV_POWER_MAX_LIMIT, kScope},
       [](GpuSnapshot& s, const auto& v) { (s.power.*kDomain).limit_max = field_number(v); }},
  }};
}
constexpr auto kGpuPowerFields = domain_fields<NVML_POWER_SCOPE_GPU, &PowerReadings::gpu>();
constexpr auto kModulePowerFields = domain_fields<NVML_POWER_SCOPE_MODULE, &PowerReadings::module>();
constexpr std::array kOtherPowerFields = {
    FieldTarget{{NVML_FI_DEV_POWER_AVERAGE, NVML_POWER_SCOPE_MEMORY},
                [](GpuSnapshot& s, const auto& v) { s.power.memory_average = field_number(v); }},
    FieldTarget{{NVML_FI_DEV_POWER_INSTANT, NVML_POWER_SCOPE_MEMORY},
                [](GpuSnapshot& s, const auto& v) { s.power.memory_instant = field_number(v); }},
    FieldTarget{{NVML_FI_DEV_POWER_CURRENT_LIMIT, NVML_POWER_SCOPE_GPU_BASE},
                [](GpuSnapshot& s, const auto& v) { s.power.base_current = field_number(v); }},
    FieldTarget{{NVML_FI_DEV_POWER_REQUESTED_LIMIT, NVML_POWER_SCOPE_GPU_BASE},
                [](GpuSnapshot& s, const auto& v) { s.power.base_requested = field_number(v); }},
    FieldTarget{{NVML_FI_DEV_POWER_DEFAULT_LIMIT, NVML_POWER_SCOPE_GPU_BASE},
                [](GpuSnapshot& s, const auto& v) { s.power.base_default = field_number(v); }},
    FieldTarget{{NVML_FI_DEV_POWER_MIN_LIMIT, NVML_POWER_SCOPE_GPU_BASE},
                [](GpuSnapshot& s, const auto& v) { s.power.base_min = field_number(v); }},
    FieldTarget{{NVML_FI_DEV_POWER_MAX_LIMIT, NVML_POWER_SCOPE_GPU_BASE},
                [](GpuSnapshot& s, const auto& v) { s.power.base_max = field_number(v); }},
    FieldTarget{{NVML_FI_DEV_EDPP_MULTIPLIER},
                [](GpuSnapshot& s, const auto& v) {
                  s.power.edpp_percent_hundredths = v.map([](const NvmlFieldValue& percent) {
                    return static_cast<unsigned>(percent.as_double() * 100 + 0.5);
                  });
                }},
};

Reading<unsigned> percent(const Reading<std::tuple<unsigned, unsigned>>& busy_and_period) {
  return as_mode(busy_and_period).current;
}

template <class Buffer>
MemoryUse memory_of(const Reading<Buffer>& info) {
  MemoryUse use;
  use.total = count_of(info, &Buffer::total);
  use.used = count_of(info, &Buffer::used);
  use.free = count_of(info, &Buffer::free);
  return use;
}

ClockSet clock_set(const Gpu& gpu,
                   const nvml::Call<nvmlReturn_t(nvmlDevice_t, nvmlClockType_t, unsigned*)>& call) {
  return {gpu.read(call, NVML_CLOCK_GRAPHICS), gpu.read(call, NVML_CLOCK_SM), gpu.read(call, NVML_CLOCK_MEM),
          gpu.read(call, NVML_CLOCK_VIDEO)};
}

std::string profile_names(const nvmlMask255_t& mask) {
  std::string names;
  for (unsigned id = 0; id < 255; ++id) {
    if ((mask.mask[id / 32] >> (id % 32) & 1) != 0) names += format("{}{}", names.empty() ? "" : ", ", id);
  }
  return names.empty() ? "None" : names;
}

double sample_value(nvmlValueType_t type, const nvmlValue_t& value) {
  return NvmlFieldValue{type, value, 0}.as_double();
}

Reading<SampleSummary> sample_summary(const Gpu& gpu, nvmlSamplingType_t type) {
  struct Samples {
    nvmlValueType_t type = NVML_VALUE_TYPE_UNSIGNED_INT;
    std::vector<nvmlSample_t> list;
  };
  const auto samples =
      gpu.run<Samples>(nvml::kDeviceGetSamples, [type](auto* function, nvmlDevice_t device, Samples& s) {
        unsigned count = 0;
        nvmlReturn_t code = function(device, type, 0, &s.type, &count, nullptr);
        if (code != NVML_SUCCESS && code != NVML_ERROR_INSUFFICIENT_SIZE) return code;
        s.list.resize(count);
        if (count == 0) return NVML_ERROR_NOT_FOUND;
        code = function(device, type, 0, &s.type, &count, s.list.data());
        s.list.resize(code == NVML_SUCCESS ? std::min<size_t>(count, s.list.size()) : 0);
        return code;
      });
  if (!samples) return tl::unexpected<Absence>(samples.error());
  if (samples->list.empty()) return absent(NVML_ERROR_NO_DATA);
  SampleSummary summary;
  summary.count = static_cast<unsigned>(samples->list.size());
  summary.min = summary.max = sample_value(samples->type, samples->list.front().sampleValue);
  double sum = 0;
  for (const nvmlSample_t& sample : samples->list) {
    const double value = sample_value(samples->type, sample.sampleValue);
    summary.min = std::min(summary.min, value);
    summary.max = std::max(summary.max, value);
    sum += value;
  }
  summary.mean = sum / summary.count;
  summary.duration_s =
      static_cast<double>(samples->list.back().timeStamp - samples->list.front().timeStamp) / 1e6;
  return summary;
}

Reading<int> threshold(const Gpu& gpu, nvmlTemperatureThresholds_t kind) {
  return as_signed(gpu.read(nvml::kDeviceGetTemperatureThreshold, kind));
}

}  // namespace

void read_performance(const Gpu& gpu, GpuSnapshot& out) {
  out.fan_percent = gpu.read(nvml::kDeviceGetFanSpeed);
  const auto state = gpu.read(nvml::kDeviceGetPerformanceState);
  if (state && *state == NVML_PSTATE_UNKNOWN) {
    out.performance_state = absent(NVML_ERROR_NOT_SUPPORTED);
  } else {
    out.performance_state = as_number(state);
  }
}

void read_clock_events(const Gpu& gpu, GpuSnapshot& out) {
  out.clock_events.active = as_count(gpu.read(nvml::kDeviceGetCurrentClocksEventReasons));
  out.clock_events.supported = as_count(gpu.read(nvml::kDeviceGetSupportedClocksEventReasons));
  read_fields(gpu, kClockEventFields, out);
}

void read_memory(const Gpu& gpu, GpuSnapshot& out) {
  const auto memory = gpu.memory();
  out.memory = memory_of(memory);
  out.memory.reserved = memory ? as_count(memory->reserved) : tl::unexpected<Absence>(memory.error());
  const auto bar1 = gpu.read(nvml::kDeviceGetBAR1MemoryInfo);
  out.bar1.total = count_of(bar1, &nvmlBAR1Memory_t::bar1Total);
  out.bar1.used = count_of(bar1, &nvmlBAR1Memory_t::bar1Used);
  out.bar1.free = count_of(bar1, &nvmlBAR1Memory_t::bar1Free);
  out.protected_memory = memory_of(gpu.read(nvml::kDeviceGetConfComputeProtectedMemoryUsage));
}

void read_utilization(const Gpu& gpu, GpuSnapshot& out) {
  UtilizationReadings& use = out.utilization;
  const auto rates = gpu.read(nvml::kDeviceGetUtilizationRates);
  use.gpu = number_of(rates, &nvmlUtilization_t::gpu);
  use.memory = number_of(rates, &nvmlUtilization_t::memory);
  use.encoder = percent(gpu.read(nvml::kDeviceGetEncoderUtilization));
  use.decoder = percent(gpu.read(nvml::kDeviceGetDecoderUtilization));
  use.jpeg = percent(gpu.read(nvml::kDeviceGetJpgUtilization));
  use.ofa = percent(gpu.read(nvml::kDeviceGetOfaUtilization));
}

void read_samples(const Gpu& gpu, GpuSnapshot& out) {
  out.samples.power = sample_summary(gpu, NVML_TOTAL_POWER_SAMPLES);
  out.samples.gpu = sample_summary(gpu, NVML_GPU_UTILIZATION_SAMPLES);
  out.samples.memory = sample_summary(gpu, NVML_MEMORY_UTILIZATION_SAMPLES);
  out.samples.encoder = sample_summary(gpu, NVML_ENC_UTILIZATION_SAMPLES);
  out.samples.decoder = sample_summary(gpu, NVML_DEC_UTILIZATION_SAMPLES);
  out.samples.sm_clock = sample_summary(gpu, NVML_PROCESSOR_CLK_SAMPLES);
  out.samples.memory_clock = sample_summary(gpu, NVML_MEMORY_CLK_SAMPLES);
}

void read_encoder(const Gpu& gpu, GpuSnapshot& out) {
  using Stats = std::tuple<unsigned, unsigned, unsigned>;
  const Reading<Stats> encoder = gpu.read(nvml::kDeviceGetEncoderStats);
  out.encoder.sessions = encoder.map([](const Stats& s) { return std::get<0>(s); });
  out.encoder.average_fps = encoder.map([](const Stats& s) { return std::get<1>(s); });
  out.encoder.average_latency_us = encoder.map([](const Stats& s) { return std::get<2>(s); });
  const auto capture = gpu.read(nvml::kDeviceGetFBCStats);
  out.capture.sessions = number_of(capture, &nvmlFBCStats_t::sessionsCount);
  out.capture.average_fps = number_of(capture, &nvmlFBCStats_t::averageFPS);
  out.capture.average_latency_us = number_of(capture, &nvmlFBCStats_t::averageLatency);
}

void read_temperature(const Gpu& gpu, GpuSnapshot& out) {
  TemperatureReadings& t = out.temperature;
  const auto core =
      gpu.fill(nvml::kDeviceGetTemperatureV, nvmlTemperature_t{nvmlTemperature_v1, NVML_TEMPERATURE_GPU, 0});
  if (core || core.error().reason != AbsenceReason::kLibraryTooOld) {
    t.gpu = core.map([](const nvmlTemperature_t& c) { return c.temperature; });
  } else {
    t.gpu = as_signed(gpu.read(nvml::kDeviceGetTemperature, NVML_TEMPERATURE_GPU));
  }
  t.margin = gpu.fill(nvml::kDeviceGetMarginTemperature, nvmlMarginTemperature_t{nvmlMarginTemperature_v1, 0})
                 .map([](const nvmlMarginTemperature_t& m) { return m.marginTemperature; });
  t.shutdown = threshold(gpu, NVML_TEMPERATURE_THRESHOLD_SHUTDOWN);
  t.slowdown = threshold(gpu, NVML_TEMPERATURE_THRESHOLD_SLOWDOWN);
  t.gpu_max = threshold(gpu, NVML_TEMPERATURE_THRESHOLD_GPU_MAX);
  t.memory_max = threshold(gpu, NVML_TEMPERATURE_THRESHOLD_MEM_MAX);
  t.target = threshold(gpu, NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_CURR);
  t.target_min = threshold(gpu, NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_MIN);
  t.target_max = threshold(gpu, NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_MAX);
  read_fields(gpu, kTemperatureFields, out);
}

void read_power(const Gpu& gpu, GpuSnapshot& out) {
  PowerReadings& power = out.power;
  power.usage = gpu.read(nvml::kDeviceGetPowerUsage);
  read_fields(gpu, kGpuPowerFields, out);
  read_fields(gpu, kModulePowerFields, out);
  read_fields(gpu, kOtherPowerFields, out);
  power.energy_mj = as_count(gpu.read(nvml::kDeviceGetTotalEnergyConsumption));
  // The fields are newer than the calls.
  PowerDomain& domain = power.gpu;
  if (!domain.limit_enforced) domain.limit_enforced = gpu.read(nvml::kDeviceGetEnforcedPowerLimit);
  if (!domain.limit_requested) domain.limit_requested = gpu.read(nvml::kDeviceGetPowerManagementLimit);
  if (!domain.limit_default) domain.limit_default = gpu.read(nvml::kDeviceGetPowerManagementDefaultLimit);
  if (!domain.limit_min || !domain.limit_max) {
    const Mode bounds = as_mode(gpu.read(nvml::kDeviceGetPowerManagementLimitConstraints));
    domain.limit_min = bounds.current;
    domain.limit_max = bounds.pending;
  }
  using Profiles = nvmlWorkloadPowerProfileCurrentProfiles_t;
  const auto request = versioned<Profiles>(nvmlWorkloadPowerProfileCurrentProfiles_v1);
  const auto profiles = gpu.fill(nvml::kDeviceWorkloadPowerProfileGetCurrentProfiles, request);
  power.profiles_requested =
      profiles.map([](const Profiles& p) { return profile_names(p.requestedProfilesMask); });
  power.profiles_enforced =
      profiles.map([](const Profiles& p) { return profile_names(p.enforcedProfilesMask); });
}

void read_power_smoothing(const Gpu& gpu, GpuSnapshot& out) {
  std::vector<NvmlField> wanted;
  for (unsigned id = PowerSmoothing::kFirstField; id <= PowerSmoothing::kLastField; ++id)
    wanted.push_back({id, 0});
  const auto values = gpu.fields(wanted);
  for (size_t i = 0; i < values.size(); ++i) out.power_smoothing.fields[i] = field_count(values[i]);
}

void read_clocks(const Gpu& gpu, GpuSnapshot& out) {
  ClockReadings& clocks = out.clocks;
  clocks.current = clock_set(gpu, nvml::kDeviceGetClockInfo);
  clocks.max = clock_set(gpu, nvml::kDeviceGetMaxClockInfo);
  clocks.application_graphics = gpu.read(nvml::kDeviceGetApplicationsClock, NVML_CLOCK_GRAPHICS);
  clocks.application_memory = gpu.read(nvml::kDeviceGetApplicationsClock, NVML_CLOCK_MEM);
  clocks.default_graphics = gpu.read(nvml::kDeviceGetDefaultApplicationsClock, NVML_CLOCK_GRAPHICS);
  clocks.default_memory = gpu.read(nvml::kDeviceGetDefaultApplicationsClock, NVML_CLOCK_MEM);
  clocks.customer_boost_graphics = gpu.read(nvml::kDeviceGetMaxCustomerBoostClock, NVML_CLOCK_GRAPHICS);
  clocks.deferred_memory = absent(NVML_ERROR_NOT_SUPPORTED);
  const Mode boost = as_mode(gpu.read(nvml::kDeviceGetAutoBoostedClocksEnabled));
  clocks.auto_boost = as_flag(boost.current);
  clocks.auto_boost_default = as_flag(boost.pending);
}

void read_supported_clocks(const Gpu& gpu, GpuSnapshot& out) {
  const auto memory_clocks = gpu.list(nvml::kDeviceGetSupportedMemoryClocks);
  if (!memory_clocks) {
    out.supported_clocks = tl::unexpected<Absence>(memory_clocks.error());
    return;
  }
  std::vector<SupportedClock> clocks;
  for (const unsigned memory : *memory_clocks) {
    const auto graphics = gpu.list(nvml::kDeviceGetSupportedGraphicsClocks, memory);
    clocks.push_back({memory, graphics ? *graphics : std::vector<unsigned>{}});
  }
  out.supported_clocks = std::move(clocks);
}

}  // namespace pagoda::driver
