#include "smi/topology_matrix.h"

#include "base/format.h"
#include "smi/json_cell.h"
#include "smi/names.h"

namespace pagoda::smi {
namespace {

constexpr std::string_view kUnderline = "\x1b[4m", kPlain = "\x1b[0m";
constexpr std::string_view kLegend =
    "\nLegend:\n\n"
    "  X    = Self\n"
    "  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)\n"
    "  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA "
    "node\n"
    "  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)\n"
    "  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)\n"
    "  PIX  = Connection traversing at most a single PCIe bridge\n"
    "  NV#  = Connection traversing a bonded set of # NVLinks\n";

// The part of a bus id after its domain: domains are written with four or eight digits.
std::string_view address_in(std::string_view bus_id) {
  const size_t colon = bus_id.find(':');
  return colon == std::string_view::npos ? bus_id : bus_id.substr(colon);
}

bool on_switch(const driver::NvLink& link) {
  return link.remote_type && *link.remote_type == NVML_NVLINK_DEVICE_TYPE_SWITCH;
}

// Links between two GPUs, directly or, where both are on switches, through them.
unsigned nvlinks_between(const driver::GpuSnapshot& from, const driver::GpuSnapshot& to) {
  unsigned direct = 0, switched = 0;
  for (const driver::NvLink& link : from.nvlink.links) {
    if (!link.active || !*link.active) continue;
    if (on_switch(link)) ++switched;
    const bool known = link.remote_bus_id && to.pci.bus_id;
    if (known && !on_switch(link) && address_in(*link.remote_bus_id) == address_in(*to.pci.bus_id)) ++direct;
  }
  if (direct > 0) return direct;
  for (const driver::NvLink& link : to.nvlink.links) {
    if (link.active && *link.active && on_switch(link)) return switched;
  }
  return 0;
}

std::string ranges_or_absence(const driver::Field<std::vector<unsigned>>& numbers) {
  if (!numbers) return std::string(words_of(numbers.error()));
  return numbers->empty() ? "N/A" : number_ranges(*numbers);
}

}  // namespace

std::string number_ranges(const std::vector<unsigned>& numbers) {
  std::string out;
  for (size_t i = 0; i < numbers.size();) {
    size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!out.empty()) out += ",";
    out += last == i ? format("{}", numbers[i]) : format("{}-{}", numbers[i], numbers[last]);
    i = last + 1;
  }
  return out;
}

std::string nearness_word(const driver::MachineSnapshot& machine, size_t from, size_t to) {
  if (from == to) return " X ";
  const driver::GpuSnapshot& gpu = machine.gpus[from];
  if (const unsigned links = nvlinks_between(gpu, machine.gpus[to]); links > 0) return format("NV{}", links);
  if (to >= gpu.nearness.size()) return "N/A";
  return named(gpu.nearness[to], kTopologyLevels).text;
}

std::string topology_matrix(const driver::MachineSnapshot& machine) {
  std::string out = format("\t{}", kUnderline);
  for (const driver::GpuSnapshot& gpu : machine.gpus) out += format("GPU{}\t", gpu.index);
  out += format("CPU Affinity\tNUMA Affinity\tGPU NUMA ID{}\n", kPlain);
  for (size_t i = 0; i < machine.gpus.size(); ++i) {
    const driver::GpuSnapshot& gpu = machine.gpus[i];
    out += format("GPU{}\t", gpu.index);
    for (size_t j = 0; j < machine.gpus.size(); ++j) out += nearness_word(machine, i, j) + "\t";
    out += format("{}\t{}\t\t{}\n", ranges_or_absence(gpu.cpus), ranges_or_absence(gpu.numa_nodes),
                  number(gpu.numa_node).text);
  }
  return out + std::string(kLegend);
}

std::string topology_json(const driver::MachineSnapshot& machine) {
  using Json = nlohmann::ordered_json;
  Json gpus = Json::array();
  for (size_t i = 0; i < machine.gpus.size(); ++i) {
    const driver::GpuSnapshot& gpu = machine.gpus[i];
    Json row = {{"index", gpu.index}, {"links", Json::object()}};
    for (size_t j = 0; j < machine.gpus.size(); ++j) {
      if (i != j) row["links"][format("{}", machine.gpus[j].index)] = nearness_word(machine, i, j);
    }
    row["cpu_affinity"] = ranges_or_absence(gpu.cpus);
    row["numa_affinity"] = ranges_or_absence(gpu.numa_nodes);
    put_cell(row, "gpu_numa_id", number(gpu.numa_node));
    gpus.push_back(std::move(row));
  }
  return Json{{"gpus", std::move(gpus)}}.dump(2) + "\n";
}

}  // namespace pagoda::smi
