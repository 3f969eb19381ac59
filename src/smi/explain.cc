#include "smi/explain.h"

#include <array>

#include "base/format.h"
#include "smi/gpu_field_cells.h"
#include "smi/gpu_list.h"
#include "smi/json_cell.h"
#include "smi/names.h"

namespace pagoda::smi {
namespace {

using Gpu = driver::GpuSnapshot;

constexpr std::string_view kFine = "";

struct Explanation {
  std::string_view column;
  std::string_view meaning;
  Cell (*read)(const Gpu&);
  std::string_view (*advice)(const Gpu&);  // empty: nothing to do
};

bool has_reason(const Gpu& gpu, std::uint64_t bits) {
  return gpu.clock_events.active && (*gpu.clock_events.active & bits) != 0;
}

std::string_view advise_fan(const Gpu& gpu) {
  if (!gpu.fan_percent) return kFine;
  return *gpu.fan_percent == 0 && gpu.temperature.gpu && *gpu.temperature.gpu > 70
             ? "it stands still while the chip is hot: look at the fan"
             : kFine;
}

std::string_view advise_temperature(const Gpu& gpu) {
  if (!gpu.temperature.gpu) return kFine;
  if (has_reason(gpu, nvmlClocksThrottleReasonHwThermalSlowdown))
    return "the hardware slows it down: cooling, now";
  if (*gpu.temperature.gpu > 85)
    return "hot: clean fans and filters, look at the air flow, or lower the limit with -pl";
  if (gpu.temperature.margin && *gpu.temperature.margin <= 3) return "close to its limit: improve cooling";
  return kFine;
}

std::string_view advise_performance(const Gpu& gpu) {
  if (!gpu.performance_state) return kFine;
  const bool busy = gpu.utilization.gpu && *gpu.utilization.gpu > 50;
  return busy && *gpu.performance_state >= 5
             ? "busy, yet in a slow state: look at -q -d PERFORMANCE for the reason"
             : kFine;
}

std::string_view advise_power(const Gpu& gpu) {
  if (has_reason(gpu, nvmlClocksThrottleReasonHwPowerBrakeSlowdown)) {
    return "the power supply brakes it: cables, supply, rack limit";
  }
  if (has_reason(gpu, nvmlClocksEventReasonSwPowerCap))
    return "at its limit, which is normal under full load";
  return kFine;
}

std::string_view advise_memory(const Gpu& gpu) {
  if (!gpu.memory.used || !gpu.memory.total || *gpu.memory.total == 0) return kFine;
  return *gpu.memory.used > *gpu.memory.total / 100 * 97 ? "nearly full: the next allocation may fail"
                                                         : kFine;
}

std::string_view advise_utilization(const Gpu& gpu) {
  const auto& use = gpu.utilization;
  if (!use.gpu || !use.memory) return kFine;
  if (*use.gpu >= 70 && *use.memory < 40) return "bound by computing: normal";
  if (*use.gpu < 40 && *use.memory >= 70) return "bound by memory bandwidth";
  const bool holds_memory = gpu.compute_processes && !gpu.compute_processes->empty();
  if (*use.gpu < 20 && *use.memory < 20 && holds_memory) {
    return "processes, but little work: they wait for CPU, disk or network, or serve one request at a time";
  }
  return kFine;
}

std::string_view advise_ecc(const Gpu& gpu) {
  const auto& total = gpu.ecc.volatile_uncorrected.total;
  if (gpu.remapped.failure && *gpu.remapped.failure) return "a row could not be replaced: replace the board";
  if (total && *total > 0) return "memory failed: reset the GPU; replace the board when it comes back";
  if (gpu.modes.ecc.current && *gpu.modes.ecc.current == 0)
    return "errors go unnoticed; `smi -e 1` and a reset switch ECC on";
  return kFine;
}

std::string_view advise_persistence(const Gpu& gpu) {
  const auto& on = gpu.modes.persistence;
  return on && !*on ? "on a server, `smi -pm 1` saves seconds at every start" : kFine;
}

std::string_view advise_compute_mode(const Gpu& gpu) {
  const auto& mode = gpu.modes.compute;
  return mode && *mode == NVML_COMPUTEMODE_PROHIBITED ? "nothing may compute here; `smi -c 0` allows it"
                                                      : kFine;
}

std::string_view advise_nothing(const Gpu&) {
  return kFine;
}

Cell limit_and_use(const Gpu& gpu) {
  const Cell use = watts(gpu.power.usage), limit = watts(gpu.power.gpu.limit_requested);
  return use.absent ? use : word(format("{} of {}", with_unit(use), with_unit(limit)));
}

Cell memory_use(const Gpu& gpu) {
  const Cell used = mib(gpu.memory.used), total = mib(gpu.memory.total);
  return used.absent ? used : word(format("{} of {}", with_unit(used), with_unit(total)));
}

constexpr std::array kColumns = {
    Explanation{"Persistence-M", "the driver stays loaded when nobody uses the GPU",
                [](const Gpu& g) { return enabled_disabled(g.modes.persistence); }, advise_persistence},
    Explanation{"Bus-Id", "where it sits; the kernel's log names it so",
                [](const Gpu& g) { return text(g.pci.bus_id); }, advise_nothing},
    Explanation{"Disp.A", "a display takes memory of it",
                [](const Gpu& g) { return enabled_disabled(g.modes.display_active); }, advise_nothing},
    Explanation{"Volatile Uncorr. ECC",
                "memory errors since the driver was loaded that could not be corrected",
                [](const Gpu& g) { return number(g.ecc.volatile_uncorrected.total); }, advise_ecc},
    Explanation{"Fan", "what the fan is told to do; servers cool from outside and have none",
                [](const Gpu& g) { return number(g.fan_percent, "%"); }, advise_fan},
    Explanation{"Temp", "the chip's temperature", [](const Gpu& g) { return number(g.temperature.gpu, "C"); },
                advise_temperature},
    Explanation{"Perf", "P0 is full speed, P2 and P3 are lowered, P8 is idle", performance_state,
                advise_performance},
    Explanation{"Pwr:Usage/Cap", "what the board draws, and what it may", limit_and_use, advise_power},
    Explanation{"Memory-Usage", "memory held by processes; what a framework keeps for itself counts as used",
                memory_use, advise_memory},
    Explanation{"GPU-Util",
                "share of time in which any kernel ran; it does not say how well it filled the chip",
                [](const Gpu& g) { return number(g.utilization.gpu, "%"); }, advise_utilization},
    Explanation{"Compute M.", "how many processes may compute",
                [](const Gpu& g) { return named(g.modes.compute, kComputeModes); }, advise_compute_mode},
    Explanation{"MIG M.", "whether it is split into instances",
                [](const Gpu& g) { return named(g.modes.mig.current, kEnabledModes); }, advise_nothing},
};

std::string shown(const Cell& cell) {
  return cell.absent ? format("{} ({})", cell.text, driver::describe(cell.absent->reason)) : with_unit(cell);
}

}  // namespace

std::string explanations(const driver::MachineSnapshot& machine) {
  std::string out;
  for (const Gpu& gpu : machine.gpus) {
    out += gpu_line(gpu) + "\n";
    for (const Explanation& row : kColumns) {
      out += format("  {:<21}{}\n  {:21}{}\n", row.column, shown(row.read(gpu)), "", row.meaning);
      if (const std::string_view advice = row.advice(gpu); !advice.empty())
        out += format("  {:21}→ {}\n", "", advice);
    }
    out += "\n";
  }
  return out;
}

std::string explanations_json(const driver::MachineSnapshot& machine) {
  using Json = nlohmann::ordered_json;
  Json gpus = Json::array();
  for (const Gpu& gpu : machine.gpus) {
    Json columns = Json::array();
    for (const Explanation& row : kColumns) {
      Json object = {{"column", row.column}, {"meaning", row.meaning}};
      put_cell(object, "value", row.read(gpu));
      if (const std::string_view advice = row.advice(gpu); !advice.empty()) object["advice"] = advice;
      columns.push_back(std::move(object));
    }
    gpus.push_back({{"index", gpu.index}, {"columns", std::move(columns)}});
  }
  return Json{{"gpus", std::move(gpus)}}.dump(2) + "\n";
}

}  // namespace pagoda::smi
