#include "smi/summary_table.h"

#include <ctime>

#include "base/format.h"
#include "driver/gpu_snapshot_reader.h"
#include "smi/names.h"

namespace pagoda::smi {
namespace {

using driver::GpuSnapshot;

constexpr std::string_view kEdge =
    "+-----------------------------------------------------------------------------------------+\n";
constexpr std::string_view kGpuRule =
    "+-----------------------------------------+------------------------+----------------------+\n";
constexpr std::string_view kGpuHeads =
    "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n"
    "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n"
    "|                                         |                        |               MIG M. |\n"
    "|=========================================+========================+======================|\n";

// A cell of the table. One that could not be read says so alone; the others stand.
template <class Field, class Format>
std::string shown(const Field& reading, Format as_text) {
  if (reading) return as_text(*reading);
  return words_of(reading.error()) == "N/A" ? "N/A" : "ERR!";
}

std::string on_off(const driver::Flag& reading) {
  return shown(reading, [](bool on) { return std::string(on ? "On" : "Off"); });
}

std::string shortened(const std::string& name, size_t width) {
  return name.size() <= width ? name : name.substr(0, width - 3) + "...";
}

std::string banner(const driver::DriverReadings& driver, const OutputStyle& style) {
  const std::string version = text(driver.version).text;
  const std::string cuda =
      shown(driver.cuda, [](unsigned v) { return format("{}.{}", v / 1000, v % 1000 / 10); });
  if (style.names_kmd_and_umd()) {
    return format("| NVIDIA-SMI {:<23}KMD Version: {:<14}CUDA UMD Version: {:<9}|\n", version, version, cuda);
  }
  return format("| NVIDIA-SMI {:<23}Driver Version: {:<15}CUDA Version: {:<9}|\n", version, version, cuda);
}

std::string ecc_cell(const GpuSnapshot& gpu) {
  if (gpu.modes.mig.current && *gpu.modes.mig.current == 1) return "On";
  const auto& mode = gpu.modes.ecc.current;
  if (mode && *mode == 0) return "Off";
  if (!mode) return shown(mode, [](unsigned) { return std::string(); });
  return shown(gpu.ecc.volatile_uncorrected.total, [](std::uint64_t n) { return format("{}", n); });
}

std::string mig_cell(const driver::Mode& mig) {
  const std::string now =
      shown(mig.current, [](unsigned m) { return std::string(m == 1 ? "Enabled" : "Disabled"); });
  const bool changes = mig.current && mig.pending && *mig.current != *mig.pending;
  return changes ? now + "*" : now;
}

std::string power_cell(const driver::Number& milliwatts) {
  return shown(milliwatts, [](unsigned mw) { return format("{}W", mw / 1000); });
}

std::string memory_cell(const driver::MemoryUse& memory) {
  // Memory that is the machine's own (GB10) has no size of its own.
  if (!memory.total && memory.total.error().reason == driver::AbsenceReason::kUnsupported) {
    return format(" {:<23}", driver::sentence_of(NVML_ERROR_NOT_SUPPORTED));
  }
  const auto size = [](std::uint64_t bytes) { return format("{}MiB", whole_mib(bytes)); };
  return format("{:>11} / {:>9} ", shown(memory.used, size), shown(memory.total, size));
}

std::string compute_cell(const GpuSnapshot& gpu) {
  const driver::Number& mode = gpu.modes.compute;
  return shown(mode, [&](unsigned) { return named(mode, kComputeModesInTable).text; });
}

std::string gpu_rows(const GpuSnapshot& gpu) {
  const auto percent = [](unsigned p) { return format("{}%", p); };
  const std::string cap = power_cell(gpu.power.gpu.limit_requested);
  // The W of a missing limit leaves its place empty.
  const std::string cap_cell = cap == "N/A" ? "N/A " : cap;
  std::string rows = format("| {:>3}  {:<27}    {:<4}|   {:<16}{:>4} | {:>20} |\n", gpu.index,
                            shortened(text(gpu.identity.name).text, 27), on_off(gpu.modes.persistence),
                            text(gpu.pci.bus_id).text, on_off(gpu.modes.display_active), ecc_cell(gpu));
  rows += format("|{:>4}{:>6}    {:<4}{:>14} / {:>5} |{}|{:>8}{:>13} |\n", shown(gpu.fan_percent, percent),
                 shown(gpu.temperature.gpu, [](int c) { return format("{}C", c); }),
                 shown(gpu.performance_state, [](unsigned p) { return format("P{}", p); }),
                 power_cell(gpu.power.usage), cap_cell, memory_cell(gpu.memory),
                 shown(gpu.utilization.gpu, percent), compute_cell(gpu));
  rows += format("|{:41}|{:24}| {:>20} |\n", "", "", mig_cell(gpu.modes.mig));
  return rows;
}

}  // namespace

std::string calendar_time(std::chrono::system_clock::time_point time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  char buffer[32];
  return {buffer, std::strftime(buffer, sizeof(buffer), "%a %b %e %H:%M:%S %Y", &parts)};
}

unsigned summary_sections() {
  return driver::kIdentitySection | driver::kPciSection | driver::kModesSection | driver::kEccSection |
         driver::kMemorySection | driver::kUtilizationSection | driver::kPerformanceSection |
         driver::kTemperatureSection | driver::kPowerSection | driver::kMigSection |
         driver::kProcessesSection;
}

std::string summary_table(const driver::MachineSnapshot& machine, const OutputStyle& style) {
  std::string rule(kGpuRule);
  if (!style.plain_table_joints()) rule[0] = rule[rule.size() - 2] = '|';
  const std::string gap = style.plain_table_joints() ? "\n" : format("{:89}\n", "");
  std::string out = calendar_time(machine.time) + "       \n";
  out += kEdge;
  out += banner(machine.driver, style);
  out += rule;
  out += kGpuHeads;
  for (const GpuSnapshot& gpu : machine.gpus) {
    out += gpu_rows(gpu);
    out += kGpuRule;
  }
  if (const std::string mig = mig_table(machine, style); !mig.empty()) out += gap + mig;
  return out + gap + process_table(machine, style);
}

}  // namespace pagoda::smi
