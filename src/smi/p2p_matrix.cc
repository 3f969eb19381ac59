#include "smi/p2p_matrix.h"

#include <array>
#include <nlohmann/json.hpp>

#include "base/format.h"

namespace pagoda::smi {
namespace {

struct CapabilityRow {
  std::string_view letter;
  nvmlGpuP2PCapsIndex_t capability;
};
constexpr std::array kCapabilities = {
    CapabilityRow{"r", NVML_P2P_CAPS_INDEX_READ},   CapabilityRow{"w", NVML_P2P_CAPS_INDEX_WRITE},
    CapabilityRow{"n", NVML_P2P_CAPS_INDEX_NVLINK}, CapabilityRow{"a", NVML_P2P_CAPS_INDEX_ATOMICS},
    CapabilityRow{"p", NVML_P2P_CAPS_INDEX_PCI},
};

constexpr std::string_view kLegend =
    "\nLegend:\n\n"
    "  X    = Self\n"
    "  OK   = Status Ok\n"
    "  CNS  = Chipset not supported\n"
    "  GNS  = GPU not supported\n"
    "  TNS  = Topology not supported\n"
    "  NS   = Not supported\n"
    "  U    = Unknown\n";

std::string_view word(const driver::Reading<nvmlGpuP2PStatus_t>& status) {
  if (!status) return "U";
  switch (*status) {
    case NVML_P2P_STATUS_OK:
      return "OK";
    case NVML_P2P_STATUS_CHIPSET_NOT_SUPPORTED:
      return "CNS";
    case NVML_P2P_STATUS_GPU_NOT_SUPPORTED:
      return "GNS";
    case NVML_P2P_STATUS_IOH_TOPOLOGY_NOT_SUPPORTED:
      return "TNS";
    case NVML_P2P_STATUS_NOT_SUPPORTED:
    case NVML_P2P_STATUS_DISABLED_BY_REGKEY:
      return "NS";
    default:
      return "U";
  }
}

}  // namespace

Result<nvmlGpuP2PCapsIndex_t> read_p2p_capability(const std::string& letter) {
  for (const CapabilityRow& row : kCapabilities) {
    if (row.letter == letter) return row.capability;
  }
  return fail(
      ErrorCode::kInvalidArgument,
      format("'{}' is no P2P capability: r (read), w (write), n (NVLink), a (atomics) or p (PCIe).", letter));
}

P2pStatuses read_p2p(const std::vector<driver::Gpu>& gpus, nvmlGpuP2PCapsIndex_t capability) {
  P2pStatuses rows;
  for (const driver::Gpu& from : gpus) {
    auto& row = rows.emplace_back();
    for (const driver::Gpu& to : gpus) {
      if (!to.handle()) {
        row.push_back(tl::unexpected<driver::Absence>(to.handle().error()));
      } else {
        row.push_back(from.read(driver::nvml::kDeviceGetP2PStatus, *to.handle(), capability));
      }
    }
  }
  return rows;
}

std::string p2p_matrix(const std::vector<unsigned>& indices, const P2pStatuses& statuses) {
  std::string out = " \t";
  for (const unsigned index : indices) out += format("GPU{}\t", index);
  out += '\n';
  for (size_t i = 0; i < indices.size(); ++i) {
    out += format(" GPU{}\t", indices[i]);
    for (size_t j = 0; j < indices.size(); ++j) out += format("{}\t", i == j ? "X" : word(statuses[i][j]));
    out += '\n';
  }
  return out + std::string(kLegend);
}

std::string p2p_json(const std::vector<unsigned>& indices, const P2pStatuses& statuses) {
  using Json = nlohmann::ordered_json;
  Json gpus = Json::array();
  for (size_t i = 0; i < indices.size(); ++i) {
    Json row = {{"index", indices[i]}, {"p2p", Json::object()}};
    for (size_t j = 0; j < indices.size(); ++j) {
      if (i != j) row["p2p"][format("{}", indices[j])] = word(statuses[i][j]);
    }
    gpus.push_back(std::move(row));
  }
  return Json{{"gpus", std::move(gpus)}}.dump(2) + "\n";
}

}  // namespace pagoda::smi
