// What is read of one GPU, by topic. Numbers of modes and states are NVML's own (nvml.h); the words for them
// belong to whoever prints. Sizes are bytes, power is milliwatts, clocks are MHz, temperatures are °C.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "driver/field.h"

namespace pagoda::driver {

using Text = Field<std::string>;
using Number = Field<unsigned>;
using Count = Field<std::uint64_t>;
using Signed = Field<int>;
using Flag = Field<bool>;

// A setting now, and after the next reset.
struct Mode {
  Number current, pending;
};

struct Identity {
  Text name, uuid, serial, vbios_version, board_part_number, gpu_part_number, fru_part_number;
  Number brand;         // nvmlBrandType_t
  Number architecture;  // nvmlDeviceArchitecture_t
  Number minor;         // of /dev/nvidiaN
  Number board_id;
  Flag multi_gpu_board;
  Count pdi;  // per-device identifier
  Number compute_major, compute_minor;
  Text hostname;
};

struct InforomReadings {
  Text image, oem, ecc, power;
  Flag valid;  // its checksum
  Count flush_timestamp_us, flush_duration_us;
  Count time_run_s;  // since the board was first started
};

struct PlatformReadings {
  Text chassis_serial;
  Number slot, tray, host, peer_type, module;
  Text fabric_guid;  // 16 hex digits
};

struct PciReadings {
  Text bus_id;  // "00000000:3B:00.0"
  Number domain, bus, device, base_class, sub_class;
  Number device_id, subsystem_id;  // device << 16 | vendor
  Number generation_current, generation_max, device_generation_max, host_generation_max;
  Number width_current, width_max;
  Number replays, replay_rollovers;
  Number tx_kb_per_s, rx_kb_per_s;
  Number atomics_outbound, atomics_inbound;  // NVML_PCIE_ATOMICS_CAP_*
  Number bridge_type;                        // nvmlBridgeChipType_t
  Text bridge_firmware;
};

struct ModeReadings {
  Flag display_attached, display_active, persistence, accounting;
  Number accounting_buffer_size;
  Number addressing;  // NVML_DEVICE_ADDRESSING_MODE_*
  Mode mig, ecc, driver_model, gpu_operation, dram_encryption;
  Number compute;  // nvmlComputeMode_t
  Number c2c, virtualization, host_vgpu, vgpu_heterogeneous;
  Text gsp_version;
  Flag gsp_enabled, gsp_default;
  Number recovery_action;  // nvmlDeviceGpuRecoveryAction_t
  Flag sparse_operation, egm;
  Text relaxed_ordering;
  Number api_restricted_clocks;
};

struct ClockEvents {
  Count supported, active;  // nvmlClocksEventReason* bits
  Count sw_power_cap_us, sync_boost_us, sw_thermal_us, hw_thermal_us, hw_power_brake_us;  // time spent
};

// Time that the clocks were held down since the driver was loaded, by what held them (nvmlPerfPolicyType_t).
struct ViolationReadings {
  Count power_ns, thermal_ns, sync_boost_ns, board_limit_ns, low_utilization_ns, reliability_ns,
      app_clocks_ns, base_clocks_ns;
};

struct MemoryUse {
  Count total, reserved, used, free;
};

struct UtilizationReadings {
  Number gpu, memory, encoder, decoder, jpeg, ofa;  // percent
};

// What the driver's own sample buffer holds: raw samples (milliwatts, percent, MHz).
struct SampleSummary {
  double duration_s = 0;
  unsigned count = 0;
  double max = 0, min = 0, mean = 0;
};
struct SampleReadings {
  Field<SampleSummary> power, gpu, memory, encoder, decoder, sm_clock, memory_clock;
};

// Sessions of the video encoder or of frame-buffer capture.
struct SessionStats {
  Number sessions, average_fps, average_latency_us;
};

inline constexpr int kEccLocations = 8;  // nvmlMemoryLocation_t
enum EccLocation {
  kEccL1,
  kEccL2,
  kEccDram,
  kEccRegisterFile,
  kEccTexture,
  kEccTextureShared,
  kEccCbu,
  kEccSram
};
struct EccCounts {
  std::array<Count, kEccLocations> at;
  Count total;
};
// nvmlEccSramErrorStatus_v1_t
struct SramErrors {
  Count volatile_corrected, volatile_parity, volatile_secded;
  Count aggregate_corrected, aggregate_parity, aggregate_secded;
  Count l2, sm, mcu, pcie, other;
  Flag threshold_exceeded;
};
struct EccReadings {
  EccCounts volatile_corrected, volatile_uncorrected, aggregate_corrected, aggregate_uncorrected;
  SramErrors sram;
  Flag channel_repair_pending, tpc_repair_pending, unrepairable_memory;
};

struct RetiredPage {
  std::uint64_t address = 0;
  std::uint64_t timestamp_us = 0;  // 0: this driver does not tell
};
struct RetirementReadings {
  Field<std::vector<RetiredPage>> single_bit, double_bit;
  Flag pending;
};

struct RowRemapReadings {
  Number correctable, uncorrectable, correctable_inactive, uncorrectable_inactive;
  Flag pending, failure;
  Number bank_max, bank_high, bank_partial, bank_low, bank_none;  // banks by spare rows left
};

struct TemperatureReadings {
  Signed gpu, memory, margin;                              // margin: degrees until throttling
  Signed shutdown, slowdown, gpu_max, memory_max, target;  // absolute thresholds
  Signed target_min, target_max;                           // what `target` may be set to
  Signed shutdown_margin, slowdown_margin, gpu_max_margin, memory_max_margin;  // the same as T.Limit
};

struct PowerDomain {
  Number average, instant;
  Number limit_enforced, limit_requested, limit_default, limit_min, limit_max;
};
struct PowerReadings {
  Number
      usage;  // nvmlDeviceGetPowerUsage: an average of one second where the chip has one, else instantaneous
  PowerDomain gpu, module;
  Number memory_average, memory_instant;
  Number base_current, base_requested, base_default, base_min, base_max;
  Number edpp_percent_hundredths;
  Count energy_mj;
  Text profiles_requested, profiles_enforced;
};

// NVML_FI_PWR_SMOOTHING_*, by field id.
struct PowerSmoothing {
  static constexpr unsigned kFirstField = 251, kLastField = 309;
  std::array<Count, kLastField - kFirstField + 1> fields;
  const Count& field(unsigned id) const { return fields[id - kFirstField]; }
};

struct ClockSet {
  Number graphics, sm, memory, video;
};
struct ClockReadings {
  ClockSet current, max;
  Number application_graphics, application_memory, default_graphics, default_memory;
  Number customer_boost_graphics;
  Number deferred_memory;
  Flag auto_boost, auto_boost_default;
};
// Graphics clocks that go with a memory clock, as the driver lists them.
struct SupportedClock {
  unsigned memory = 0;
  std::vector<unsigned> graphics;
};

struct FabricReadings {
  Number state, status;
  Number clique;
  Text cluster_uuid;
  Number health_summary;
  Number health_mask;  // NVML_GPU_FABRIC_HEALTH_MASK_*
};

struct VgpuReadings {
  Flag driver_heterogeneous_multi;
  Flag fractional_multi, heterogeneous_profile, heterogeneous_sizes, homogeneous_placements, mig_time_slicing,
      mig_time_slicing_mode;
};

struct NvLink {
  Flag active;
  Number version, speed_mb_per_s;
  Text remote_bus_id;
  Number remote_type;  // nvmlIntNvLinkDeviceType_t
  Count crc_flit_errors, crc_data_errors, replays, recoveries;
  Count tx_kib, rx_kib;
};
struct NvLinkReadings {
  Number count;
  std::vector<NvLink> links;
};

struct GpuProcess {
  unsigned pid = 0;
  Text name;
  Count memory;
  bool compute = false, graphics = false, mps = false;
  Number gpu_instance, compute_instance;
};
struct ProcessUtilization {
  unsigned pid = 0;
  Number sm, memory, encoder, decoder, jpeg, ofa;  // percent of the last sample; absent: no sample
};
struct AccountedProcess {
  unsigned pid = 0;
  Number gpu_percent, memory_percent;
  Count memory_max, time_ms;
  bool running = false;
};

struct MigDevice {
  unsigned index = 0;
  Text name, uuid;  // name: the profile, "3g.40gb"
  Number gpu_instance, compute_instance;
  Number multiprocessors, copy_engines, encoders, decoders, ofas, jpegs;
  MemoryUse memory, bar1;
  Count sram_uncorrected;
};

struct MigProfile {
  unsigned id = 0;
  std::string name;  // "1g.10gb"
  unsigned free = 0, total = 0;
  double memory_gib = 0;
  bool peer_to_peer = false;
  unsigned multiprocessors = 0, copy_engines = 0, encoders = 0, decoders = 0, ofas = 0, jpegs = 0;
};
struct MigInstance {
  unsigned id = 0, profile_id = 0, placement_start = 0, placement_size = 0;
  std::string profile_name;
  unsigned parent_id = 0;  // of a compute instance: the GPU instance
};
struct MigReadings {
  std::vector<MigDevice> devices;
  Field<std::vector<MigProfile>> profiles;
  Field<std::vector<MigInstance>> gpu_instances, compute_instances;
};

}  // namespace pagoda::driver
