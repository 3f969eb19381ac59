#include "smi/nvlink_report.h"

#include <algorithm>

#include "base/format.h"
#include "smi/gpu_list.h"
#include "smi/json_cell.h"

namespace pagoda::smi {
namespace {

bool is_active(const driver::NvLink& link) {
  return link.active && *link.active;
}

// Why no link can be shown; empty: they can.
std::string_view obstacle(const driver::GpuSnapshot& gpu) {
  if (gpu.modes.mig.current && *gpu.modes.mig.current == 1) {
    return "Nvlink queries are not supported for Devices in MIG mode";
  }
  if (!gpu.nvlink.count || gpu.nvlink.links.empty()) return "Device does not have or support Nvlink";
  const auto& links = gpu.nvlink.links;
  if (std::none_of(links.begin(), links.end(), is_active)) {
    return "NVML: Unable to retrieve Nvlink information as all links are inActive";
  }
  return {};
}

Cell speed(const driver::NvLink& link) {
  if (!link.speed_mb_per_s) return absent_cell(link.speed_mb_per_s.error());
  return {format("{:.3f}", *link.speed_mb_per_s / 1000.0), "GB/s", true, std::nullopt};
}

template <class LinkLines>
std::string report(const driver::MachineSnapshot& machine, LinkLines lines) {
  std::string out;
  for (const driver::GpuSnapshot& gpu : machine.gpus) {
    out += gpu_line(gpu) + "\n";
    if (const std::string_view why = obstacle(gpu); !why.empty()) {
      out += format("{}\n", why);
      continue;
    }
    for (size_t i = 0; i < gpu.nvlink.links.size(); ++i) out += lines(i, gpu.nvlink.links[i]);
  }
  return out;
}

}  // namespace

std::string nvlink_status(const driver::MachineSnapshot& machine) {
  return report(machine, [](size_t i, const driver::NvLink& link) {
    return format("\t Link {}: {}\n", i, is_active(link) ? with_unit(speed(link)) : "<inactive>");
  });
}

std::string nvlink_errors(const driver::MachineSnapshot& machine) {
  return report(machine, [](size_t i, const driver::NvLink& link) {
    return format(
        "\t Link {0}: Replay Errors: {1}\n\t Link {0}: Recovery Errors: {2}\n\t Link {0}: CRC Errors: "
        "{3}\n\n",
        i, number(link.replays).text, number(link.recoveries).text, number(link.crc_flit_errors).text);
  });
}

std::string nvlink_json(const driver::MachineSnapshot& machine) {
  using Json = nlohmann::ordered_json;
  Json gpus = Json::array();
  for (const driver::GpuSnapshot& gpu : machine.gpus) {
    Json row = {{"index", gpu.index}, {"links", Json::array()}};
    put_cell(row, "uuid", text(gpu.identity.uuid));
    if (const std::string_view why = obstacle(gpu); !why.empty()) row["links_absent"] = why;
    for (const driver::NvLink& link : gpu.nvlink.links) {
      Json object = Json::object();
      put_cell(object, "active", yes_no(link.active));
      put_cell(object, "speed", speed(link));
      put_cell(object, "remote_bus_id", text(link.remote_bus_id));
      put_cell(object, "replay_errors", number(link.replays));
      put_cell(object, "recovery_errors", number(link.recoveries));
      put_cell(object, "crc_flit_errors", number(link.crc_flit_errors));
      put_cell(object, "crc_data_errors", number(link.crc_data_errors));
      put_cell(object, "tx", number(link.tx_kib, "KiB"));
      put_cell(object, "rx", number(link.rx_kib, "KiB"));
      row["links"].push_back(std::move(object));
    }
    gpus.push_back(std::move(row));
  }
  return Json{{"gpus", std::move(gpus)}}.dump(2) + "\n";
}

}  // namespace pagoda::smi
