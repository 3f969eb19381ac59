// What can be broken: memory errors, spare rows, the fabric, NVLinks.
#include <array>

#include "base/format.h"
#include "driver/gpu_section_readers.h"

namespace pagoda::driver {
namespace {

EccCounts ecc_counts(const Gpu& gpu, nvmlMemoryErrorType_t type, nvmlEccCounterType_t counter) {
  EccCounts counts;
  for (int location = 0; location < kEccLocations; ++location) {
    counts.at[static_cast<size_t>(location)] = as_count(gpu.read(
        nvml::kDeviceGetMemoryErrorCounter, type, counter, static_cast<nvmlMemoryLocation_t>(location)));
  }
  counts.total = as_count(gpu.read(nvml::kDeviceGetTotalEccErrors, type, counter));
  return counts;
}

SramErrors sram_errors(const Gpu& gpu) {
  using Status = nvmlEccSramErrorStatus_t;
  const auto request = versioned<Status>(nvmlEccSramErrorStatus_v1);
  const auto status = gpu.fill(nvml::kDeviceGetSramEccErrorStatus, request);
  const auto count = [&](auto member) -> Count { return count_of(status, member); };
  SramErrors errors;
  errors.volatile_corrected = count(&Status::volatileCor);
  errors.volatile_parity = count(&Status::volatileUncParity);
  errors.volatile_secded = count(&Status::volatileUncSecDed);
  errors.aggregate_corrected = count(&Status::aggregateCor);
  errors.aggregate_parity = count(&Status::aggregateUncParity);
  errors.aggregate_secded = count(&Status::aggregateUncSecDed);
  errors.l2 = count(&Status::aggregateUncBucketL2);
  errors.sm = count(&Status::aggregateUncBucketSm);
  errors.mcu = count(&Status::aggregateUncBucketMcu);
  errors.pcie = count(&Status::aggregateUncBucketPcie);
  errors.other = count(&Status::aggregateUncBucketOther);
  errors.threshold_exceeded = flag_of(status, &Status::bThresholdExceeded);
  return errors;
}

Reading<std::vector<RetiredPage>> retired_pages(const Gpu& gpu, nvmlPageRetirementCause_t cause) {
  using Pages = std::pair<std::vector<unsigned long long>, std::vector<unsigned long long>>;
  const auto pages = gpu.run<Pages>(
      nvml::kDeviceGetRetiredPages_v2, [cause](auto* function, nvmlDevice_t device, Pages& both) {
        unsigned count = 0;
        nvmlReturn_t code = function(device, cause, &count, nullptr, nullptr);
        if (code != NVML_SUCCESS && code != NVML_ERROR_INSUFFICIENT_SIZE) return code;
        both.first.resize(count);
        both.second.resize(count);
        if (count == 0) return NVML_SUCCESS;
        code = function(device, cause, &count, both.first.data(), both.second.data());
        both.first.resize(code == NVML_SUCCESS ? std::min<size_t>(count, both.first.size()) : 0);
        return code;
      });
  return pages.map([](const Pages& both) {
    std::vector<RetiredPage> list;
    for (size_t i = 0; i < both.first.size(); ++i) list.push_back({both.first[i], both.second[i]});
    return list;
  });
}

std::string uuid_of(const unsigned char* bytes) {
  std::string out;
  for (int i = 0; i < NVML_GPU_FABRIC_UUID_LEN; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    out += format("{:02x}", bytes[i]);
  }
  return out;
}

constexpr std::array kRemapFields = {
    FieldTarget{{NVML_FI_DEV_REMAPPED_ROWS_COR_INACTIVE},
                [](GpuSnapshot& s, const auto& v) { s.remapped.correctable_inactive = field_number(v); }},
    FieldTarget{{NVML_FI_DEV_REMAPPED_ROWS_UNC_INACTIVE},
                [](GpuSnapshot& s, const auto& v) { s.remapped.uncorrectable_inactive = field_number(v); }},
};

NvLink read_link(const Gpu& gpu, unsigned link) {
  NvLink out;
  out.active = as_flag(gpu.read(nvml::kDeviceGetNvLinkState, link));
  out.version = gpu.read(nvml::kDeviceGetNvLinkVersion, link);
  out.remote_bus_id =
      gpu.read(nvml::kDeviceGetNvLinkRemotePciInfo_v2, link).map([](const nvmlPciInfo_t& pci) {
        return std::string(pci.busId, strnlen(pci.busId, sizeof(pci.busId)));
      });
  out.remote_type = as_number(gpu.read(nvml::kDeviceGetNvLinkRemoteDeviceType, link));
  const auto errors = [&](nvmlNvLinkErrorCounter_t counter) {
    return as_count(gpu.read(nvml::kDeviceGetNvLinkErrorCounter, link, counter));
  };
  out.crc_flit_errors = errors(NVML_NVLINK_ERROR_DL_CRC_FLIT);
  out.crc_data_errors = errors(NVML_NVLINK_ERROR_DL_CRC_DATA);
  out.replays = errors(NVML_NVLINK_ERROR_DL_REPLAY);
  out.recoveries = errors(NVML_NVLINK_ERROR_DL_RECOVERY);
  return out;
}

}  // namespace

void read_ecc(const Gpu& gpu, GpuSnapshot& out) {
  EccReadings& ecc = out.ecc;
  ecc.volatile_corrected = ecc_counts(gpu, NVML_MEMORY_ERROR_TYPE_CORRECTED, NVML_VOLATILE_ECC);
  ecc.volatile_uncorrected = ecc_counts(gpu, NVML_MEMORY_ERROR_TYPE_UNCORRECTED, NVML_VOLATILE_ECC);
  ecc.aggregate_corrected = ecc_counts(gpu, NVML_MEMORY_ERROR_TYPE_CORRECTED, NVML_AGGREGATE_ECC);
  ecc.aggregate_uncorrected = ecc_counts(gpu, NVML_MEMORY_ERROR_TYPE_UNCORRECTED, NVML_AGGREGATE_ECC);
  ecc.sram = sram_errors(gpu);
  const auto repair = gpu.fill(nvml::kDeviceGetRepairStatus, nvmlRepairStatus_t{nvmlRepairStatus_v1, 0, 0});
  ecc.channel_repair_pending = flag_of(repair, &nvmlRepairStatus_t::bChannelRepairPending);
  ecc.tpc_repair_pending = flag_of(repair, &nvmlRepairStatus_t::bTpcRepairPending);
  ecc.unrepairable_memory =
      flag_of(gpu.fill(nvml::kDeviceGetUnrepairableMemoryFlag_v1, nvmlUnrepairableMemoryStatus_v1_t{}),
              &nvmlUnrepairableMemoryStatus_v1_t::bUnrepairableMemory);
}

void read_retired(const Gpu& gpu, GpuSnapshot& out) {
  out.retired.single_bit = retired_pages(gpu, NVML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS);
  out.retired.double_bit = retired_pages(gpu, NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR);
  out.retired.pending = as_flag(gpu.read(nvml::kDeviceGetRetiredPagesPendingStatus));
}

void read_remapped(const Gpu& gpu, GpuSnapshot& out) {
  using Rows = std::tuple<unsigned, unsigned, unsigned, unsigned>;
  RowRemapReadings& remapped = out.remapped;
  const Reading<Rows> rows = gpu.read(nvml::kDeviceGetRemappedRows);
  remapped.correctable = rows.map([](const Rows& r) { return std::get<0>(r); });
  remapped.uncorrectable = rows.map([](const Rows& r) { return std::get<1>(r); });
  remapped.pending = rows.map([](const Rows& r) { return std::get<2>(r) != 0; });
  remapped.failure = rows.map([](const Rows& r) { return std::get<3>(r) != 0; });
  using Banks = nvmlRowRemapperHistogramValues_t;
  const auto banks = gpu.read(nvml::kDeviceGetRowRemapperHistogram);
  remapped.bank_max = number_of(banks, &Banks::max);
  remapped.bank_high = number_of(banks, &Banks::high);
  remapped.bank_partial = number_of(banks, &Banks::partial);
  remapped.bank_low = number_of(banks, &Banks::low);
  remapped.bank_none = number_of(banks, &Banks::none);
  read_fields(gpu, kRemapFields, out);
}

void read_fabric(const Gpu& gpu, GpuSnapshot& out) {
  using Info = nvmlGpuFabricInfo_v3_t;
  const auto request = versioned<Info>(nvmlGpuFabricInfo_v3);
  const auto info = gpu.fill(nvml::kDeviceGetGpuFabricInfoV, request);
  out.fabric.state = number_of(info, &Info::state);
  out.fabric.status = number_of(info, &Info::status);
  out.fabric.clique = number_of(info, &Info::cliqueId);
  out.fabric.health_mask = number_of(info, &Info::healthMask);
  out.fabric.health_summary = number_of(info, &Info::healthSummary);
  out.fabric.cluster_uuid = info.map([](const Info& i) { return uuid_of(i.clusterUuid); });
}

void read_nvlink(const Gpu& gpu, GpuSnapshot& out) {
  out.nvlink.count = field_number(gpu.field({NVML_FI_DEV_NVLINK_LINK_COUNT}));
  if (!out.nvlink.count) return;
  std::vector<NvmlField> wanted;
  for (unsigned link = 0; link < *out.nvlink.count; ++link) {
    out.nvlink.links.push_back(read_link(gpu, link));
    wanted.push_back({NVML_FI_DEV_NVLINK_GET_SPEED, link});
    wanted.push_back({NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, link});
    wanted.push_back({NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX, link});
  }
  const auto values = gpu.fields(wanted);
  for (size_t link = 0; link < out.nvlink.links.size(); ++link) {
    out.nvlink.links[link].speed_mb_per_s = field_number(values[3 * link]);
    out.nvlink.links[link].tx_kib = field_count(values[3 * link + 1]);
    out.nvlink.links[link].rx_kib = field_count(values[3 * link + 2]);
  }
}

}  // namespace pagoda::driver
