// The rows of field_table.h.
#include "simulate/abi/field_table.h"

#include <array>

namespace pagoda::simulate {
namespace {

constexpr auto kUint = NVML_VALUE_TYPE_UNSIGNED_INT;
constexpr auto kUlong = NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
constexpr auto kInt = NVML_VALUE_TYPE_SIGNED_INT;
using enum FieldScope;

constexpr std::array kRows = {
    FieldRow{NVML_FI_DEV_ECC_CURRENT, kUint, "ecc.mode.current"},
    FieldRow{NVML_FI_DEV_ECC_PENDING, kUint, "ecc.mode.pending"},
    FieldRow{NVML_FI_DEV_ECC_SBE_VOL_TOTAL, kUlong, "ecc.corrected.volatile.total"},
    FieldRow{NVML_FI_DEV_ECC_SBE_VOL_L1, kUlong, "ecc.corrected.volatile.l1_cache"},
    FieldRow{NVML_FI_DEV_ECC_SBE_VOL_L2, kUlong, "ecc.corrected.volatile.l2_cache"},
    FieldRow{NVML_FI_DEV_ECC_SBE_VOL_DEV, kUlong, "ecc.corrected.volatile.dram"},
    FieldRow{NVML_FI_DEV_ECC_SBE_VOL_REG, kUlong, "ecc.corrected.volatile.register_file"},
    FieldRow{NVML_FI_DEV_ECC_SBE_VOL_TEX, kUlong, "ecc.corrected.volatile.texture_memory"},
    FieldRow{NVML_FI_DEV_ECC_SBE_AGG_TOTAL, kUlong, "ecc.corrected.aggregate.total"},
    FieldRow{NVML_FI_DEV_ECC_SBE_AGG_L1, kUlong, "ecc.corrected.aggregate.l1_cache"},
    FieldRow{NVML_FI_DEV_ECC_SBE_AGG_L2, kUlong, "ecc.corrected.aggregate.l2_cache"},
    FieldRow{NVML_FI_DEV_ECC_SBE_AGG_DEV, kUlong, "ecc.corrected.aggregate.dram"},
    FieldRow{NVML_FI_DEV_ECC_SBE_AGG_REG, kUlong, "ecc.corrected.aggregate.register_file"},
    FieldRow{NVML_FI_DEV_ECC_SBE_AGG_TEX, kUlong, "ecc.corrected.aggregate.texture_memory"},
    FieldRow{NVML_FI_DEV_ECC_DBE_VOL_TOTAL, kUlong, "ecc.uncorrected.volatile.total"},
    FieldRow{NVML_FI_DEV_ECC_DBE_VOL_L1, kUlong, "ecc.uncorrected.volatile.l1_cache"},
    FieldRow{NVML_FI_DEV_ECC_DBE_VOL_L2, kUlong, "ecc.uncorrected.volatile.l2_cache"},
    FieldRow{NVML_FI_DEV_ECC_DBE_VOL_DEV, kUlong, "ecc.uncorrected.volatile.dram"},
    FieldRow{NVML_FI_DEV_ECC_DBE_VOL_REG, kUlong, "ecc.uncorrected.volatile.register_file"},
    FieldRow{NVML_FI_DEV_ECC_DBE_VOL_TEX, kUlong, "ecc.uncorrected.volatile.texture_memory"},
    FieldRow{NVML_FI_DEV_ECC_DBE_VOL_CBU, kUlong, "ecc.uncorrected.volatile.cbu"},
    FieldRow{NVML_FI_DEV_ECC_DBE_AGG_TOTAL, kUlong, "ecc.uncorrected.aggregate.total"},
    FieldRow{NVML_FI_DEV_ECC_DBE_AGG_L1, kUlong, "ecc.uncorrected.aggregate.l1_cache"},
    FieldRow{NVML_FI_DEV_ECC_DBE_AGG_L2, kUlong, "ecc.uncorrected.aggregate.l2_cache"},
    FieldRow{NVML_FI_DEV_ECC_DBE_AGG_DEV, kUlong, "ecc.uncorrected.aggregate.dram"},
    FieldRow{NVML_FI_DEV_ECC_DBE_AGG_REG, kUlong, "ecc.uncorrected.aggregate.register_file"},
    FieldRow{NVML_FI_DEV_ECC_DBE_AGG_TEX, kUlong, "ecc.uncorrected.aggregate.texture_memory"},
    FieldRow{NVML_FI_DEV_ECC_DBE_AGG_CBU, kUlong, "ecc.uncorrected.aggregate.cbu"},
    FieldRow{NVML_FI_DEV_RETIRED_PENDING, kUint, "retired_pages_pending"},
    FieldRow{NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL, kUlong, "error.crc_flit", kLinkSum},
    FieldRow{NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL, kUlong, "error.crc_data", kLinkSum},
    FieldRow{NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL, kUlong, "error.replay", kLinkSum},
    FieldRow{NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL, kUlong, "error.recovery", kLinkSum},
    FieldRow{NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_TOTAL, kUlong, "error.ecc_data", kLinkSum},
    FieldRow{NVML_FI_DEV_PERF_POLICY_POWER, kUlong, "violation.power_ns"},
    FieldRow{NVML_FI_DEV_PERF_POLICY_THERMAL, kUlong, "violation.thermal_ns"},
    FieldRow{NVML_FI_DEV_PERF_POLICY_SYNC_BOOST, kUlong, "violation.sync_boost_ns"},
    FieldRow{NVML_FI_DEV_PERF_POLICY_BOARD_LIMIT, kUlong, "violation.board_limit_ns"},
    FieldRow{NVML_FI_DEV_PERF_POLICY_LOW_UTILIZATION, kUlong, "violation.low_utilization_ns"},
    FieldRow{NVML_FI_DEV_PERF_POLICY_RELIABILITY, kUlong, "violation.reliability_ns"},
    FieldRow{NVML_FI_DEV_PERF_POLICY_TOTAL_APP_CLOCKS, kUlong, "violation.app_clocks_ns"},
    FieldRow{NVML_FI_DEV_PERF_POLICY_TOTAL_BASE_CLOCKS, kUlong, "violation.base_clocks_ns"},
    FieldRow{NVML_FI_DEV_MEMORY_TEMP, kUint, "temperature.memory"},
    FieldRow{NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION, kUlong, "power.energy_mj"},
    FieldRow{NVML_FI_DEV_ENERGY, kUlong, "power.energy_mj"},
    FieldRow{NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON, kUint, "nvlink.speed_mbps"},
    FieldRow{NVML_FI_DEV_NVLINK_LINK_COUNT, kUint, "nvlink.count"},
    FieldRow{NVML_FI_DEV_PCIE_REPLAY_COUNTER, kUint, "pcie.replays"},
    FieldRow{NVML_FI_DEV_PCIE_REPLAY_ROLLOVER_COUNTER, kUint, "pcie.replay_rollovers"},
    FieldRow{NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, kUlong, "throughput.data_tx_kib", kLink},
    FieldRow{NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX, kUlong, "throughput.data_rx_kib", kLink},
    FieldRow{NVML_FI_DEV_NVLINK_THROUGHPUT_RAW_TX, kUlong, "throughput.raw_tx_kib", kLink},
    FieldRow{NVML_FI_DEV_NVLINK_THROUGHPUT_RAW_RX, kUlong, "throughput.raw_rx_kib", kLink},
    FieldRow{NVML_FI_DEV_REMAPPED_COR, kUint, "remapped_rows.correctable"},
    FieldRow{NVML_FI_DEV_REMAPPED_UNC, kUint, "remapped_rows.uncorrectable"},
    FieldRow{NVML_FI_DEV_REMAPPED_PENDING, kUint, "remapped_rows.pending"},
    FieldRow{NVML_FI_DEV_REMAPPED_FAILURE, kUint, "remapped_rows.failure"},
    FieldRow{NVML_FI_DEV_NVLINK_REMOTE_NVLINK_ID, kUint, "remote_link", kLink},
    FieldRow{NVML_FI_DEV_NVSWITCH_CONNECTED_LINK_COUNT, kUint, "nvlink.switches"},
    FieldRow{NVML_FI_DEV_NVLINK_ERROR_DL_REPLAY, kUlong, "error.replay", kLink},
    FieldRow{NVML_FI_DEV_NVLINK_ERROR_DL_RECOVERY, kUlong, "error.recovery", kLink},
    FieldRow{NVML_FI_DEV_NVLINK_ERROR_DL_CRC, kUlong, "error.crc_flit", kLink},
    FieldRow{NVML_FI_DEV_NVLINK_GET_SPEED, kUint, "speed_mbps", kLink},
    FieldRow{NVML_FI_DEV_NVLINK_GET_STATE, kUint, "state", kLink},
    FieldRow{NVML_FI_DEV_NVLINK_GET_VERSION, kUint, "version", kLink},
    FieldRow{NVML_FI_DEV_C2C_LINK_COUNT, kUint, "c2c.links"},
    FieldRow{NVML_FI_DEV_C2C_LINK_GET_STATUS, kUint, "c2c.link_status"},
    FieldRow{NVML_FI_DEV_C2C_LINK_GET_MAX_BW, kUint, "c2c.link_max_mbps"},
    FieldRow{NVML_FI_DEV_POWER_AVERAGE, kUint, "power.average_mw", kPower},
    FieldRow{NVML_FI_DEV_POWER_INSTANT, kUint, "power.instant_mw", kPower},
    FieldRow{NVML_FI_DEV_POWER_MIN_LIMIT, kUint, "power.field_min_limit_mw", kPower},
    FieldRow{NVML_FI_DEV_POWER_MAX_LIMIT, kUint, "power.field_max_limit_mw", kPower},
    FieldRow{NVML_FI_DEV_POWER_DEFAULT_LIMIT, kUint, "power.field_default_limit_mw", kPower},
    FieldRow{NVML_FI_DEV_POWER_CURRENT_LIMIT, kUint, "power.current_limit_mw", kPower},
    FieldRow{NVML_FI_DEV_POWER_REQUESTED_LIMIT, kUint, "power.requested_limit_mw", kPower},
    FieldRow{NVML_FI_DEV_TEMPERATURE_SHUTDOWN_TLIMIT, kInt, "temperature.tlimit.shutdown"},
    FieldRow{NVML_FI_DEV_TEMPERATURE_SLOWDOWN_TLIMIT, kInt, "temperature.tlimit.slowdown"},
    FieldRow{NVML_FI_DEV_TEMPERATURE_MEM_MAX_TLIMIT, kInt, "temperature.tlimit.mem_max"},
    FieldRow{NVML_FI_DEV_TEMPERATURE_GPU_MAX_TLIMIT, kInt, "temperature.tlimit.gpu_max"},
    FieldRow{NVML_FI_DEV_PCIE_OUTBOUND_ATOMICS_MASK, kUint, "pcie.atomics.outbound"},
    FieldRow{NVML_FI_DEV_PCIE_INBOUND_ATOMICS_MASK, kUint, "pcie.atomics.inbound"},
    FieldRow{NVML_FI_DEV_GET_GPU_RECOVERY_ACTION, kUint, "recovery_action"},
    FieldRow{NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN, kUlong, "slowdown_time.sw_thermal_ns"},
    FieldRow{NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN, kUlong, "slowdown_time.hw_thermal_ns"},
    FieldRow{NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN, kUlong, "slowdown_time.power_brake_ns"},
    FieldRow{NVML_FI_DEV_EDPP_MULTIPLIER, kUint, "power.edpp_multiplier_percent"},
    FieldRow{NVML_FI_DEV_REMAPPED_ROWS_COR_INACTIVE, kUint, "remapped_rows.correctable_inactive"},
    FieldRow{NVML_FI_DEV_REMAPPED_ROWS_UNC_INACTIVE, kUint, "remapped_rows.uncorrectable_inactive"},
    FieldRow{NVML_FI_DEV_ACTIVE_BANK_REMAPPINGS, kUint, "remapped_banks.active"},
    FieldRow{NVML_FI_DEV_INACTIVE_BANK_REMAPPINGS, kUint, "remapped_banks.inactive"},
    FieldRow{NVML_FI_DEV_BANK_REMAPPER_HISTOGRAM_MAX, kUint, "remapped_banks.max"},
    FieldRow{NVML_FI_DEV_BANK_REMAPPER_HISTOGRAM_NONE, kUint, "remapped_banks.none"},
    FieldRow{NVML_FI_DEV_PENDING_BANK_REMAPPING, kUint, "remapped_banks.pending"},
    FieldRow{NVML_FI_DEV_GPU_TEMP, kUint, "temperature.gpu"},
};

constexpr std::array kRanges = {
    LinkFieldRange{NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L0, 0, 6, "error.crc_flit"},
    LinkFieldRange{NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L6, 6, 6, "error.crc_flit"},
    LinkFieldRange{NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_L0, 0, 6, "error.crc_data"},
    LinkFieldRange{NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_L6, 6, 6, "error.crc_data"},
    LinkFieldRange{NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_L0, 0, 6, "error.replay"},
    LinkFieldRange{NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_L6, 6, 6, "error.replay"},
    LinkFieldRange{NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_L0, 0, 6, "error.recovery"},
    LinkFieldRange{NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_L6, 6, 6, "error.recovery"},
    LinkFieldRange{NVML_FI_DEV_NVLINK_SPEED_MBPS_L0, 0, 6, "speed_mbps"},
    LinkFieldRange{NVML_FI_DEV_NVLINK_SPEED_MBPS_L6, 6, 6, "speed_mbps"},
    LinkFieldRange{NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_L0, 0, 12, "error.ecc_data"},
};

}  // namespace

std::span<const FieldRow> field_rows() {
  return kRows;
}
std::span<const LinkFieldRange> link_field_ranges() {
  return kRanges;
}

}  // namespace pagoda::simulate
