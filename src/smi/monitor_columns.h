// The rolling tables: `dmon`, one line per GPU and interval, and `pmon`, one per process.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "driver/gpu_snapshot.h"

namespace pagoda::smi {

struct MonitorLayout {
  std::string groups;               // letters of -s, in the order of the columns
  bool date = false, time = false;  // -o
};
// `letters` within `known`; the error names the letter.
Result<std::string> read_metric_groups(std::string_view letters, std::string_view known);

inline constexpr std::string_view kDeviceGroups = "pucvmet", kDeviceDefault = "puc";
inline constexpr std::string_view kProcessGroups = "um", kProcessDefault = "u";

unsigned device_monitor_sections(const MonitorLayout& layout);
std::string device_monitor_header(const MonitorLayout& layout);
// `before`: the snapshot of the interval before, for what is a rate; null at first.
std::string device_monitor_rows(const MonitorLayout& layout, const driver::MachineSnapshot& now,
                                const driver::MachineSnapshot* before);

// One JSON object per GPU, a line each.
std::string device_monitor_json(const MonitorLayout& layout, const driver::MachineSnapshot& now,
                                const driver::MachineSnapshot* before);

unsigned process_monitor_sections();
std::string process_monitor_header(const MonitorLayout& layout);
std::string process_monitor_rows(const MonitorLayout& layout, const driver::MachineSnapshot& now);

// One JSON object per process, a line each.
std::string process_monitor_json(const driver::MachineSnapshot& now);

}  // namespace pagoda::smi
