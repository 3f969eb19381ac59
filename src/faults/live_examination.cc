#include "faults/live_examination.h"

namespace pagoda::faults {

const driver::Nvml* GpuAccess::open() {
  if (nvml_ != nullptr) return nvml_.get();
  auto opened = driver::Nvml::open();
  if (!opened) {
    failure_ = opened.error();
    return nullptr;
  }
  nvml_ = std::make_unique<driver::Nvml>(std::move(*opened));
  return nvml_.get();
}

std::vector<Event> examine_devices(const driver::HostRoot& root, const GpuInspection& options,
                                   GpuAccess& access, Examination& examination) {
  HostView host;
  if (options.simulated) {
    examination.add_gap("this machine's own bus, driver and kernel log: the GPUs are simulated");
  } else {
    host = inspect_host(root, examination);
  }
  if (!root.is_this_machine() && !options.simulated) {
    examination.add_gap(
        "steps 2 and 3 (temperature, power, ECC, links, load): NVML answers only on the machine itself");
    return {};
  }
  const driver::Nvml* nvml = access.open();
  if (nvml == nullptr) {
    inspect_absence(access.failure(), host, options.simulated, examination);
    return {};
  }
  return inspect_gpus(*nvml, root, host, options, examination);
}

void examine_machine(const driver::HostRoot& root, const GpuInspection& options, Examination& examination) {
  GpuAccess access;
  std::vector<Event> xids = examine_devices(root, options, access, examination);
  // Read last: it then holds what was logged during the window.
  if (!options.simulated && inspect_kernel_log(root, examination)) return;
  for (Event& xid : xids) examination.add(std::move(xid));
}

}  // namespace pagoda::faults
