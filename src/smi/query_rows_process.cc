#include <array>

#include "base/format.h"
#include "smi/process_names.h"
#include "smi/query_row.h"

namespace pagoda::smi {
namespace {

using Gpu = driver::GpuSnapshot;

ReportNode leaf(std::string_view label, std::string_view tag, Cell cell) {
  ReportNode node{.label = std::string(label), .tag = std::string(tag), .cell = std::move(cell)};
  node.narrow = true;
  return node;
}

bool lists_processes(const RowContext& c) {
  const auto processes = driver::running_processes(c.gpu);
  return processes && !processes->empty();
}
bool lists_no_processes(const RowContext& c) {
  return !lists_processes(c);
}
Cell why_none(const Gpu& gpu) {
  const auto processes = driver::running_processes(gpu);
  return processes ? word("None") : absent_cell(processes.error());
}

// In text the three numbers stand level with the process, and what belongs to it below.
void expand_processes(const RowContext& c, ReportNode& parent) {
  parent.is_list = true;
  const auto processes = driver::running_processes(c.gpu);
  for (const driver::GpuProcess& process : *processes) {
    ReportNode node{.label = "", .tag = "process_info", .cell = std::nullopt};
    ReportNode id = leaf("Process ID", "pid", word(format("{}", process.pid)));
    id.cell->numeric = true;
    id.children = {leaf("Type", "type", word(process_type(process))),
                   leaf("Name", "process_name", word(process_name(process))),
                   leaf("Used GPU Memory", "used_memory", mib(process.memory))};
    node.children = {leaf("GPU instance ID", "gpu_instance_id", number(process.gpu_instance)),
                     leaf("Compute instance ID", "compute_instance_id", number(process.compute_instance)),
                     std::move(id)};
    parent.children.push_back(std::move(node));
  }
}

bool accounts_none(const RowContext& c) {
  return !c.gpu.accounted || c.gpu.accounted->empty();
}
bool accounts_some(const RowContext& c) {
  return !accounts_none(c);
}

void expand_accounted(const RowContext& c, ReportNode& parent) {
  parent.is_list = true;
  for (const driver::AccountedProcess& process : *c.gpu.accounted) {
    ReportNode id = leaf("Process ID", "pid", word(format("{}", process.pid)));
    id.cell->numeric = true;
    id.children = {leaf("GPU Utilization", "gpu_util", number(process.gpu_percent, "%")),
                   leaf("Memory Utilization", "memory_util", number(process.memory_percent, "%")),
                   leaf("Max memory usage", "max_memory_usage", mib(process.memory_max)),
                   leaf("Time", "time", number(process.time_ms, "ms")),
                   leaf("Is Running", "is_running", word(process.running ? "1" : "0"))};
    ReportNode node{.label = "", .tag = "accounted_process_info", .cell = std::nullopt};
    node.children = {std::move(id)};
    parent.children.push_back(std::move(node));
  }
}

constexpr std::array kRows = {
    QueryRow{1, "Processes", "processes", kPids, why_none, lists_no_processes},
    QueryRow{1, "Processes", "processes", kPids, nullptr, lists_processes, expand_processes},
    QueryRow{1, "Accounted Processes", "accounted_processes", kAccounting | kOnlyByDisplay,
             [](const Gpu& g) { return g.accounted ? word("None") : absent_cell(g.accounted.error()); },
             accounts_none},
    QueryRow{1, "Accounted Processes", "accounted_processes", kAccounting | kOnlyByDisplay, nullptr,
             accounts_some, expand_accounted},
    QueryRow{1, "Capabilities", "capabilities", 0},
    QueryRow{2, "EGM", "egm", 0,
             [](const Gpu& g) {
               return g.modes.egm ? word(*g.modes.egm ? "enabled" : "disabled")
                                  : absent_cell(g.modes.egm.error());
             }},
};

}  // namespace

std::span<const QueryRow> process_rows() {
  return kRows;
}

}  // namespace pagoda::smi
