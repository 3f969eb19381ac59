// Profiling fields, read by GPM: Hopper and later, no daemon and no root.
#include <array>

#include "driver/gpu_snapshot_reader.h"
#include "telemetry/field_rows.h"

namespace pagoda::telemetry {
namespace {

using enum FieldType;
using enum FieldKind;
using enum FieldLevel;

constexpr unsigned kLinks = 18;

driver::Reading<double> metric(const FieldRow& row, const EntityReadings& entity) {
  const GpuActivity& activity = entity.activity();
  const ProfileMetrics* profile = &activity.profile;
  if (const driver::MigDevice* mig = entity.mig_device()) {
    if (!mig->gpu_instance) return tl::unexpected<driver::Absence>(mig->gpu_instance.error());
    const auto found = activity.instance_profile.find(*mig->gpu_instance);
    if (found == activity.instance_profile.end()) return tl::unexpected<driver::Absence>(driver::kNotRead);
    profile = &found->second;
  }
  if (!*profile) return tl::unexpected<driver::Absence>(profile->error());
  const auto found = (*profile)->find(row.gpm);
  if (found == (*profile)->end()) return tl::unexpected<driver::Absence>(driver::kNotRead);
  return found->second;
}

// GPM counts in percent, DCGM in shares of 1.
FieldReading ratio(const FieldRow& row, const EntityReadings& entity) {
  return real(metric(row, entity), 0.01);
}
// GPM counts in MiB per second, DCGM in bytes.
FieldReading bytes_per_second(const FieldRow& row, const EntityReadings& entity) {
  return metric(row, entity).map([](double mebibytes) -> FieldValue {
    return static_cast<std::int64_t>(mebibytes * static_cast<double>(kMebibyte));
  });
}

struct Ratio {
  unsigned id;
  std::string_view name, new_name, tag, column;
  unsigned gpm;
  std::string_view help;
};
constexpr std::array kRatios = {
    Ratio{1001, "DCGM_FI_PROF_GR_ENGINE_ACTIVE", "DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO", "gr_engine_active",
          "GRACT", NVML_GPM_METRIC_GRAPHICS_UTIL,
          "Share of time in which the graphics or compute engine was active"},
    Ratio{1002, "DCGM_FI_PROF_SM_ACTIVE", "DCGM_FI_PROF_SM_UTIL_RATIO", "sm_active", "SMACT",
          NVML_GPM_METRIC_SM_UTIL, "Share of time in which an SM had a warp, mean of all SMs"},
    Ratio{1003, "DCGM_FI_PROF_SM_OCCUPANCY", "DCGM_FI_PROF_SM_OCCUPANCY_RATIO", "sm_occupancy", "SMOCC",
          NVML_GPM_METRIC_SM_OCCUPANCY, "Warps on the SMs as a share of the most that fit"},
    Ratio{1004, "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "DCGM_FI_PROF_TENSOR_UTIL_RATIO", "tensor_active", "TENSO",
          NVML_GPM_METRIC_ANY_TENSOR_UTIL, "Share of time in which tensor cores were active"},
    Ratio{1005, "DCGM_FI_PROF_DRAM_ACTIVE", "DCGM_FI_PROF_DRAM_UTIL_RATIO", "dram_active", "DRAMA",
          NVML_GPM_METRIC_DRAM_BW_UTIL, "Share of time in which the memory interface moved data"},
    Ratio{1006, "DCGM_FI_PROF_PIPE_FP64_ACTIVE", "DCGM_FI_PROF_FP64_UTIL_RATIO", "fp64_active", "FP64A",
          NVML_GPM_METRIC_FP64_UTIL, "Share of time in which the FP64 pipe was active"},
    Ratio{1007, "DCGM_FI_PROF_PIPE_FP32_ACTIVE", "DCGM_FI_PROF_FP32_UTIL_RATIO", "fp32_active", "FP32A",
          NVML_GPM_METRIC_FP32_UTIL, "Share of time in which the FP32 pipe was active"},
    Ratio{1008, "DCGM_FI_PROF_PIPE_FP16_ACTIVE", "DCGM_FI_PROF_FP16_UTIL_RATIO", "fp16_active", "FP16A",
          NVML_GPM_METRIC_FP16_UTIL, "Share of time in which the FP16 pipe was active, tensor cores aside"},
    Ratio{1013, "DCGM_FI_PROF_PIPE_TENSOR_IMMA_ACTIVE", "DCGM_FI_PROF_IMMA_UTIL_RATIO", "tensor_imma_active",
          "TIMMA", NVML_GPM_METRIC_IMMA_TENSOR_UTIL, "Share of time of integer work on tensor cores"},
    Ratio{1014, "DCGM_FI_PROF_PIPE_TENSOR_HMMA_ACTIVE", "DCGM_FI_PROF_HMMA_UTIL_RATIO", "tensor_hmma_active",
          "THMMA", NVML_GPM_METRIC_HMMA_TENSOR_UTIL, "Share of time of half-precision work on tensor cores"},
    Ratio{1015, "DCGM_FI_PROF_PIPE_TENSOR_DFMA_ACTIVE", "DCGM_FI_PROF_DFMA_UTIL_RATIO", "tensor_dfma_active",
          "TDFMA", NVML_GPM_METRIC_DFMA_TENSOR_UTIL, "Share of time of FP64 work on tensor cores"},
    Ratio{1016, "DCGM_FI_PROF_PIPE_INT_ACTIVE", "DCGM_FI_PROF_INT_UTIL_RATIO", "integer_active", "INTAC",
          NVML_GPM_METRIC_INTEGER_UTIL, "Share of time in which the integer pipe was active"},
    Ratio{1080, "DCGM_FI_PROF_HOSTMEM_CACHE_HIT", "", "hostmem_cache_hit", "HMCHI",
          NVML_GPM_METRIC_HOSTMEM_CACHE_HIT, "Share of cache hits of host memory"},
    Ratio{1081, "DCGM_FI_PROF_HOSTMEM_CACHE_MISS", "", "hostmem_cache_miss", "HMCMI",
          NVML_GPM_METRIC_HOSTMEM_CACHE_MISS, "Share of cache misses of host memory"},
    Ratio{1082, "DCGM_FI_PROF_PEERMEM_CACHE_HIT", "", "peermem_cache_hit", "PMCHI",
          NVML_GPM_METRIC_PEERMEM_CACHE_HIT, "Share of cache hits of peers' memory"},
    Ratio{1083, "DCGM_FI_PROF_PEERMEM_CACHE_MISS", "", "peermem_cache_miss", "PMCMI",
          NVML_GPM_METRIC_PEERMEM_CACHE_MISS, "Share of cache misses of peers' memory"},
};

struct Traffic {
  unsigned id;
  std::string_view name, tag, column;
  unsigned gpm;
  std::string_view help;
};
constexpr std::array kTraffic = {
    Traffic{1009, "DCGM_FI_PROF_PCIE_TX_BYTES", "pcie_tx_bytes", "PCITX", NVML_GPM_METRIC_PCIE_TX_PER_SEC,
            "Sent over PCIe, headers too (in B/s)"},
    Traffic{1010, "DCGM_FI_PROF_PCIE_RX_BYTES", "pcie_rx_bytes", "PCIRX", NVML_GPM_METRIC_PCIE_RX_PER_SEC,
            "Received over PCIe, headers too (in B/s)"},
    Traffic{1011, "DCGM_FI_PROF_NVLINK_TX_BYTES", "nvlink_tx_bytes", "NVLTX",
            NVML_GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC, "Sent over NVLink, headers too (in B/s)"},
    Traffic{1012, "DCGM_FI_PROF_NVLINK_RX_BYTES", "nvlink_rx_bytes", "NVLRX",
            NVML_GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC, "Received over NVLink, headers too (in B/s)"},
    Traffic{1076, "DCGM_FI_PROF_C2C_TX_ALL_BYTES", "c2c_tx_all_bytes", "C2CTXA",
            NVML_GPM_METRIC_C2C_TOTAL_TX_PER_SEC, "Sent to the CPU over C2C, headers too (in B/s)"},
    Traffic{1077, "DCGM_FI_PROF_C2C_TX_DATA_BYTES", "c2c_tx_data_bytes", "C2CTXD",
            NVML_GPM_METRIC_C2C_DATA_TX_PER_SEC, "Sent to the CPU over C2C (in B/s)"},
    Traffic{1078, "DCGM_FI_PROF_C2C_RX_ALL_BYTES", "c2c_rx_all_bytes", "C2CRXA",
            NVML_GPM_METRIC_C2C_TOTAL_RX_PER_SEC, "Received from the CPU over C2C, headers too (in B/s)"},
    Traffic{1079, "DCGM_FI_PROF_C2C_RX_DATA_BYTES", "c2c_rx_data_bytes", "C2CRXD",
            NVML_GPM_METRIC_C2C_DATA_RX_PER_SEC, "Received from the CPU over C2C (in B/s)"},
};

// One row for each engine of a kind: DCGM_FI_PROF_NVDEC0_ACTIVE … 7.
struct Engines {
  std::string_view name, tag;
  unsigned count, first_id, first_gpm;
  std::string_view help;
};
constexpr std::array kEngines = {
    Engines{"NVDEC", "nvdec", 8, 1017, NVML_GPM_METRIC_NVDEC_0_UTIL, "Share of time of a video decoder"},
    Engines{"NVJPG", "nvjpg", 8, 1025, NVML_GPM_METRIC_NVJPG_0_UTIL, "Share of time of a JPEG engine"},
    Engines{"NVOFA", "nvofa", 2, 1033, NVML_GPM_METRIC_NVOFA_0_UTIL,
            "Share of time of an optical-flow engine"},
};

FieldRow ratio_row(unsigned id, std::string_view name, std::string_view new_name, std::string_view tag,
                   std::string_view column, unsigned gpm, std::string_view help) {
  return {id, name, new_name, tag, column, "", kReal, kGauge, kGpuInstance, 0, ratio, help, 5, gpm};
}
FieldRow traffic_row(unsigned id, std::string_view name, std::string_view tag, std::string_view column,
                     unsigned gpm, std::string_view help) {
  return {id,   name, "", tag, column, "B/s", kInteger, kGauge, kGpuInstance, 0, bytes_per_second,
          help, 10,   gpm};
}

}  // namespace

void add_profiling_fields(FieldRows& rows) {
  for (const Ratio& r : kRatios)
    rows.push_back(ratio_row(r.id, r.name, r.new_name, r.tag, r.column, r.gpm, r.help));
  for (const Traffic& t : kTraffic) rows.push_back(traffic_row(t.id, t.name, t.tag, t.column, t.gpm, t.help));
  for (const Engines& engines : kEngines) {
    for (unsigned i = 0; i < engines.count; ++i) {
      const std::string number = std::to_string(i), name(engines.name);
      rows.push_back(ratio_row(engines.first_id + i, kept("DCGM_FI_PROF_" + name + number + "_ACTIVE"),
                               kept("DCGM_FI_PROF_" + name + "_UTIL_" + number + "_RATIO"),
                               kept(std::string(engines.tag) + number + "_active"), kept(name + number),
                               engines.first_gpm + i, engines.help));
    }
  }
  for (unsigned link = 0; link < kLinks; ++link) {
    const std::string number = std::to_string(link);
    rows.push_back(traffic_row(1040 + 2 * link, kept("DCGM_FI_PROF_NVLINK_L" + number + "_TX_BYTES"),
                               kept("nvlink_l" + number + "_tx_bytes"), kept("NVL" + number + "T"),
                               NVML_GPM_METRIC_NVLINK_L0_TX_PER_SEC + 2 * link,
                               "Sent over one NVLink, headers too (in B/s)"));
    rows.push_back(traffic_row(1041 + 2 * link, kept("DCGM_FI_PROF_NVLINK_L" + number + "_RX_BYTES"),
                               kept("nvlink_l" + number + "_rx_bytes"), kept("NVL" + number + "R"),
                               NVML_GPM_METRIC_NVLINK_L0_RX_PER_SEC + 2 * link,
                               "Received over one NVLink, headers too (in B/s)"));
  }
}

}  // namespace pagoda::telemetry
