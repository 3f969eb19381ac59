#include "base/format.h"
#include "smi/cell.h"
#include "smi/process_names.h"
#include "smi/summary_table.h"

namespace pagoda::smi {
namespace {

constexpr std::string_view kEdge =
    "+-----------------------------------------------------------------------------------------+\n";

struct Widths {
  int pid, name;
};
Widths widths_of(const OutputStyle& style) {
  return style.wide_process_ids() ? Widths{16, 32} : Widths{10, 38};
}

// Three columns: N/A, or a number with its last digit in the middle.
std::string instance(const driver::Number& id) {
  return id ? format("{:>2} ", *id) : std::string(words_of(id.error()));
}

std::string row(unsigned gpu, const driver::GpuProcess& process, const Widths& width) {
  const std::string memory = process.memory ? format("{}MiB", whole_mib(*process.memory)) : "N/A";
  return format("|{:>5}{:>6}{:>5}{:>{}}{:>7}   {:<{}}{:>14} |\n", gpu, instance(process.gpu_instance),
                instance(process.compute_instance), process.pid, width.pid, process_type(process),
                cut_on_the_left(process_name(process), static_cast<size_t>(width.name)), width.name, memory);
}

}  // namespace

std::string process_table(const driver::MachineSnapshot& machine, const OutputStyle& style) {
  const Widths width = widths_of(style);
  std::string out(kEdge);
  out += format("| {:<88}|\n", "Processes:");
  out += format("|  GPU   GI   CI{:>{}}{:>7}   {:<{}}{:>14} |\n", "PID", width.pid + 1, "Type",
                "Process name", width.name, "GPU Memory");
  out += format("|        ID   ID{:>{}}Usage      |\n", "", width.pid + width.name + 15);
  out += "|=========================================================================================|\n";
  std::string rows;
  for (const driver::GpuSnapshot& gpu : machine.gpus) {
    const auto processes = driver::running_processes(gpu);
    if (!processes) {
      rows += format("|{:>5}   N/A  N/A   {:<70}|\n", gpu.index, words_of(processes.error()));
      continue;
    }
    for (const driver::GpuProcess& process : *processes) rows += row(gpu.index, process, width);
  }
  if (rows.empty()) rows = format("|  {:<87}|\n", "No running processes found");
  return out + rows + std::string(kEdge);
}

}  // namespace pagoda::smi
