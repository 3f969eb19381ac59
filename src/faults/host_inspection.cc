#include "faults/host_inspection.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/format.h"
#include "driver/host_facts.h"
#include "faults/driver_facts.h"
#include "faults/event_reader.h"
#include "faults/evidence_text.h"
#include "faults/fault_catalogue.h"
#include "faults/kernel_log_reader.h"

namespace pagoda::faults {
namespace {

using driver::HostFacts;
using driver::PciDevice;

class Inspection {
 public:
  Inspection(const driver::HostRoot& root, Examination& examination)
      : root_(root), examination_(examination), facts_(driver::read_host_facts(root)) {}

  HostView run() {
    view_.has_gpus = !facts_.gpus.empty();
    view_.module_loaded = facts_.loaded.has_value();
    view_.whole_machine = shows_whole_machine(root_);
    inspect_bus();
    inspect_driver();
    inspect_fabric();
    inspect_holders();
    return std::move(view_);
  }

 private:
  void say(std::string_view id, std::string_view source, const std::string& text,
           std::initializer_list<std::pair<std::string_view, std::string>> fields) {
    Event event;
    event.fault = find_fault(id);
    for (const auto& [name, value] : fields) event.fields.set(name, value);
    event.evidence = {std::string(source), 0, "", evidence_text(text)};
    examination_.add(std::move(event));
  }

  void see(Step step, std::string subject, std::string text) {
    examination_.add_observation({step, std::move(subject), std::move(text)});
  }

  static std::string driver_link(const PciDevice& gpu) {
    return "/sys/bus/pci/devices/" + gpu.address + "/driver";
  }

  void inspect_bus() {
    if (facts_.gpus.empty()) see(Step::kPresence, "PCI bus", "no NVIDIA GPU");
    for (const PciDevice& gpu : facts_.gpus) {
      const std::string& owner = gpu.kernel_driver;
      if (owner == "nvidia") view_.claimed.insert(short_address(gpu.address));
      if (owner == "nouveau") {
        say("nouveau", driver_link(gpu), "driver: nouveau",
            {{"gpu", short_address(gpu.address)}, {"gpu_full", gpu.address}});
        continue;
      }
      const std::string how = owner.empty()         ? "no driver"
                              : owner == "vfio-pci" ? "given to a virtual machine (vfio-pci)"
                                                    : "driver " + owner;
      see(Step::kPresence, "GPU " + gpu.address,
          format("{}, {}", gpu.name.empty() ? name_of_device(gpu.device) : gpu.board_name(), how));
    }
  }

  void inspect_driver() {
    std::vector<std::string> unclaimed;
    for (const PciDevice& gpu : facts_.gpus) {
      if (gpu.kernel_driver.empty()) unclaimed.push_back(gpu.address);
    }
    if (!facts_.loaded) {
      if (unclaimed.empty()) return;
      say("module-not-loaded", "/proc/modules", "no module nvidia",
          {{"count", std::to_string(unclaimed.size())},
           {"gpu_list", format("{}", fmt::join(unclaimed, ", "))}});
      return;
    }
    const std::string module = facts_.loaded->version.text();
    see(Step::kPresence, "NVIDIA kernel module", module);
    compare_library(module);
    fit_chips(module);
    for (const std::string& address : unclaimed)
      say("gpu-missing", "/sys/bus/pci/devices/" + address + "/driver", "no driver bound",
          {{"gpu", short_address(address)}});
    if (!view_.claimed.empty()) inspect_device_files();
  }

  // The library that programs get, or where no link says, any of the module's version.
  void compare_library(const std::string& module) {
    std::string library;
    for (const auto& in_use : {facts_.libcuda, facts_.libnvidia_ml}) {
      if (in_use && (library.empty() || library == module)) library = in_use->version.text();
    }
    if (!facts_.libcuda && !facts_.libnvidia_ml) {
      for (const driver::DriverLibrary& found : facts_.libraries) {
        if (found.name == "libcuda" && library != module) library = found.version.text();
      }
    }
    if (library.empty() || library == module) return;
    say("driver-mismatch", "/proc/driver/nvidia/version", root_.read_text("/proc/driver/nvidia/version"),
        {{"client", library}, {"module", module}});
  }

  void fit_chips(const std::string& module) {
    for (const PciDevice& gpu : facts_.gpus) {
      if (gpu.chip == nullptr || gpu.kernel_driver == "vfio-pci") continue;
      const std::string name = name_of_device(gpu.device), branch = last_branch_of_device(gpu.device);
      const bool open = facts_.loaded->kind == driver::ModuleKind::kOpen;
      if (open && gpu.chip->open_module == driver::OpenModule::kUnsupported) {
        say("open-module-unsupported", "/proc/driver/nvidia/version",
            root_.read_text("/proc/driver/nvidia/version"),
            {{"gpu", short_address(gpu.address)}, {"chip", name}, {"branch", branch}});
      } else if (gpu.chip->last_branch != 0 && facts_.loaded->version.major() > gpu.chip->last_branch) {
        say("legacy-gpu", "/proc/driver/nvidia/version", root_.read_text("/proc/driver/nvidia/version"),
            {{"gpu", short_address(gpu.address)}, {"chip", name}, {"branch", branch}, {"version", module}});
      } else if (!open && facts_.loaded->kind == driver::ModuleKind::kProprietary &&
                 gpu.needs_open_module()) {
        say("new-gpu", "/proc/driver/nvidia/version", root_.read_text("/proc/driver/nvidia/version"),
            {{"gpu", short_address(gpu.address)}, {"chip", name}, {"version", module}});
      }
    }
  }

  void inspect_device_files() {
    constexpr std::string_view kControl = "/dev/nvidiactl";
    const auto& others = facts_.nodes.not_devices;
    // A folder that stands for a machine holds plain files; on the machine itself they are a fault.
    const bool laid_out =
        !root_.is_this_machine() && std::find(others.begin(), others.end(), kControl) != others.end();
    if (facts_.nodes.find(kControl) == nullptr && !laid_out)
      say("device-files-missing", kControl, "not there", {});
  }

  void inspect_fabric() {
    if (facts_.nvswitches.empty() || !facts_.loaded) return;
    const driver::DriverServices& services = facts_.services;
    if (services.fabric_manager_version && *services.fabric_manager_version != facts_.loaded->version)
      say("fabric-manager-version", "installed packages",
          "fabric manager " + services.fabric_manager_version->text(),
          {{"client", services.fabric_manager_version->text()}, {"module", facts_.loaded->version.text()}});
    if (!services.fabric_manager_running && view_.whole_machine)
      say("fabric-manager-stopped", "/proc", "no process nv-fabricmanager",
          {{"count", std::to_string(facts_.nvswitches.size())}});
  }

  void inspect_holders() {
    view_.holders = find_device_holders(root_);
    for (const DeviceHolder& holder : view_.holders.holders) {
      const std::string devices = format("{}", fmt::join(holder.devices, ", "));
      if (holder.dead) {
        say("zombie-holder", format("/proc/{}/stat", holder.pid), "state Z, holds " + devices,
            {{"pid", std::to_string(holder.pid)}, {"process", holder.process}, {"device", devices}});
        continue;
      }
      see(Step::kMemory, format("process {} ({})", holder.pid, holder.process),
          format("holds {}{}", devices,
                 holder.container.empty() ? "" : " from container " + holder.container));
    }
    if (view_.holders.hidden > 0 && !facts_.gpus.empty())
      examination_.add_gap(
          format("the open files of {} other users' processes: run as root to see who holds the GPUs",
                 view_.holders.hidden));
  }

  const driver::HostRoot& root_;
  Examination& examination_;
  const HostFacts facts_;
  HostView view_;
};

}  // namespace

HostView inspect_host(const driver::HostRoot& root, Examination& examination) {
  return Inspection(root, examination).run();
}

bool inspect_kernel_log(const driver::HostRoot& root, Examination& examination) {
  auto log = read_kernel_log(root.folder());
  if (root.is_this_machine() && (!log || !begins_at_boot(*log))) {
    if (const auto journal = read_journal_of_kernel()) {
      examination.read_text("journal", *journal);
      return true;
    }
  }
  if (!log) {
    examination.add_gap(log.error().message);
    return false;
  }
  examination.read_text("kernel log", *log);
  return true;
}

}  // namespace pagoda::faults
