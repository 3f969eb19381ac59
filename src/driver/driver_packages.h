// Driver packages that the machine's package tool could install, with what their names and fields say of
// them.
#pragma once

#include <string>
#include <vector>

#include "driver/host_root.h"
#include "driver/host_system.h"
#include "driver/kernel_modules.h"
#include "driver/pci_devices.h"

namespace pagoda::driver {

struct DriverPackage {
  std::string name;             // "nvidia-driver-580-server-open"
  std::string package_version;  // "580.95.05-0ubuntu0.24.04.1"
  VersionNumber version;        // 580.95.05
  ModuleKind kind = ModuleKind::kProprietary;
  bool server = false;                  // Ubuntu's enterprise branches
  bool third_party = false;             // from a source that is not the distribution's
  bool preview = false;                 // its own Support field: a beta or a new-feature branch
  std::vector<std::string> modaliases;  // patterns of the devices that it is for; empty: it does not say
};

// By `apt-cache` over the lists of `root`; nothing is written. Newest first, then by name.
// kUnsupported: no apt-cache here, or not a machine of apt's. kUnavailable: apt-cache failed.
Result<std::vector<DriverPackage>> find_driver_packages(const HostRoot& root, const HostSystem& system);

// Of the names, those that apt could install, in the order given.
Result<std::vector<std::string>> installable(const HostRoot& root, const std::vector<std::string>& names);

// The stanzas of `apt-cache show` as packages; names that are no driver are passed over.
std::vector<DriverPackage> read_driver_stanzas(std::string_view text);

// Whether the package is for this GPU: its modaliases where it has some, else chip and branch.
bool supports(const DriverPackage& package, const PciDevice& gpu);

// The package's kernel module can drive the chip (open or proprietary).
bool right_kind(const DriverPackage& package, const PciDevice& gpu);

}  // namespace pagoda::driver
