#include "faults/host_inspection.h"

#include <algorithm>

#include "base/format.h"
#include "faults/device_holders.h"
#include "faults/driver_facts.h"
#include "faults/event_reader.h"
#include "faults/evidence_text.h"
#include "faults/fault_catalogue.h"
#include "faults/host_gpus.h"
#include "faults/kernel_log_reader.h"

namespace pagoda::faults {
namespace {

namespace fs = std::filesystem;

class Inspection {
 public:
  Inspection(const fs::path& root, Examination& examination) : root_(root), examination_(examination) {}

  void run() {
    pci_ = find_pci_gpus(root_);
    module_ = loaded_module_version(root_);
    inspect_pci();
    inspect_driver();
    inspect_fabric();
    inspect_kernel_log();
    inspect_holders();
    examination_.add_gap(
        "steps 2 and 3 (temperature, power, ECC, links, load) need NVML, which this version does not read: "
        "give it "
        "`nvidia-smi -q` with --from");
  }

 private:
  void say(std::string_view id, const fs::path& source, const std::string& text,
           std::initializer_list<std::pair<std::string_view, std::string>> fields) {
    Event event;
    event.fault = find_fault(id);
    for (const auto& [name, value] : fields) event.fields.set(name, value);
    event.evidence = {"/" + source.lexically_relative(root_).string(), 0, "", evidence_text(text)};
    examination_.add(std::move(event));
  }

  void see(Step step, std::string subject, std::string text) {
    examination_.add_observation({step, std::move(subject), std::move(text)});
  }

  void inspect_pci() {
    if (pci_.gpus.empty()) see(Step::kPresence, "PCI bus", "no NVIDIA GPU");
    for (const PciGpu& gpu : pci_.gpus) {
      const fs::path driver = root_ / "sys/bus/pci/devices" / gpu.address / "driver";
      if (gpu.driver == "nouveau") {
        say("nouveau", driver, "driver: nouveau",
            {{"gpu", short_address(gpu.address)}, {"gpu_full", gpu.address}});
        continue;
      }
      const std::string how = gpu.driver.empty()         ? "no driver"
                              : gpu.driver == "vfio-pci" ? "given to a virtual machine (vfio-pci)"
                                                         : "driver " + gpu.driver;
      see(Step::kPresence, "GPU " + gpu.address, format("{}, {}", name_of_device(gpu.device), how));
    }
  }

  std::vector<std::string> gpus_by_driver(std::string_view driver) const {
    std::vector<std::string> addresses;
    for (const PciGpu& gpu : pci_.gpus) {
      if (gpu.driver == driver) addresses.push_back(gpu.address);
    }
    return addresses;
  }

  void inspect_driver() {
    const auto unclaimed = gpus_by_driver(""), claimed = gpus_by_driver("nvidia");
    if (module_.empty()) {
      if (unclaimed.empty()) return;
      std::string list;
      for (const std::string& address : unclaimed) list += (list.empty() ? "" : ", ") + address;
      say("module-not-loaded", root_ / "proc/modules", "no module nvidia",
          {{"count", std::to_string(unclaimed.size())}, {"gpu_list", list}});
      return;
    }
    see(Step::kPresence, "NVIDIA kernel module", module_);
    const std::string library = user_space_driver_version(root_);
    if (!library.empty() && library != module_)
      say("driver-mismatch", root_ / "proc/driver/nvidia/version",
          read_small_file(root_ / "proc/driver/nvidia/version"), {{"client", library}, {"module", module_}});
    for (const std::string& address : unclaimed)
      say("gpu-missing", root_ / "sys/bus/pci/devices" / address / "driver", "no driver bound",
          {{"gpu", short_address(address)}});
    if (!claimed.empty()) inspect_device_files();
  }

  void inspect_device_files() {
    std::error_code error;
    if (fs::exists(root_ / "dev/nvidiactl", error)) return;
    say("device-files-missing", root_ / "dev/nvidiactl", "not there", {});
  }

  void inspect_fabric() {
    if (pci_.switches == 0 || module_.empty()) return;
    std::error_code error;
    for (const auto& process : fs::directory_iterator(root_ / "proc", error)) {
      if (read_small_file(process.path() / "comm").starts_with("nv-fabricmanage")) return;
    }
    say("fabric-manager-stopped", root_ / "proc", "no process nv-fabricmanager",
        {{"count", std::to_string(pci_.switches)}});
  }

  void inspect_kernel_log() {
    const auto log = read_kernel_log(root_);
    if (!log) return examination_.add_gap(log.error().message);
    examination_.read_text("kernel log", *log);
  }

  void inspect_holders() {
    const Holders found = find_device_holders(root_);
    for (const DeviceHolder& holder : found.holders) {
      std::string devices;
      for (const std::string& device : holder.devices) devices += (devices.empty() ? "" : ", ") + device;
      if (holder.dead) {
        say("zombie-holder", root_ / "proc" / std::to_string(holder.pid) / "stat",
            "state Z, holds " + devices,
            {{"pid", std::to_string(holder.pid)}, {"process", holder.process}, {"device", devices}});
        continue;
      }
      see(Step::kMemory, format("process {} ({})", holder.pid, holder.process),
          format("holds {}{}", devices,
                 holder.container.empty() ? "" : " from container " + holder.container));
    }
    if (found.hidden > 0 && !pci_.gpus.empty())
      examination_.add_gap(
          format("the open files of {} other users' processes: run as root to see who holds the GPUs",
                 found.hidden));
  }

  const fs::path& root_;
  Examination& examination_;
  PciView pci_;
  std::string module_;
};

}  // namespace

void inspect_host(const fs::path& root, Examination& examination) {
  Inspection(root, examination).run();
}

}  // namespace pagoda::faults
