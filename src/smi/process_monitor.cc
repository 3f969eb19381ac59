#include <algorithm>

#include "base/format.h"
#include "driver/gpu_snapshot_reader.h"
#include "smi/cell.h"
#include "smi/gpu_field_cells.h"
#include "smi/json_cell.h"
#include "smi/monitor_columns.h"
#include "smi/monitor_line.h"
#include "smi/process_names.h"

namespace pagoda::smi {
namespace {

constexpr size_t kNameWidth = 15;

std::string command_of(const driver::GpuProcess& process) {
  std::string name = process.name ? *process.name : "-";
  name = name.substr(0, name.find(' '));
  const size_t slash = name.rfind('/');
  if (slash != std::string::npos) name.erase(0, slash + 1);
  return name.substr(0, kNameWidth);
}

const driver::ProcessUtilization* utilization_of(const driver::GpuSnapshot& gpu, unsigned pid) {
  if (!gpu.process_utilization) return nullptr;
  // The newest sample of a process is its last.
  const auto& list = *gpu.process_utilization;
  const auto found =
      std::find_if(list.rbegin(), list.rend(), [=](const auto& row) { return row.pid == pid; });
  return found == list.rend() ? nullptr : &*found;
}

std::string or_dash(const driver::Number& reading) {
  return reading ? format("{}", *reading) : "-";
}

std::string utilization_cells(const driver::ProcessUtilization* use) {
  static const driver::ProcessUtilization kNone;
  const driver::ProcessUtilization& u = use == nullptr ? kNone : *use;
  std::string cells;
  for (const driver::Number* value : {&u.sm, &u.memory, &u.encoder, &u.decoder, &u.jpeg, &u.ofa}) {
    cells += format("{:>7}", or_dash(*value));
  }
  return cells;
}

std::string memory_cells(const driver::GpuProcess* process) {
  const bool known = process != nullptr && process->memory;
  // Protected memory of one process is not told by public NVML.
  return format("{:>7}{:>7}", known ? format("{}", whole_mib(*process->memory)) : "-", "-");
}

std::string cells(const MonitorLayout& layout, const driver::GpuSnapshot& gpu,
                  const driver::GpuProcess* process) {
  std::string out;
  for (const char group : layout.groups) {
    if (group == 'm') {
      out += memory_cells(process);
    } else {
      out += utilization_cells(process == nullptr ? nullptr : utilization_of(gpu, process->pid));
    }
  }
  return out;
}

std::string row(const MonitorLayout& layout, const driver::MachineSnapshot& now,
                const driver::GpuSnapshot& gpu, const driver::GpuProcess* process) {
  const std::string pid = process == nullptr ? "-" : format("{}", process->pid);
  return format("{}{:>5}{:>11}{:>6}{}    {:<{}}\n", monitor_stamp(layout, now.time), gpu.index, pid,
                process == nullptr ? "-" : process_type(*process), cells(layout, gpu, process),
                process == nullptr ? "-" : command_of(*process), kNameWidth);
}

}  // namespace

unsigned process_monitor_sections() {
  return driver::kProcessesSection | driver::kProcessUtilizationSection;
}

std::string process_monitor_header(const MonitorLayout& layout) {
  std::string names = monitor_heads(layout).first + "# gpu         pid   type";
  std::string units = monitor_heads(layout).second + "# Idx           #    C/G";
  for (const char group : layout.groups) {
    const bool memory = group == 'm';
    names += memory ? "     fb   ccpm" : "     sm    mem    enc    dec    jpg    ofa";
    units += memory ? "     MB     MB" : "      %      %      %      %      %      %";
  }
  return names + "    command \n" + units + "    name \n";
}

std::string process_monitor_rows(const MonitorLayout& layout, const driver::MachineSnapshot& now) {
  std::string out;
  for (const driver::GpuSnapshot& gpu : now.gpus) {
    const auto processes = driver::running_processes(gpu);
    if (!processes || processes->empty()) {
      out += row(layout, now, gpu, nullptr);
      continue;
    }
    for (const driver::GpuProcess& process : *processes) out += row(layout, now, gpu, &process);
  }
  return out;
}

std::string process_monitor_json(const driver::MachineSnapshot& now) {
  std::string out;
  for (const driver::GpuSnapshot& gpu : now.gpus) {
    const auto processes = driver::running_processes(gpu);
    if (!processes) continue;
    for (const driver::GpuProcess& process : *processes) {
      const driver::ProcessUtilization* found = utilization_of(gpu, process.pid);
      const driver::ProcessUtilization use = found == nullptr ? driver::ProcessUtilization{} : *found;
      nlohmann::ordered_json row = {{"time", csv_time(now.time)},
                                    {"gpu", gpu.index},
                                    {"pid", process.pid},
                                    {"type", process_type(process)},
                                    {"name", process_name(process)}};
      put_cell(row, "sm", number(use.sm, "%"));
      put_cell(row, "memory", number(use.memory, "%"));
      put_cell(row, "encoder", number(use.encoder, "%"));
      put_cell(row, "decoder", number(use.decoder, "%"));
      put_cell(row, "jpeg", number(use.jpeg, "%"));
      put_cell(row, "ofa", number(use.ofa, "%"));
      put_cell(row, "used_memory", mib(process.memory));
      out += row.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    }
  }
  return out;
}

}  // namespace pagoda::smi
