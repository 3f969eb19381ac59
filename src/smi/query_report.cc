#include "smi/query_report.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "driver/gpu_snapshot_reader.h"
#include "smi/query_row.h"
#include "smi/summary_table.h"

namespace pagoda::smi {
namespace {

constexpr std::array kDisplayNames = {
    DisplayName{"MEMORY", kMemory, driver::kMemorySection},
    DisplayName{"UTILIZATION", kUtilization, driver::kUtilizationSection | driver::kSamplesSection},
    DisplayName{"ECC", kEcc, driver::kEccSection | driver::kModesSection},
    DisplayName{"TEMPERATURE", kTemperature, driver::kTemperatureSection},
    DisplayName{"POWER", kPower, driver::kPowerSection | driver::kSamplesSection},
    DisplayName{"CLOCK", kClock, driver::kClocksSection | driver::kSamplesSection},
    DisplayName{"COMPUTE", kCompute, driver::kModesSection},
    DisplayName{"PIDS", kPids, driver::kProcessesSection},
    DisplayName{"PERFORMANCE", kPerformance,
                driver::kPerformanceSection | driver::kClockEventsSection | driver::kModesSection},
    DisplayName{"SUPPORTED_CLOCKS", kSupportedClocks, driver::kSupportedClocksSection},
    DisplayName{"PAGE_RETIREMENT", kPageRetirement, driver::kRetiredSection},
    DisplayName{"ACCOUNTING", kAccounting, driver::kAccountedSection | driver::kModesSection},
    DisplayName{"ENCODER_STATS", kEncoderStats, driver::kEncoderSection},
    DisplayName{"SUPPORTED_GPU_TARGET_TEMP", kSupportedTargetTemp, driver::kTemperatureSection},
    DisplayName{"VOLTAGE", kVoltage, 0},
    DisplayName{"FBC_STATS", kFbcStats, driver::kEncoderSection},
    DisplayName{"ROW_REMAPPER", kRowRemapper, driver::kRemappedSection},
    DisplayName{"GSP_FIRMWARE_VERSION", kGspFirmware, driver::kModesSection},
    DisplayName{"POWER_SMOOTHING", kPowerSmoothing, driver::kPowerSmoothingSection},
    DisplayName{"POWER_PROFILES", kPowerProfiles, driver::kPowerSection},
};

bool wanted(const QueryRow& row, unsigned displays) {
  if (displays == 0) return (row.displays & kOnlyByDisplay) == 0;
  return (row.displays & displays & ~static_cast<unsigned>(kOnlyByDisplay)) != 0;
}

// Hangs rows below the node of the depth above; a row that is left out takes what is below it along.
class TreeBuilder {
 public:
  TreeBuilder(ReportNode& root, RowContext context, unsigned displays)
      : path_{&root}, context_(context), displays_(displays) {}

  void add(std::span<const QueryRow> rows) {
    for (const QueryRow& row : rows) add(row);
  }

 private:
  void add(const QueryRow& row) {
    const size_t depth = static_cast<size_t>(row.depth);
    if (depth > path_.size()) return;  // below a row that was left out
    path_.resize(depth);
    if (depth == 1 && !wanted(row, displays_)) return;
    if (row.when != nullptr && !row.when(context_)) return;
    ReportNode node{.label = std::string(row.label), .tag = std::string(row.tag), .cell = std::nullopt};
    if (row.read != nullptr) node.cell = row.read(context_.gpu);
    if (row.expand != nullptr) row.expand(context_, node);
    path_.back()->children.push_back(std::move(node));
    path_.push_back(&path_.back()->children.back());
  }

  // path_[d]: the last node of depth d. A node moves when a sibling comes, and then its pointer is replaced
  // too.
  std::vector<ReportNode*> path_;
  RowContext context_;
  unsigned displays_;
};

std::string cuda_version(const driver::DriverReadings& driver) {
  return driver.cuda ? format("{}.{}", *driver.cuda / 1000, *driver.cuda % 1000 / 10)
                     : std::string(words_of(driver.cuda.error()));
}

void add_driver(const driver::MachineSnapshot& machine, const OutputStyle& style, ReportNode& log) {
  const auto add = [&](std::string_view label, std::string_view tag, Cell cell,
                       std::string_view instead = {}) {
    ReportNode node{.label = std::string(label), .tag = std::string(tag), .cell = std::move(cell)};
    if (!instead.empty())
      node.note = format(" [Deprecated; will be removed in CUDA 14.0. Use {} instead]", instead);
    log.children.push_back(std::move(node));
  };
  const bool renamed = style.names_kmd_and_umd();
  add("Timestamp", "timestamp", word(calendar_time(machine.time)));
  add("Driver Version", "driver_version", text(machine.driver.version), renamed ? "KMD Version" : "");
  add("CUDA Version", "cuda_version", word(cuda_version(machine.driver)), renamed ? "CUDA UMD Version" : "");
  if (!renamed) return;
  add("KMD Version", "kmd_version", text(machine.driver.version));
  add("CUDA UMD Version", "cuda_umd_version", word(cuda_version(machine.driver)));
}

}  // namespace

std::span<const DisplayName> display_names() {
  return kDisplayNames;
}

Result<unsigned> read_displays(std::string_view names) {
  unsigned displays = 0;
  while (!names.empty()) {
    const size_t comma = names.find(',');
    const std::string_view name = names.substr(0, comma);
    const auto row = std::find_if(kDisplayNames.begin(), kDisplayNames.end(),
                                  [&](const auto& r) { return r.name == name; });
    if (row == kDisplayNames.end()) {
      std::string known;
      for (const DisplayName& display : kDisplayNames)
        known += format("{}{}", known.empty() ? "" : ", ", display.name);
      return fail(ErrorCode::kInvalidArgument,
                  format("Display type \"{}\" is not known; there are {}.", name, known), "d");
    }
    displays |= row->display;
    names.remove_prefix(comma == std::string_view::npos ? names.size() : comma + 1);
  }
  return displays;
}

unsigned query_sections(unsigned displays) {
  constexpr unsigned kByDisplayAlone = driver::kSamplesSection | driver::kSupportedClocksSection |
                                       driver::kMigProfilesSection | driver::kProcessUtilizationSection |
                                       driver::kAccountedSection | driver::kTopologySection |
                                       driver::kNvLinkSection;
  if (displays == 0) return driver::kAllSections & ~kByDisplayAlone;
  unsigned sections = driver::kPciSection;
  for (const DisplayName& row : kDisplayNames) {
    if ((displays & row.display) != 0) sections |= row.sections;
  }
  return sections;
}

ReportNode query_report(const driver::MachineSnapshot& machine, const OutputStyle& style, unsigned displays) {
  ReportNode log{.label = "", .tag = "nvidia_smi_log", .cell = std::nullopt};
  add_driver(machine, style, log);
  Cell attached = word(format("{}", machine.attached));
  attached.numeric = true;
  log.children.push_back({.label = "Attached GPUs", .tag = "attached_gpus", .cell = attached});
  for (const driver::GpuSnapshot& gpu : machine.gpus) {
    const std::string bus_id = text(gpu.pci.bus_id).text;
    ReportNode node{.label = "GPU " + bus_id, .tag = "gpu", .cell = std::nullopt};
    node.id = bus_id;
    TreeBuilder builder(node, {gpu, style}, displays);
    for (const auto rows : {identity_rows(), bus_rows(), activity_rows(), ecc_rows(), power_rows(),
                            clock_rows(), process_rows()}) {
      builder.add(rows);
    }
    log.children.push_back(std::move(node));
  }
  return log;
}

}  // namespace pagoda::smi
