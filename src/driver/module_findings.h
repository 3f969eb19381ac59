// Rules about the kernel module: is it there, may it load, does it fit the chip.
#pragma once

#include <vector>

#include "driver/host_findings.h"

namespace pagoda::driver {

// Which kernel driver holds each GPU; where it is not nvidia: nouveau, vfio-pci, Secure Boot, a module that
// was not built, or none at all.
void kernel_driver_bound(const HostFacts& facts, std::vector<Finding>& findings);

// Open or proprietary, and the branch, against the chips.
void module_fits_chip(const HostFacts& facts, std::vector<Finding>& findings);

}  // namespace pagoda::driver
