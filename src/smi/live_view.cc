#include "smi/live_view.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "driver/gpu_snapshot_reader.h"
#include "smi/cell.h"
#include "smi/process_names.h"
#include "smi/summary_table.h"

namespace pagoda::smi {
namespace {

constexpr std::array<std::string_view, 8> kHeights = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

int percent_of(const driver::Count& part, const driver::Count& whole) {
  if (!part || !whole || *whole == 0) return -1;
  return static_cast<int>(*part * 100 / *whole);
}

// Code points rather than bytes: the bars are three bytes each.
size_t columns_of(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string cut_to(std::string text, int width) {
  while (columns_of(text) > static_cast<size_t>(std::max(width, 0))) {
    while (!text.empty() && (text.back() & 0xC0) == 0x80) text.pop_back();
    text.pop_back();
  }
  return text;
}

Tone heat(const driver::GpuSnapshot& gpu) {
  if (!gpu.temperature.gpu)
    return gpu.temperature.gpu.error().reason == driver::AbsenceReason::kLost ? Tone::kHot : Tone::kDim;
  if (*gpu.temperature.gpu > 85) return Tone::kHot;
  return *gpu.temperature.gpu > 75 ? Tone::kWarm : Tone::kGood;
}

void add_gpu(const driver::GpuSnapshot& gpu, const LiveHistory::Series& series, int width,
             std::vector<LiveLine>& out) {
  out.push_back(
      {format("GPU {} {}  {}  {}  {} of {}  fan {}", gpu.index, text(gpu.identity.name).text,
              gpu.performance_state ? format("P{}", *gpu.performance_state) : "P?",
              with_unit(number(gpu.temperature.gpu, "°C")), with_unit(watts(gpu.power.usage)),
              with_unit(watts(gpu.power.gpu.limit_requested)), with_unit(number(gpu.fan_percent, "%"))),
       heat(gpu)});
  const int bar_width = std::clamp(width / 4, 10, 30);
  const int spark_width = std::max(0, width - bar_width - 22);
  const int busy = gpu.utilization.gpu ? static_cast<int>(*gpu.utilization.gpu) : -1;
  out.push_back({format("  load   {} {}", bar(busy, bar_width), sparkline(series.utilization, spark_width)),
                 Tone::kPlain});
  out.push_back({format("  memory {} {}", bar(percent_of(gpu.memory.used, gpu.memory.total), bar_width),
                        sparkline(series.memory, spark_width)),
                 Tone::kPlain});
}

void add_processes(const driver::MachineSnapshot& machine, std::vector<LiveLine>& out) {
  out.push_back(
      {format("{:>3} {:>9} {:>4} {:>5} {:>10}  {}", "GPU", "PID", "TYPE", "SM%", "MEMORY", "PROCESS"),
       Tone::kHead});
  struct Row {
    unsigned gpu;
    driver::GpuProcess process;
    std::string sm;
  };
  std::vector<Row> rows;
  for (const driver::GpuSnapshot& gpu : machine.gpus) {
    const auto processes = driver::running_processes(gpu);
    if (!processes) continue;
    for (const driver::GpuProcess& process : *processes) {
      std::string sm = "-";
      if (gpu.process_utilization) {
        for (const auto& use : *gpu.process_utilization) {
          if (use.pid == process.pid && use.sm) sm = format("{}", *use.sm);
        }
      }
      rows.push_back({gpu.index, process, sm});
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return (a.process.memory ? *a.process.memory : 0) > (b.process.memory ? *b.process.memory : 0);
  });
  for (const Row& row : rows) {
    out.push_back(
        {format("{:>3} {:>9} {:>4} {:>5} {:>10}  {}", row.gpu, row.process.pid, process_type(row.process),
                row.sm, with_unit(mib(row.process.memory)), process_name(row.process)),
         Tone::kPlain});
  }
  if (rows.empty()) out.push_back({"no process on these GPUs", Tone::kDim});
}

}  // namespace

void LiveHistory::add(const driver::MachineSnapshot& machine) {
  for (const driver::GpuSnapshot& gpu : machine.gpus) {
    Series& series = series_[gpu.index];
    series.utilization.push_back(gpu.utilization.gpu ? static_cast<int>(*gpu.utilization.gpu) : -1);
    series.memory.push_back(percent_of(gpu.memory.used, gpu.memory.total));
    for (auto* values : {&series.utilization, &series.memory}) {
      if (values->size() > kKept) values->pop_front();
    }
  }
}

const LiveHistory::Series& LiveHistory::of(unsigned gpu) const {
  static const Series kNone;
  const auto found = series_.find(gpu);
  return found == series_.end() ? kNone : found->second;
}

std::string sparkline(const std::deque<int>& percents, int width) {
  std::string out;
  const size_t shown = std::min(percents.size(), static_cast<size_t>(std::max(width, 0)));
  for (size_t i = percents.size() - shown; i < percents.size(); ++i) {
    const int percent = std::min(percents[i], 100);
    out += percent < 0 ? " " : kHeights[static_cast<size_t>(percent) * 7 / 100];
  }
  return out;
}

std::string bar(int percent, int width) {
  if (percent < 0) return format("[{:<{}}]  N/A", "", width);
  const int filled = std::min(percent, 100) * width / 100;
  std::string out = "[";
  for (int i = 0; i < width; ++i) out += i < filled ? "█" : " ";
  return out + format("] {:>3}%", percent);
}

unsigned live_sections() {
  return driver::kIdentitySection | driver::kPerformanceSection | driver::kTemperatureSection |
         driver::kPowerSection | driver::kUtilizationSection | driver::kMemorySection |
         driver::kProcessesSection | driver::kProcessUtilizationSection;
}

std::vector<LiveLine> live_view(const driver::MachineSnapshot& machine, const LiveHistory& history, int width,
                                int height) {
  std::vector<LiveLine> out;
  out.push_back({format("pagoda smi   driver {}   {}   q ends", text(machine.driver.version).text,
                        calendar_time(machine.time)),
                 Tone::kHead});
  for (const driver::GpuSnapshot& gpu : machine.gpus) add_gpu(gpu, history.of(gpu.index), width, out);
  out.push_back({"", Tone::kPlain});
  add_processes(machine, out);
  if (out.size() > static_cast<size_t>(std::max(height, 1))) {
    out.resize(static_cast<size_t>(std::max(height, 1)));
    out.back() = {"… the screen is too small for the rest", Tone::kDim};
  }
  for (LiveLine& line : out) line.text = cut_to(std::move(line.text), width);
  return out;
}

}  // namespace pagoda::smi
