// Everything that `pagoda driver` knows of a machine, read once. Plain facts: what follows from them is in
// host_findings.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/device_nodes.h"
#include "driver/driver_libraries.h"
#include "driver/host_system.h"
#include "driver/loaded_driver.h"
#include "driver/pci_devices.h"

namespace pagoda::driver {

struct DriverServices {
  bool persistenced_running = false, persistenced_installed = false;
  bool fabric_manager_running = false, fabric_manager_installed = false;
  std::optional<VersionNumber> fabric_manager_version;  // of its package
};

struct HostFacts {
  HostSystem system;
  std::vector<PciDevice> gpus;
  std::vector<PciDevice> nvswitches;
  KernelModules modules;
  std::optional<LoadedDriver> loaded;
  std::vector<DriverLibrary> libraries;
  std::optional<DriverLibrary> libcuda, libnvidia_ml;  // those that programs get
  DeviceNodes nodes;
  DriverServices services;
};

HostFacts read_host_facts(const HostRoot& root);

}  // namespace pagoda::driver
