#include <array>

#include "base/format.h"
#include "driver/gpu_snapshot_reader.h"
#include "smi/cell.h"
#include "smi/gpu_field_cells.h"
#include "smi/json_cell.h"
#include "smi/monitor_columns.h"
#include "smi/monitor_line.h"

namespace pagoda::smi {
namespace {

struct Moment {
  const driver::GpuSnapshot& gpu;
  const driver::GpuSnapshot* before;  // null: the first line
  double seconds;                     // since `before`
};

struct Column {
  char group;
  std::string_view name, unit;
  unsigned sections;
  std::string (*read)(const Moment&);
};

std::string or_dash(const Cell& cell) {
  return cell.absent ? "-" : cell.text;
}

std::string whole_watts(const driver::Number& milliwatts) {
  return milliwatts ? format("{}", *milliwatts / 1000) : "-";
}

// Time at the limit since the line before, as a share of that time.
std::string share(const driver::Count& now, const driver::Count& before, double seconds) {
  if (!now || !before || seconds <= 0 || *now < *before) return "-";
  const double percent = static_cast<double>(*now - *before) / 1e4 / seconds;
  return format("{:.0f}", std::min(percent, 100.0));
}

std::string power_share(const Moment& m) {
  if (m.before == nullptr) return "-";
  return share(m.gpu.clock_events.sw_power_cap_us, m.before->clock_events.sw_power_cap_us, m.seconds);
}

std::string throttled_by_heat(const Moment& m) {
  const auto& active = m.gpu.clock_events.active;
  if (!active) return "-";
  constexpr std::uint64_t kHeat =
      nvmlClocksEventReasonSwThermalSlowdown | nvmlClocksThrottleReasonHwThermalSlowdown;
  return (*active & kHeat) != 0 ? "1" : "0";
}

std::string whole_megabytes(const driver::Count& bytes) {
  return bytes ? format("{}", whole_mib(*bytes)) : "-";
}

std::string megabytes_per_second(const driver::Number& kb_per_s) {
  return kb_per_s ? format("{}", *kb_per_s / 1000) : "-";
}

constexpr std::array kColumns = {
    Column{'p', "pwr", "W", driver::kPowerSection,
           [](const Moment& m) { return whole_watts(m.gpu.power.usage); }},
    Column{'p', "gtemp", "C", driver::kTemperatureSection,
           [](const Moment& m) { return or_dash(number(m.gpu.temperature.gpu)); }},
    Column{'p', "mtemp", "C", driver::kTemperatureSection,
           [](const Moment& m) { return or_dash(number(m.gpu.temperature.memory)); }},
    Column{'u', "sm", "%", driver::kUtilizationSection,
           [](const Moment& m) { return or_dash(number(m.gpu.utilization.gpu)); }},
    Column{'u', "mem", "%", driver::kUtilizationSection,
           [](const Moment& m) { return or_dash(number(m.gpu.utilization.memory)); }},
    Column{'u', "enc", "%", driver::kUtilizationSection,
           [](const Moment& m) { return or_dash(number(m.gpu.utilization.encoder)); }},
    Column{'u', "dec", "%", driver::kUtilizationSection,
           [](const Moment& m) { return or_dash(number(m.gpu.utilization.decoder)); }},
    Column{'u', "jpg", "%", driver::kUtilizationSection,
           [](const Moment& m) { return or_dash(number(m.gpu.utilization.jpeg)); }},
    Column{'u', "ofa", "%", driver::kUtilizationSection,
           [](const Moment& m) { return or_dash(number(m.gpu.utilization.ofa)); }},
    Column{'c', "mclk", "MHz", driver::kClocksSection,
           [](const Moment& m) { return or_dash(number(m.gpu.clocks.current.memory)); }},
    Column{'c', "pclk", "MHz", driver::kClocksSection,
           [](const Moment& m) { return or_dash(number(m.gpu.clocks.current.graphics)); }},
    Column{'v', "pviol", "%", driver::kClockEventsSection, power_share},
    Column{'v', "tviol", "bool", driver::kClockEventsSection, throttled_by_heat},
    Column{'m', "fb", "MB", driver::kMemorySection,
           [](const Moment& m) { return whole_megabytes(m.gpu.memory.used); }},
    Column{'m', "bar1", "MB", driver::kMemorySection,
           [](const Moment& m) { return whole_megabytes(m.gpu.bar1.used); }},
    Column{'m', "ccpm", "MB", driver::kMemorySection,
           [](const Moment& m) { return whole_megabytes(m.gpu.protected_memory.used); }},
    Column{'e', "sbecc", "errs", driver::kEccSection,
           [](const Moment& m) { return or_dash(number(m.gpu.ecc.aggregate_corrected.total)); }},
    Column{'e', "dbecc", "errs", driver::kEccSection,
           [](const Moment& m) { return or_dash(number(m.gpu.ecc.aggregate_uncorrected.total)); }},
    Column{'e', "pci", "errs", driver::kPciSection,
           [](const Moment& m) { return or_dash(number(m.gpu.pci.replays)); }},
    Column{'t', "rxpci", "MB/s", driver::kPciSection,
           [](const Moment& m) { return megabytes_per_second(m.gpu.pci.rx_kb_per_s); }},
    Column{'t', "txpci", "MB/s", driver::kPciSection,
           [](const Moment& m) { return megabytes_per_second(m.gpu.pci.tx_kb_per_s); }},
};

std::vector<const Column*> columns_of(const MonitorLayout& layout) {
  std::vector<const Column*> chosen;
  for (const char group : layout.groups) {
    for (const Column& column : kColumns) {
      if (column.group == group) chosen.push_back(&column);
    }
  }
  return chosen;
}

}  // namespace

unsigned device_monitor_sections(const MonitorLayout& layout) {
  unsigned sections = 0;
  for (const Column* column : columns_of(layout)) sections |= column->sections;
  return sections;
}

std::string device_monitor_header(const MonitorLayout& layout) {
  std::string names = monitor_heads(layout).first + "# gpu", units = monitor_heads(layout).second + "# Idx";
  for (const Column* column : columns_of(layout)) {
    names += format("{:>7}", column->name);
    units += format("{:>7}", column->unit);
  }
  return names + " \n" + units + " \n";
}

std::string device_monitor_rows(const MonitorLayout& layout, const driver::MachineSnapshot& now,
                                const driver::MachineSnapshot* before) {
  const double seconds =
      before == nullptr ? 0 : std::chrono::duration<double>(now.time - before->time).count();
  std::string out;
  for (size_t i = 0; i < now.gpus.size(); ++i) {
    const driver::GpuSnapshot* earlier = before == nullptr ? nullptr : &before->gpus[i];
    std::string line = monitor_stamp(layout, now.time) + format("{:>5}", now.gpus[i].index);
    for (const Column* column : columns_of(layout)) {
      line += format("{:>7}", column->read({now.gpus[i], earlier, seconds}));
    }
    out += line + " \n";
  }
  return out;
}

std::string device_monitor_json(const MonitorLayout& layout, const driver::MachineSnapshot& now,
                                const driver::MachineSnapshot* before) {
  const double seconds =
      before == nullptr ? 0 : std::chrono::duration<double>(now.time - before->time).count();
  std::string out;
  for (size_t i = 0; i < now.gpus.size(); ++i) {
    nlohmann::ordered_json row = {{"time", csv_time(now.time)}, {"gpu", now.gpus[i].index}};
    for (const Column* column : columns_of(layout)) {
      const std::string value =
          column->read({now.gpus[i], before == nullptr ? nullptr : &before->gpus[i], seconds});
      const std::string key = format("{}_{}", column->name, unit_in_key(column->unit));
      if (value == "-") {
        row[key] = nullptr;
      } else {
        row[key] = std::stoll(value);
      }
    }
    out += row.dump() + "\n";
  }
  return out;
}

}  // namespace pagoda::smi
