// Fields of what a GPU does: clocks, heat, power, utilization, what slowed it down.
#include <array>

#include "driver/gpu_snapshot_reader.h"
#include "telemetry/field_rows.h"

namespace pagoda::telemetry {
namespace {

using driver::GpuSnapshot;
using enum FieldType;
using enum FieldKind;
using enum FieldLevel;

using driver::ClockReadings;
using driver::ClockSet;
using driver::PowerDomain;
using driver::PowerReadings;
using driver::TemperatureReadings;
using driver::UtilizationReadings;
using driver::ViolationReadings;

// 0: XIDs are listened for, and none came.
FieldReading last_xid(const FieldRow&, const EntityReadings& entity) {
  return entity.activity().last_xid.map([](const std::optional<XidEvent>& event) -> FieldValue {
    return static_cast<std::int64_t>(event ? event->xid : 0);
  });
}

template <auto Member>
FieldReading reason_ns(const FieldRow&, const EntityReadings& entity) {
  return (entity.snapshot().clock_events.*Member).map([](std::uint64_t us) -> FieldValue {
    return static_cast<std::int64_t>(us * 1000);
  });
}

const std::array kClocksAndHeat = {
    FieldRow{100, "DCGM_FI_DEV_SM_CLOCK", "", "sm_clock", "SMCLK", "MHz", kInteger, kGauge, kGpu,
             driver::kClocksSection, integer_at<&GpuSnapshot::clocks, &ClockReadings::current, &ClockSet::sm>,
             "SM clock (in MHz)"},
    FieldRow{101, "DCGM_FI_DEV_MEM_CLOCK", "", "memory_clock", "MMCLK", "MHz", kInteger, kGauge, kGpu,
             driver::kClocksSection,
             integer_at<&GpuSnapshot::clocks, &ClockReadings::current, &ClockSet::memory>,
             "Memory clock (in MHz)"},
    FieldRow{102, "DCGM_FI_DEV_VIDEO_CLOCK", "", "video_clock", "VICLK", "MHz", kInteger, kGauge, kGpu,
             driver::kClocksSection,
             integer_at<&GpuSnapshot::clocks, &ClockReadings::current, &ClockSet::video>,
             "Clock of the video engines (in MHz)"},
    FieldRow{110, "DCGM_FI_DEV_APP_SM_CLOCK", "", "sm_app_clock", "SACLK", "MHz", kInteger, kGauge, kGpu,
             driver::kClocksSection, integer_at<&GpuSnapshot::clocks, &ClockReadings::application_graphics>,
             "Application clock of the SMs (in MHz)"},
    FieldRow{111, "DCGM_FI_DEV_APP_MEM_CLOCK", "", "mem_app_clock", "MACLK", "MHz", kInteger, kGauge, kGpu,
             driver::kClocksSection, integer_at<&GpuSnapshot::clocks, &ClockReadings::application_memory>,
             "Application clock of the memory (in MHz)"},
    FieldRow{112, "DCGM_FI_DEV_CLOCKS_EVENT_REASONS", "", "current_clocks_event_reasons", "DVCCTR", "",
             kInteger, kGauge, kGpu, driver::kClockEventsSection,
             integer_at<&GpuSnapshot::clock_events, &driver::ClockEvents::active>,
             "Why the clocks are as they are, NVML's bits", 20},
    FieldRow{113, "DCGM_FI_DEV_MAX_SM_CLOCK", "", "sm_max_clock", "SMMAX", "MHz", kInteger, kGauge, kGpu,
             driver::kClocksSection, integer_at<&GpuSnapshot::clocks, &ClockReadings::max, &ClockSet::sm>,
             "Highest SM clock (in MHz)"},
    FieldRow{114, "DCGM_FI_DEV_MAX_MEM_CLOCK", "", "memory_max_clock", "MMMAX", "MHz", kInteger, kGauge, kGpu,
             driver::kClocksSection, integer_at<&GpuSnapshot::clocks, &ClockReadings::max, &ClockSet::memory>,
             "Highest memory clock (in MHz)"},
    FieldRow{115, "DCGM_FI_DEV_MAX_VIDEO_CLOCK", "", "video_max_clock", "VIMAX", "MHz", kInteger, kGauge,
             kGpu, driver::kClocksSection,
             integer_at<&GpuSnapshot::clocks, &ClockReadings::max, &ClockSet::video>,
             "Highest clock of the video engines (in MHz)"},
    FieldRow{120, "DCGM_FI_DEV_AUTOBOOST", "DCGM_FI_DEV_CLOCKS_AUTOBOOST_MODE", "autoboost", "ATBST", "",
             kInteger, kGauge, kGpu, driver::kClocksSection,
             integer_at<&GpuSnapshot::clocks, &ClockReadings::auto_boost>, "1: auto-boost is on"},
    FieldRow{140, "DCGM_FI_DEV_MEMORY_TEMP", "DCGM_FI_DEV_MEMORY_TEMP_CELSIUS", "memory_temp", "MMTMP", "C",
             kInteger, kGauge, kGpu, driver::kTemperatureSection,
             integer_at<&GpuSnapshot::temperature, &TemperatureReadings::memory>,
             "Memory temperature (in C)"},
    FieldRow{150, "DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_GPU_TEMP_CELSIUS", "gpu_temp", "TMPTR", "C", kInteger,
             kGauge, kGpu, driver::kTemperatureSection,
             integer_at<&GpuSnapshot::temperature, &TemperatureReadings::gpu>, "GPU temperature (in C)"},
    FieldRow{151, "DCGM_FI_DEV_MEM_MAX_OP_TEMP", "DCGM_FI_DEV_MEMORY_MAX_OP_TEMP_CELSIUS",
             "gpu_mem_max_op_temp", "GMMOT", "C", kInteger, kGauge, kGpu, driver::kTemperatureSection,
             integer_at<&GpuSnapshot::temperature, &TemperatureReadings::memory_max>,
             "Highest memory temperature in operation (in C)"},
    FieldRow{152, "DCGM_FI_DEV_GPU_MAX_OP_TEMP", "DCGM_FI_DEV_GPU_MAX_OP_TEMP_CELSIUS", "gpu_max_op_temp",
             "GGMOT", "C", kInteger, kGauge, kGpu, driver::kTemperatureSection,
             integer_at<&GpuSnapshot::temperature, &TemperatureReadings::gpu_max>,
             "Highest GPU temperature in operation (in C)"},
    FieldRow{153, "DCGM_FI_DEV_GPU_TEMP_LIMIT", "DCGM_FI_DEV_GPU_TEMP_MARGIN_CELSIUS", "gpu_temp_tlimit",
             "GTLIMIT", "C", kInteger, kGauge, kGpu, driver::kTemperatureSection,
             integer_at<&GpuSnapshot::temperature, &TemperatureReadings::margin>,
             "Degrees left until the GPU slows itself down (in C)"},
    FieldRow{158, "DCGM_FI_DEV_SLOWDOWN_TEMP", "DCGM_FI_DEV_GPU_TEMP_SLOWDOWN_CELSIUS", "slowdown_temp",
             "SDTMP", "C", kInteger, kGauge, kGpu, driver::kTemperatureSection,
             integer_at<&GpuSnapshot::temperature, &TemperatureReadings::slowdown>,
             "Temperature at which the GPU slows itself down (in C)"},
    FieldRow{159, "DCGM_FI_DEV_SHUTDOWN_TEMP", "DCGM_FI_DEV_GPU_TEMP_SHUTDOWN_CELSIUS", "shutdown_temp",
             "SHTMP", "C", kInteger, kGauge, kGpu, driver::kTemperatureSection,
             integer_at<&GpuSnapshot::temperature, &TemperatureReadings::shutdown>,
             "Temperature at which the GPU shuts itself down (in C)"},
    FieldRow{191, "DCGM_FI_DEV_FAN_SPEED", "", "fan_speed", "FANSP", "%", kInteger, kGauge, kGpu,
             driver::kPerformanceSection, integer_at<&GpuSnapshot::fan_percent>, "Fan speed (in %)"},
};

const std::array kPower = {
    FieldRow{155, "DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_BOARD_POWER_WATTS", "power_usage", "POWER", "W",
             kReal, kGauge, kGpu, driver::kPowerSection, watts_at<&GpuSnapshot::power, &PowerReadings::usage>,
             "Power draw (in W)", 10},
    FieldRow{156, "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "", "total_energy_consumption", "TOTEC", "mJ",
             kInteger, kCounter, kGpu, driver::kPowerSection,
             integer_at<&GpuSnapshot::power, &PowerReadings::energy_mj>,
             "Energy drawn since the driver was loaded (in mJ)", 16},
    FieldRow{157, "DCGM_FI_DEV_POWER_USAGE_INSTANT", "DCGM_FI_DEV_BOARD_POWER_RAW_WATTS",
             "power_usage_instant", "POWINST", "W", kReal, kGauge, kGpu, driver::kPowerSection,
             watts_at<&GpuSnapshot::power, &PowerReadings::gpu, &PowerDomain::instant>,
             "Power draw of this moment (in W)", 10},
    FieldRow{160, "DCGM_FI_DEV_POWER_MGMT_LIMIT", "DCGM_FI_DEV_BOARD_POWER_LIMIT_REQUESTED_WATTS",
             "power_management_limit", "PMLMT", "W", kReal, kGauge, kGpu, driver::kPowerSection,
             watts_at<&GpuSnapshot::power, &PowerReadings::gpu, &PowerDomain::limit_requested>,
             "Power limit that is set (in W)", 10},
    FieldRow{161, "DCGM_FI_DEV_POWER_MGMT_LIMIT_MIN", "DCGM_FI_DEV_BOARD_POWER_LIMIT_MIN_WATTS",
             "power_management_limit_min", "PMMIN", "W", kReal, kGauge, kGpu, driver::kPowerSection,
             watts_at<&GpuSnapshot::power, &PowerReadings::gpu, &PowerDomain::limit_min>,
             "Lowest power limit that may be set (in W)", 10},
    FieldRow{162, "DCGM_FI_DEV_POWER_MGMT_LIMIT_MAX", "DCGM_FI_DEV_BOARD_POWER_LIMIT_MAX_WATTS",
             "power_management_limit_max", "PMMAX", "W", kReal, kGauge, kGpu, driver::kPowerSection,
             watts_at<&GpuSnapshot::power, &PowerReadings::gpu, &PowerDomain::limit_max>,
             "Highest power limit that may be set (in W)", 10},
    FieldRow{163, "DCGM_FI_DEV_POWER_MGMT_LIMIT_DEF", "DCGM_FI_DEV_BOARD_POWER_LIMIT_DEFAULT_WATTS",
             "power_management_limit_default", "PMDEF", "W", kReal, kGauge, kGpu, driver::kPowerSection,
             watts_at<&GpuSnapshot::power, &PowerReadings::gpu, &PowerDomain::limit_default>,
             "Power limit after a reset (in W)", 10},
    FieldRow{164, "DCGM_FI_DEV_ENFORCED_POWER_LIMIT", "DCGM_FI_DEV_BOARD_POWER_LIMIT_ENFORCED_WATTS",
             "enforced_power_limit", "EPLMT", "W", kReal, kGauge, kGpu, driver::kPowerSection,
             watts_at<&GpuSnapshot::power, &PowerReadings::gpu, &PowerDomain::limit_enforced>,
             "Power limit that holds, all limiters together (in W)", 10},
    FieldRow{165, "DCGM_FI_DEV_REQUESTED_POWER_PROFILE_MASK",
             "DCGM_FI_DEV_BOARD_POWER_PROFILE_REQUESTED_MASK", "req_power_prof", "RPPRM", "", kText, kLabel,
             kGpu, driver::kPowerSection, text_at<&GpuSnapshot::power, &PowerReadings::profiles_requested>,
             "Workload power profiles that are asked for", 20},
    FieldRow{166, "DCGM_FI_DEV_ENFORCED_POWER_PROFILE_MASK", "DCGM_FI_DEV_BOARD_POWER_PROFILE_ENFORCED_MASK",
             "enf_power_prof", "EPPRM", "", kText, kLabel, kGpu, driver::kPowerSection,
             text_at<&GpuSnapshot::power, &PowerReadings::profiles_enforced>,
             "Workload power profiles that hold", 20},
    FieldRow{190, "DCGM_FI_DEV_PSTATE", "DCGM_FI_DEV_GPU_PSTATE", "pstate", "PSTAT", "", kInteger, kGauge,
             kGpu, driver::kPerformanceSection, integer_at<&GpuSnapshot::performance_state>,
             "Performance state: 0 full speed to 15"},
};

const std::array kUse = {
    FieldRow{203, "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_GPU_UTIL_RATIO", "gpu_utilization", "GPUTL", "%",
             kInteger, kGauge, kGpu, driver::kUtilizationSection,
             integer_at<&GpuSnapshot::utilization, &UtilizationReadings::gpu>,
             "Share of time in which some kernel ran (in %)"},
    FieldRow{204, "DCGM_FI_DEV_MEM_COPY_UTIL", "", "mem_copy_utilization", "MCUTL", "%", kInteger, kGauge,
             kGpu, driver::kUtilizationSection,
             integer_at<&GpuSnapshot::utilization, &UtilizationReadings::memory>,
             "Share of time in which memory was read or written (in %)"},
    FieldRow{206, "DCGM_FI_DEV_ENC_UTIL", "", "enc_utilization", "ENCUT", "%", kInteger, kGauge, kGpu,
             driver::kUtilizationSection,
             integer_at<&GpuSnapshot::utilization, &UtilizationReadings::encoder>,
             "Use of the video encoder (in %)"},
    FieldRow{207, "DCGM_FI_DEV_DEC_UTIL", "", "dec_utilization", "DECUT", "%", kInteger, kGauge, kGpu,
             driver::kUtilizationSection,
             integer_at<&GpuSnapshot::utilization, &UtilizationReadings::decoder>,
             "Use of the video decoder (in %)"},
    FieldRow{230, "DCGM_FI_DEV_XID_ERRORS", "DCGM_FI_DEV_XID_ERROR", "xid_errors", "XIDER", "", kInteger,
             kGauge, kGpu, 0, last_xid, "Last XID error; 0: none since listening began"},
};

struct ViolationRow {
  unsigned id;
  std::string_view name, tag, column, help;
  FieldRead read;
};
template <auto Member>
constexpr FieldRead kViolation = integer_at<&GpuSnapshot::violations, Member>;
const std::array kViolations = {
    ViolationRow{240, "DCGM_FI_DEV_POWER_VIOLATION", "power_violation", "PVIOL",
                 "Time slowed down for power (in ns)", kViolation<&ViolationReadings::power_ns>},
    ViolationRow{241, "DCGM_FI_DEV_THERMAL_VIOLATION", "thermal_violation", "TVIOL",
                 "Time slowed down for heat (in ns)", kViolation<&ViolationReadings::thermal_ns>},
    ViolationRow{242, "DCGM_FI_DEV_SYNC_BOOST_VIOLATION", "sync_boost_violation", "SBVIO",
                 "Time slowed down by sync boost (in ns)", kViolation<&ViolationReadings::sync_boost_ns>},
    ViolationRow{243, "DCGM_FI_DEV_BOARD_LIMIT_VIOLATION", "board_limit_violation", "BLVIO",
                 "Time slowed down by the board's limit (in ns)",
                 kViolation<&ViolationReadings::board_limit_ns>},
    ViolationRow{244, "DCGM_FI_DEV_LOW_UTIL_VIOLATION", "low_util_violation", "LUVIO",
                 "Time slowed down for low utilization (in ns)",
                 kViolation<&ViolationReadings::low_utilization_ns>},
    ViolationRow{245, "DCGM_FI_DEV_RELIABILITY_VIOLATION", "reliability_violation", "RVIOL",
                 "Time slowed down for reliability (in ns)", kViolation<&ViolationReadings::reliability_ns>},
    ViolationRow{246, "DCGM_FI_DEV_TOTAL_APP_CLOCKS_VIOLATION", "app_clock_violation", "TAPCV",
                 "Time below the application clocks (in ns)", kViolation<&ViolationReadings::app_clocks_ns>},
    ViolationRow{247, "DCGM_FI_DEV_TOTAL_BASE_CLOCKS_VIOLATION", "base_clock_violation", "TAPBC",
                 "Time below the base clocks (in ns)", kViolation<&ViolationReadings::base_clocks_ns>},
    ViolationRow{1420, "DCGM_FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP_NS", "clocks_event_sw_power_cap",
                 "CESWPC", "Time at the power limit (in ns)",
                 reason_ns<&driver::ClockEvents::sw_power_cap_us>},
    ViolationRow{1421, "DCGM_FI_DEV_CLOCKS_EVENT_REASON_SYNC_BOOST_NS", "clocks_event_sync_boost", "CESYNB",
                 "Time bound by sync boost (in ns)", reason_ns<&driver::ClockEvents::sync_boost_us>},
    ViolationRow{1422, "DCGM_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN_NS", "clocks_event_sw_thermal",
                 "CESWTH", "Time slowed down for heat by the driver (in ns)",
                 reason_ns<&driver::ClockEvents::sw_thermal_us>},
    ViolationRow{1423, "DCGM_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN_NS", "clocks_event_hw_thermal",
                 "CEHWTH", "Time slowed down for heat by the hardware (in ns)",
                 reason_ns<&driver::ClockEvents::hw_thermal_us>},
    ViolationRow{1424, "DCGM_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN_NS",
                 "clocks_event_hw_power_brake", "CEHWPB", "Time under the external power brake (in ns)",
                 reason_ns<&driver::ClockEvents::hw_power_brake_us>},
};

}  // namespace

void add_activity_fields(FieldRows& rows) {
  rows.insert(rows.end(), kClocksAndHeat.begin(), kClocksAndHeat.end());
  rows.insert(rows.end(), kPower.begin(), kPower.end());
  rows.insert(rows.end(), kUse.begin(), kUse.end());
  for (const ViolationRow& row : kViolations) {
    const unsigned section = row.id < 1000 ? driver::kViolationsSection : driver::kClockEventsSection;
    rows.push_back({row.id, row.name, "", row.tag, row.column, "ns", kInteger, kCounter, kGpu, section,
                    row.read, row.help, 16});
  }
}

}  // namespace pagoda::telemetry
