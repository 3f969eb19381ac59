// Fields of memory: how full it is, its errors, the pages and rows that were taken out of use.
#include <array>
#include <cctype>

#include "driver/gpu_snapshot_reader.h"
#include "telemetry/field_rows.h"

namespace pagoda::telemetry {
namespace {

using driver::EccCounts;
using driver::EccReadings;
using driver::GpuSnapshot;
using driver::MemoryUse;
using driver::RowRemapReadings;
using enum FieldType;
using enum FieldKind;
using enum FieldLevel;

const MemoryUse& memory_of(const EntityReadings& entity) {
  return entity.mig ? entity.mig_device()->memory : entity.snapshot().memory;
}
template <auto Member>
FieldReading framebuffer(const FieldRow&, const EntityReadings& entity) {
  return mebibytes(memory_of(entity).*Member);
}
// Of what can be had: total without what the driver reserves.
FieldReading used_ratio(const FieldRow&, const EntityReadings& entity) {
  const MemoryUse& memory = memory_of(entity);
  if (!memory.total) return integer(memory.total);
  const auto available = static_cast<double>(*memory.total - memory.reserved.value_or(0));
  return real(memory.used, available > 0 ? 1 / available : 0);
}
template <auto Member>
FieldReading bar1(const FieldRow&, const EntityReadings& entity) {
  return mebibytes((entity.mig ? entity.mig_device()->bar1 : entity.snapshot().bar1).*Member);
}

template <auto Member>
FieldReading page_count(const FieldRow&, const EntityReadings& entity) {
  return (entity.snapshot().retired.*Member)
      .map([](const std::vector<driver::RetiredPage>& pages) -> FieldValue {
        return static_cast<std::int64_t>(pages.size());
      });
}

const std::array kRows = {
    FieldRow{90, "DCGM_FI_DEV_BAR1_TOTAL", "", "bar1_total", "B1TTL", "MB", kInteger, kGauge,
             kComputeInstance, driver::kMemorySection, bar1<&MemoryUse::total>, "Size of BAR1 (in MiB)"},
    FieldRow{92, "DCGM_FI_DEV_BAR1_USED", "", "bar1_used", "B1USE", "MB", kInteger, kGauge, kComputeInstance,
             driver::kMemorySection, bar1<&MemoryUse::used>, "Use of BAR1 (in MiB)"},
    FieldRow{93, "DCGM_FI_DEV_BAR1_FREE", "", "bar1_free", "B1FRE", "MB", kInteger, kGauge, kComputeInstance,
             driver::kMemorySection, bar1<&MemoryUse::free>, "What is free of BAR1 (in MiB)"},
    FieldRow{250, "DCGM_FI_DEV_FB_TOTAL", "", "fb_total", "FBTTL", "MB", kInteger, kGauge, kComputeInstance,
             driver::kMemorySection, framebuffer<&MemoryUse::total>, "Memory of the GPU (in MiB)", 10},
    FieldRow{251, "DCGM_FI_DEV_FB_FREE", "", "fb_free", "FBFRE", "MB", kInteger, kGauge, kComputeInstance,
             driver::kMemorySection, framebuffer<&MemoryUse::free>, "Free memory (in MiB)", 10},
    FieldRow{252, "DCGM_FI_DEV_FB_USED", "", "fb_used", "FBUSD", "MB", kInteger, kGauge, kComputeInstance,
             driver::kMemorySection, framebuffer<&MemoryUse::used>, "Used memory (in MiB)", 10},
    FieldRow{253, "DCGM_FI_DEV_FB_RESERVED", "", "fb_resv", "FBRSV", "MB", kInteger, kGauge, kComputeInstance,
             driver::kMemorySection, framebuffer<&MemoryUse::reserved>,
             "Memory that the driver keeps for itself (in MiB)", 10},
    FieldRow{254, "DCGM_FI_DEV_FB_USED_PERCENT", "DCGM_FI_DEV_FB_USED_RATIO", "fb_USDP", "FBUSP", "", kReal,
             kGauge, kComputeInstance, driver::kMemorySection, used_ratio,
             "Used memory as a share of what can be had (0 to 1)"},
    FieldRow{300, "DCGM_FI_DEV_ECC_CURRENT", "DCGM_FI_DEV_ECC_MODE", "ecc", "ECCUR", "", kInteger, kGauge,
             kGpu, driver::kModesSection,
             integer_at<&GpuSnapshot::modes, &driver::ModeReadings::ecc, &driver::Mode::current>,
             "1: ECC is on"},
    FieldRow{301, "DCGM_FI_DEV_ECC_PENDING", "", "ecc_pending", "ECPEN", "", kInteger, kGauge, kGpu,
             driver::kModesSection,
             integer_at<&GpuSnapshot::modes, &driver::ModeReadings::ecc, &driver::Mode::pending>,
             "1: ECC is on from the next reset"},
    FieldRow{346, "DCGM_FI_DEV_THRESHOLD_SRM", "DCGM_FI_DEV_SRAM_EXCEEDED", "threshold_srm", "THSRM", "",
             kInteger, kGauge, kGpu, driver::kEccSection,
             integer_at<&GpuSnapshot::ecc, &EccReadings::sram, &driver::SramErrors::threshold_exceeded>,
             "1: uncorrectable SRAM errors exceed the threshold"},
    FieldRow{385, "DCGM_FI_DEV_BANKS_REMAP_ROWS_AVAIL_MAX", "DCGM_FI_DEV_BANK_REMAP_AVAIL_MAX",
             "banks_remap_rows_avail_max", "BRRAM", "", kInteger, kGauge, kGpu, driver::kRemappedSection,
             integer_at<&GpuSnapshot::remapped, &RowRemapReadings::bank_max>,
             "Memory banks with all spare rows"},
    FieldRow{386, "DCGM_FI_DEV_BANKS_REMAP_ROWS_AVAIL_HIGH", "DCGM_FI_DEV_BANK_REMAP_AVAIL_HIGH",
             "banks_remap_rows_avail_high", "BRRAH", "", kInteger, kGauge, kGpu, driver::kRemappedSection,
             integer_at<&GpuSnapshot::remapped, &RowRemapReadings::bank_high>,
             "Memory banks with many spare rows"},
    FieldRow{387, "DCGM_FI_DEV_BANKS_REMAP_ROWS_AVAIL_PARTIAL", "DCGM_FI_DEV_BANK_REMAP_AVAIL_PARTIAL",
             "banks_remap_rows_avail_partial", "BRRAP", "", kInteger, kGauge, kGpu, driver::kRemappedSection,
             integer_at<&GpuSnapshot::remapped, &RowRemapReadings::bank_partial>,
             "Memory banks with some spare rows"},
    FieldRow{388, "DCGM_FI_DEV_BANKS_REMAP_ROWS_AVAIL_LOW", "DCGM_FI_DEV_BANK_REMAP_AVAIL_LOW",
             "banks_remap_rows_avail_low", "BRRAL", "", kInteger, kGauge, kGpu, driver::kRemappedSection,
             integer_at<&GpuSnapshot::remapped, &RowRemapReadings::bank_low>,
             "Memory banks with few spare rows"},
    FieldRow{389, "DCGM_FI_DEV_BANKS_REMAP_ROWS_AVAIL_NONE", "DCGM_FI_DEV_BANK_REMAP_AVAIL_NONE",
             "banks_remap_rows_avail_none", "BRRAN", "", kInteger, kGauge, kGpu, driver::kRemappedSection,
             integer_at<&GpuSnapshot::remapped, &RowRemapReadings::bank_none>,
             "Memory banks without spare rows"},
    FieldRow{390, "DCGM_FI_DEV_RETIRED_SBE", "DCGM_FI_DEV_PAGE_RETIRED_SBE_TOTAL", "retired_pages_sbe",
             "RPSBE", "", kInteger, kCounter, kGpu, driver::kRetiredSection,
             page_count<&driver::RetirementReadings::single_bit>, "Pages retired for single-bit errors"},
    FieldRow{391, "DCGM_FI_DEV_RETIRED_DBE", "DCGM_FI_DEV_PAGE_RETIRED_DBE_TOTAL", "retired_pages_dbe",
             "RPDBE", "", kInteger, kCounter, kGpu, driver::kRetiredSection,
             page_count<&driver::RetirementReadings::double_bit>, "Pages retired for double-bit errors"},
    FieldRow{392, "DCGM_FI_DEV_RETIRED_PENDING", "DCGM_FI_DEV_PAGE_RETIRED_PENDING", "retired_pages_pending",
             "RPPEN", "", kInteger, kGauge, kGpu, driver::kRetiredSection,
             integer_at<&GpuSnapshot::retired, &driver::RetirementReadings::pending>,
             "1: pages will be retired at the next reset"},
    FieldRow{393, "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "DCGM_FI_DEV_ROW_REMAP_UNCORRECTABLE_TOTAL",
             "uncorrectable_remapped_rows", "URMPS", "", kInteger, kCounter, kGpu, driver::kRemappedSection,
             integer_at<&GpuSnapshot::remapped, &RowRemapReadings::uncorrectable>,
             "Rows remapped for uncorrectable errors"},
    FieldRow{394, "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", "DCGM_FI_DEV_ROW_REMAP_CORRECTABLE_TOTAL",
             "correctable_remapped_rows", "CRMPS", "", kInteger, kCounter, kGpu, driver::kRemappedSection,
             integer_at<&GpuSnapshot::remapped, &RowRemapReadings::correctable>,
             "Rows remapped for correctable errors"},
    FieldRow{395, "DCGM_FI_DEV_ROW_REMAP_FAILURE", "DCGM_FI_DEV_ROW_REMAP_FAILED", "row_remap_failure", "RRF",
             "", kInteger, kGauge, kGpu, driver::kRemappedSection,
             integer_at<&GpuSnapshot::remapped, &RowRemapReadings::failure>,
             "1: remapping of a row has failed"},
    FieldRow{396, "DCGM_FI_DEV_ROW_REMAP_PENDING", "", "row_remap_pending", "RRP", "", kInteger, kGauge, kGpu,
             driver::kRemappedSection, integer_at<&GpuSnapshot::remapped, &RowRemapReadings::pending>,
             "1: rows will be remapped at the next reset"},
};

// Error counts come in four kinds; of each there is a total and one per place.
template <auto Member>
FieldReading ecc_total(const FieldRow&, const EntityReadings& entity) {
  return integer((entity.snapshot().ecc.*Member).total);
}
template <auto Member>
FieldReading ecc_place(const FieldRow& row, const EntityReadings& entity) {
  return integer((entity.snapshot().ecc.*Member).at[row.index]);
}
struct EccKind {
  std::string_view bits, life;  // of the name: "SBE", "VOL"
  char column_bits, column_life;
  std::string_view words;
  FieldRead total, place;
};
const std::array kKinds = {
    EccKind{"SBE", "VOL", 'S', 'V', "corrected memory errors since the driver was loaded",
            ecc_total<&EccReadings::volatile_corrected>, ecc_place<&EccReadings::volatile_corrected>},
    EccKind{"DBE", "VOL", 'D', 'V', "uncorrectable memory errors since the driver was loaded",
            ecc_total<&EccReadings::volatile_uncorrected>, ecc_place<&EccReadings::volatile_uncorrected>},
    EccKind{"SBE", "AGG", 'S', 'A', "corrected memory errors of the board's life",
            ecc_total<&EccReadings::aggregate_corrected>, ecc_place<&EccReadings::aggregate_corrected>},
    EccKind{"DBE", "AGG", 'D', 'A', "uncorrectable memory errors of the board's life",
            ecc_total<&EccReadings::aggregate_uncorrected>, ecc_place<&EccReadings::aggregate_uncorrected>},
};
// Ids of the volatile single-bit field; double-bit is the next; aggregate begins at its own.
struct EccPlace {
  std::string_view name, tag;
  unsigned volatile_id, aggregate_id;
  driver::EccLocation location;
};
constexpr std::array kPlaces = {
    EccPlace{"L1", "l1", 314, 324, driver::kEccL1},
    EccPlace{"L2", "l2", 316, 326, driver::kEccL2},
    EccPlace{"DEV", "device", 318, 328, driver::kEccDram},
    EccPlace{"REG", "register", 320, 330, driver::kEccRegisterFile},
    EccPlace{"TEX", "texture", 322, 332, driver::kEccTexture},
    EccPlace{"SHM", "shm", 334, 338, driver::kEccTextureShared},
    EccPlace{"CBU", "cbu", 336, 340, driver::kEccCbu},
    EccPlace{"SRM", "srm", 342, 344, driver::kEccSram},
};

std::string lower(std::string_view words) {
  std::string out(words);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

void add_ecc_fields(FieldRows& rows) {
  for (size_t k = 0; k < kKinds.size(); ++k) {
    const EccKind& kind = kKinds[k];
    const bool aggregate = kind.life == "AGG";
    const std::string name = "DCGM_FI_DEV_ECC_" + std::string(kind.bits) + "_" + std::string(kind.life) + "_";
    const std::string tag = "ecc_" + lower(kind.bits) + (aggregate ? "_aggregate_" : "_volatile_");
    const std::string column = {'E', kind.column_bits, kind.column_life};
    rows.push_back({310 + static_cast<unsigned>(k), kept(name + "TOTAL"), "", kept(tag + "total"),
                    kept(column + "TL"), "", kInteger, kCounter, kGpu, driver::kEccSection, kind.total,
                    kept("All " + std::string(kind.words))});
    for (const EccPlace& place : kPlaces) {
      const unsigned first = aggregate ? place.aggregate_id : place.volatile_id;
      rows.push_back({first + (kind.bits == "DBE" ? 1 : 0), kept(name + std::string(place.name)), "",
                      kept(tag + std::string(place.tag)), kept(column + std::string(place.name)), "",
                      kInteger, kCounter, kGpu, driver::kEccSection, kind.place,
                      kept(std::string(place.name) + ": " + std::string(kind.words)), 20, 0,
                      static_cast<unsigned>(place.location)});
    }
  }
}

}  // namespace

void add_memory_fields(FieldRows& rows) {
  rows.insert(rows.end(), kRows.begin(), kRows.end());
  add_ecc_fields(rows);
}

}  // namespace pagoda::telemetry
