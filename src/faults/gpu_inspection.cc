#include "faults/gpu_inspection.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/format.h"
#include "driver/version_number.h"
#include "faults/event_reader.h"
#include "faults/evidence_text.h"
#include "faults/fault_catalogue.h"
#include "faults/live_readings.h"
#include "faults/reading_rules.h"

namespace pagoda::faults {
namespace {

using driver::GpuSnapshot;

constexpr std::string_view kSource = "NVML";

Event event_of(std::string_view id, const std::string& evidence,
               std::initializer_list<std::pair<std::string_view, std::string>> fields) {
  Event event;
  event.fault = find_fault(id);
  for (const auto& [name, value] : fields) event.fields.set(name, value);
  event.evidence = {std::string(kSource), 0, "", evidence_text(evidence)};
  return event;
}

// nvmlDeviceGetPcieReplayCounter rises now and then on a good link: so many a minute and lane, by generation.
double replays_allowed_per_minute(double generation, double lanes) {
  constexpr std::array kPerLane = {0.15, 0.3, 0.48, 0.96, 1.92, 3.84};
  const auto row = static_cast<size_t>(std::clamp(generation, 1.0, double{kPerLane.size()})) - 1;
  return std::ceil(lanes * kPerLane[row]);
}

// The counter's rise; nothing where either reading is absent, or it was set to zero meanwhile.
template <class T>
double rise(const driver::Field<T>& before, const driver::Field<T>& after) {
  return before && after && *after >= *before ? static_cast<double>(*after - *before) : 0;
}

class Inspection {
 public:
  Inspection(const HostView& host, const GpuInspection& options, LoadWindow window, Examination& examination)
      : host_(host), options_(options), window_(std::move(window)), examination_(examination) {}

  std::vector<Event> run() {
    if (window_.full.gpus.empty()) {
      examination_.add(event_of("no-devices", "nvmlDeviceGetCount: 0", {}));
      return {};
    }
    see_driver();
    examination_.record(report_of(window_.full));
    for (const Snapshot& sample : window_.samples) examination_.record(sample);
    Snapshot summary;
    summary.kind = kSource;
    for (size_t i = 0; i < window_.full.gpus.size(); ++i) inspect(i, summary);
    examination_.judge(summary, std::string(kSource));
    for (const GpuReadings& readings : summary.gpus) {
      const auto gpu = static_cast<size_t>(std::stoul(readings.index));
      count_links(gpu, readings);
      count_replays(gpu, readings);
    }
    find_missing();
    std::vector<Event> xids;
    for (const driver::NvmlEvent& event : window_.events)
      xids.push_back(xid_event(event.data, label_of(event.gpu)));
    return xids;
  }

 private:
  std::string label_of(size_t gpu) const {
    return gpu < window_.full.gpus.size() ? report_of(window_.full.gpus[gpu]).label() : std::to_string(gpu);
  }

  void see_driver() {
    const driver::DriverReadings& driver = window_.full.driver;
    std::string text = format("driver {}", driver.version.value_or("of unknown version"));
    if (driver.cuda) text += format(", CUDA {}.{}", *driver.cuda / 1000, *driver.cuda % 1000 / 10);
    examination_.add_observation(
        {Step::kPresence, "NVML",
         format("{}; {} GPU{}", text, window_.full.gpus.size(), window_.full.gpus.size() == 1 ? "" : "s")});
  }

  void inspect(size_t gpu, Snapshot& summary) {
    const GpuSnapshot& snapshot = window_.full.gpus[gpu];
    for (const GpuSnapshot* look : {&snapshot, &window_.after.gpus[gpu]}) {
      switch (answering(*look)) {
        case Answering::kYes:
          continue;
        case Answering::kLost:
          return examination_.add(
              event_of("gpu-lost", format("GPU {}: GPU is lost", snapshot.index), {{"gpu", label_of(gpu)}}));
        case Answering::kHangs:
          return examination_.add(event_of("gpu-hangs",
                                           format("GPU {}: a call did not return in time", snapshot.index),
                                           {{"gpu", label_of(gpu)}}));
      }
    }
    GpuReadings readings = summary_of(window_, gpu);
    see_processes(gpu, readings);
    summary.gpus.push_back(std::move(readings));
  }

  // Step 4: NVML's list, and what /proc adds: a process in another container is in neither container's list.
  void see_processes(size_t gpu, GpuReadings& readings) {
    const GpuSnapshot& snapshot = window_.full.gpus[gpu];
    const auto running = driver::running_processes(snapshot);
    if (!running) return;
    std::vector<ProcessActivity> active;
    for (const driver::GpuProcess& process : *running) {
      const std::string name = process.name.value_or("?");
      const auto watched = window_.host.processes.find(process.pid);
      if (watched != window_.host.processes.end()) active.push_back(watched->second);
      examination_.add_observation(
          {Step::kMemory, format("process {} ({})", process.pid, name),
           process.memory ? format("{} MiB of GPU {}", *process.memory >> 20, snapshot.index)
                          : format("on GPU {}, how much it holds is not told", snapshot.index)});
    }
    examination_.add_activity(readings.label(), std::move(active), window_.host.network);
    if (!running->empty() || options_.simulated || !snapshot.identity.minor) return;
    const std::string device = format("/dev/nvidia{}", *snapshot.identity.minor);
    const auto holds = [&](const DeviceHolder& holder) {
      return std::find(holder.devices.begin(), holder.devices.end(), device) != holder.devices.end();
    };
    const auto& holders = host_.holders.holders;
    const auto count = std::count_if(holders.begin(), holders.end(), holds);
    if (count > 0) readings.processes = static_cast<int>(count);
    if (count == 0 && host_.holders.sees_all) say_orphaned(readings);
  }

  // Nobody holds the device, everybody was looked at, and memory is in use all the same.
  void say_orphaned(GpuReadings& readings) {
    const double used = readings[Quantity::kMemoryUsed].value.value_or(0);
    const double total = readings[Quantity::kMemoryTotal].value.value_or(0);
    if (used < thresholds::kHeldWithoutProcessMib || used < thresholds::kHeldShare * total) return;
    readings.processes = std::nullopt;  // said here, not by the rule for reports
    examination_.add(event_of("memory-orphaned", readings[Quantity::kMemoryUsed].evidence,
                              {{"gpu", readings.label()}, {"used", format("{:.0f}", used)}}));
  }

  void count_links(size_t gpu, const GpuReadings& readings) {
    const auto& before = window_.full.gpus[gpu].nvlink.links;
    const auto& after = window_.after.gpus[gpu].nvlink.links;
    for (size_t link = 0; link < std::min(before.size(), after.size()); ++link) {
      const double errors = rise(before[link].crc_flit_errors, after[link].crc_flit_errors) +
                            rise(before[link].crc_data_errors, after[link].crc_data_errors);
      const double rate = errors / window_.seconds;
      if (rate < thresholds::kNvlinkErrorsPerSecond) continue;
      examination_.add(event_of(
          "nvlink-errors", format("nvlink {}: {:.0f} CRC errors in {:.1f} s", link, errors, window_.seconds),
          {{"gpu", readings.label()}, {"link", std::to_string(link)}, {"rate", format("{:.0f}", rate)}}));
    }
  }

  void count_replays(size_t gpu, const GpuReadings& readings) {
    const double replays = rise(window_.full.gpus[gpu].pci.replays, window_.after.gpus[gpu].pci.replays);
    const double per_minute = replays * 60 / window_.seconds;
    const double allowed = replays_allowed_per_minute(readings[Quantity::kPcieGeneration].value.value_or(1),
                                                      readings[Quantity::kPcieWidth].value.value_or(1));
    if (replays < thresholds::kFewReplays || per_minute <= allowed) return;
    examination_.add(event_of("pcie-replays",
                              format("pcie replays: {:.0f} in {:.1f} s", replays, window_.seconds),
                              {{"gpu", readings.label()},
                               {"port", readings.label()},
                               {"rate", format("{:.0f}", per_minute)},
                               {"allowed", format("{:.0f}", allowed)}}));
  }

  // On the bus, held by the kernel module, and not in NVML's list.
  void find_missing() {
    if (!host_.whole_machine) return;
    std::set<std::string> seen;
    for (const GpuSnapshot& gpu : window_.full.gpus) seen.insert(report_of(gpu).address);
    if (seen.contains("")) return;  // one that does not tell its address may be any
    for (const std::string& address : host_.claimed) {
      if (!seen.contains(address))
        examination_.add(event_of("gpu-missing", "not in NVML's list", {{"gpu", address}}));
    }
  }

  const HostView& host_;
  const GpuInspection& options_;
  const LoadWindow window_;
  Examination& examination_;
};

}  // namespace

std::vector<Event> inspect_gpus(const driver::Nvml& nvml, const driver::HostRoot& root, const HostView& host,
                                const GpuInspection& options, Examination& examination) {
  return Inspection(host, options, watch_load(nvml, root, options.window), examination).run();
}

void inspect_absence(const driver::NvmlOpenFailure& failure, const HostView& host, bool simulated,
                     Examination& examination) {
  const std::string code(driver::name_of(failure.code));
  switch (failure.code) {
    case NVML_ERROR_LIBRARY_NOT_FOUND:
      if (host.module_loaded)
        return examination.add(
            event_of("libcuda-missing", failure.message, {{"library", "libnvidia-ml.so.1"}}));
      break;
    case NVML_ERROR_LIB_RM_VERSION_MISMATCH: {
      // "13.595.71.05": CUDA's major release, then the driver's version.
      const std::string& version = failure.library_version;
      const size_t point = version.find('.');
      return examination.add(
          event_of("nvml-mismatch", "nvmlInit: " + code,
                   {{"client", point == std::string::npos ? version : version.substr(point + 1)}}));
    }
    case NVML_ERROR_DRIVER_NOT_LOADED:
      // The library alone, on a machine without a GPU, is no fault.
      if (host.has_gpus || simulated)
        return examination.add(event_of("nvml-not-running", "nvmlInit: " + code, {}));
      break;
    case NVML_ERROR_NO_PERMISSION:
      return examination.add(event_of("nvml-permission", "nvmlInit: " + code, {}));
    case NVML_ERROR_GPU_IS_LOST:
      return examination.add(event_of("gpu-lost", "nvmlInit: " + code, {}));
    case NVML_ERROR_TIMEOUT:
      return examination.add(event_of("driver-hangs", "nvmlInit: no answer in time", {}));
    default:
      return examination.add(event_of("nvml-unknown-error", "nvmlInit: " + code, {}));
  }
  examination.add_gap("steps 2 and 3 (temperature, power, ECC, links, load) need NVML: " + failure.message);
}

Event xid_event(unsigned long long xid, std::string_view gpu) {
  Fields fields;
  fields.set("gpu", std::string(gpu));
  fields.set("xid", std::to_string(xid));
  const FaultRow* row = complete_xid(fields);
  Event event;
  event.fault = row;
  event.fields = std::move(fields);
  event.evidence = {std::string(kSource), 0, "", format("GPU {}: XID {} (event)", gpu, xid)};
  return event;
}

}  // namespace pagoda::faults
