// Fields of PCIe and NVLink.
#include <array>

#include "driver/gpu_snapshot_reader.h"
#include "telemetry/field_rows.h"

namespace pagoda::telemetry {
namespace {

using driver::GpuSnapshot;
using driver::NvLink;
using driver::PciReadings;
using enum FieldType;
using enum FieldKind;
using enum FieldLevel;

constexpr unsigned kLinks = 18;  // that DCGM has fields for

const std::array kPcie = {
    FieldRow{200, "DCGM_FI_DEV_PCIE_TX_THROUGHPUT", "", "pcie_tx_throughput", "TXTPT", "KB/s", kInteger,
             kGauge, kGpu, driver::kPciSection, integer_at<&GpuSnapshot::pci, &PciReadings::tx_kb_per_s>,
             "Sent over PCIe (in KB/s)", 7},
    FieldRow{201, "DCGM_FI_DEV_PCIE_RX_THROUGHPUT", "", "pcie_rx_throughput", "RXTPT", "KB/s", kInteger,
             kGauge, kGpu, driver::kPciSection, integer_at<&GpuSnapshot::pci, &PciReadings::rx_kb_per_s>,
             "Received over PCIe (in KB/s)", 7},
    FieldRow{202, "DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "DCGM_FI_DEV_PCIE_REPLAY_TOTAL", "pcie_replay_counter",
             "RPCTR", "", kInteger, kCounter, kGpu, driver::kPciSection,
             integer_at<&GpuSnapshot::pci, &PciReadings::replays>, "Packets that PCIe sent again"},
    FieldRow{235, "DCGM_FI_DEV_PCIE_MAX_LINK_GEN", "", "pcie_max_link_gen", "PCIMG", "", kInteger, kGauge,
             kGpu, driver::kPciSection, integer_at<&GpuSnapshot::pci, &PciReadings::generation_max>,
             "Highest PCIe generation of GPU and slot together"},
    FieldRow{236, "DCGM_FI_DEV_PCIE_MAX_LINK_WIDTH", "", "pcie_max_link_width", "PCIMW", "", kInteger, kGauge,
             kGpu, driver::kPciSection, integer_at<&GpuSnapshot::pci, &PciReadings::width_max>,
             "Most PCIe lanes of GPU and slot together"},
    FieldRow{237, "DCGM_FI_DEV_PCIE_LINK_GEN", "", "pcie_link_gen", "PCILG", "", kInteger, kGauge, kGpu,
             driver::kPciSection, integer_at<&GpuSnapshot::pci, &PciReadings::generation_current>,
             "PCIe generation of now"},
    FieldRow{238, "DCGM_FI_DEV_PCIE_LINK_WIDTH", "", "pcie_link_width", "PCILW", "", kInteger, kGauge, kGpu,
             driver::kPciSection, integer_at<&GpuSnapshot::pci, &PciReadings::width_current>,
             "PCIe lanes of now"},
};

driver::Absence no_such_link() {
  return driver::absence_of(NVML_ERROR_NOT_FOUND);
}

// Error counters: of one link, or of all. A link that does not answer is left out of the sum; where none
// answers there is no sum.
template <auto Member>
FieldReading link_errors(const FieldRow& row, const EntityReadings& entity) {
  const driver::NvLinkReadings& nvlink = entity.snapshot().nvlink;
  if (!nvlink.count) return integer(nvlink.count);
  if (row.index >= nvlink.links.size()) return tl::unexpected<driver::Absence>(no_such_link());
  return integer(nvlink.links[row.index].*Member);
}
template <auto Member>
FieldReading all_link_errors(const FieldRow&, const EntityReadings& entity) {
  const driver::NvLinkReadings& nvlink = entity.snapshot().nvlink;
  if (!nvlink.count) return integer(nvlink.count);
  driver::Reading<std::uint64_t> sum = tl::unexpected<driver::Absence>(no_such_link());
  for (const NvLink& link : nvlink.links) {
    if (link.*Member) {
      sum = sum.value_or(0) + *(link.*Member);
    } else if (!sum) {
      sum = tl::unexpected<driver::Absence>((link.*Member).error());
    }
  }
  return integer(sum);
}

// Bandwidth in MB/s, as DCGM counts it: KiB per second over 1000.
enum class Direction { kTx, kRx, kBoth };
driver::Reading<double> rate(const LinkRate& link, Direction direction) {
  if (direction == Direction::kTx) return link.tx;
  if (direction == Direction::kRx || !link.rx) return link.rx;
  return link.tx.map([&](double tx) { return tx + *link.rx; });
}
FieldReading megabytes(const driver::Reading<double>& kib_per_s) {
  return kib_per_s.map([](double kib) -> FieldValue { return static_cast<std::int64_t>(kib / 1000); });
}
template <Direction kDirection>
FieldReading link_rate(const FieldRow& row, const EntityReadings& entity) {
  if (!entity.snapshot().nvlink.count) return integer(entity.snapshot().nvlink.count);
  const auto& links = entity.activity().links;
  if (row.index >= links.size()) return tl::unexpected<driver::Absence>(no_such_link());
  return megabytes(rate(links[row.index], kDirection));
}
template <Direction kDirection>
FieldReading all_links_rate(const FieldRow&, const EntityReadings& entity) {
  if (!entity.snapshot().nvlink.count) return integer(entity.snapshot().nvlink.count);
  driver::Reading<double> sum = tl::unexpected<driver::Absence>(no_such_link());
  for (const LinkRate& link : entity.activity().links) {
    const auto one = rate(link, kDirection);
    if (one) {
      sum = sum.value_or(0) + *one;
    } else if (!sum) {
      sum = one;
    }
  }
  return megabytes(sum);
}

// DCGM gave links their numbers as NVLink grew: 6 links, then 12, then 15, then 18.
struct LinkFamily {
  std::string_view old_name, new_name, tag, column;  // around the link's number
  std::array<unsigned, 4> first_ids;                 // of links 0, 6, 12, 15
  unsigned total_id;
  std::string_view unit, help;
  FieldKind kind;
  FieldRead one, all;
};
const std::array kFamilies = {
    LinkFamily{"NVLINK_CRC_FLIT_ERROR_COUNT_",
               "NVLINK_CRC_FLIT_ERROR_",
               "nvlink_flit_crc_error_count",
               "NFE",
               {400, 451, 406, 481},
               409,
               "",
               "NVLink flow-control CRC errors",
               kCounter,
               link_errors<&NvLink::crc_flit_errors>,
               all_link_errors<&NvLink::crc_flit_errors>},
    LinkFamily{"NVLINK_CRC_DATA_ERROR_COUNT_",
               "NVLINK_CRC_DATA_ERROR_",
               "nvlink_data_crc_error_count",
               "NDE",
               {410, 457, 416, 484},
               419,
               "",
               "NVLink data CRC errors",
               kCounter,
               link_errors<&NvLink::crc_data_errors>,
               all_link_errors<&NvLink::crc_data_errors>},
    LinkFamily{"NVLINK_REPLAY_ERROR_COUNT_",
               "NVLINK_REPLAY_ERROR_",
               "nvlink_replay_error_count",
               "NRE",
               {420, 463, 426, 487},
               429,
               "",
               "NVLink replays",
               kCounter,
               link_errors<&NvLink::replays>,
               all_link_errors<&NvLink::replays>},
    LinkFamily{"NVLINK_RECOVERY_ERROR_COUNT_",
               "NVLINK_RECOVERY_ERROR_",
               "nvlink_recovery_error_count",
               "NRC",
               {430, 469, 436, 491},
               439,
               "",
               "NVLink recoveries",
               kCounter,
               link_errors<&NvLink::recoveries>,
               all_link_errors<&NvLink::recoveries>},
    LinkFamily{"NVLINK_BANDWIDTH_",
               "NVLINK_THROUGHPUT_",
               "nvlink_bandwidth",
               "NBW",
               {440, 475, 446, 494},
               449,
               "MB/s",
               "NVLink data both ways (in MB/s)",
               kGauge,
               link_rate<Direction::kBoth>,
               all_links_rate<Direction::kBoth>},
    LinkFamily{"NVLINK_TX_BANDWIDTH_",
               "NVLINK_TX_THROUGHPUT_",
               "nvlink_tx_throughput",
               "NVLTXT",
               {825, 831, 837, 840},
               843,
               "MB/s",
               "NVLink data sent (in MB/s)",
               kGauge,
               link_rate<Direction::kTx>,
               all_links_rate<Direction::kTx>},
    LinkFamily{"NVLINK_RX_BANDWIDTH_",
               "NVLINK_RX_THROUGHPUT_",
               "nvlink_rx_throughput",
               "NVLRXT",
               {879, 885, 891, 894},
               897,
               "MB/s",
               "NVLink data received (in MB/s)",
               kGauge,
               link_rate<Direction::kRx>,
               all_links_rate<Direction::kRx>},
};

unsigned id_of_link(const LinkFamily& family, unsigned link) {
  if (link < 6) return family.first_ids[0] + link;
  if (link < 12) return family.first_ids[1] + link - 6;
  if (link < 15) return family.first_ids[2] + link - 12;
  return family.first_ids[3] + link - 15;
}

void add_family(const LinkFamily& family, FieldRows& rows) {
  const std::string old_name = "DCGM_FI_DEV_" + std::string(family.old_name);
  const std::string new_name = "DCGM_FI_DEV_" + std::string(family.new_name);
  const std::string tag(family.tag), column(family.column);
  // Since 4.6 a count ends in _TOTAL, also that of one link.
  const std::string end = family.kind == kCounter ? "_TOTAL" : "";
  for (unsigned link = 0; link < kLinks; ++link) {
    const std::string number = std::to_string(link);
    rows.push_back({id_of_link(family, link), kept(old_name + "L" + number),
                    kept(new_name + "L" + number + end), kept(tag + "_l" + number),
                    kept(column + "L" + number), family.unit, kInteger, family.kind, kGpu,
                    driver::kNvLinkSection, family.one, family.help, 10, 0, link});
  }
  rows.push_back({family.total_id, kept(old_name + "TOTAL"), kept(new_name + "TOTAL"), kept(tag + "_total"),
                  kept(column + "T"), family.unit, kInteger, family.kind, kGpu, driver::kNvLinkSection,
                  family.all, family.help, 10});
}

}  // namespace

void add_link_fields(FieldRows& rows) {
  rows.insert(rows.end(), kPcie.begin(), kPcie.end());
  for (const LinkFamily& family : kFamilies) add_family(family, rows);
}

}  // namespace pagoda::telemetry
