// A GPU's place on the PCI bus: domain:bus:device.function, as NVML's calls take and give it.
#pragma once

#include <compare>
#include <optional>
#include <string>

#include "simulate/machine.h"

namespace pagoda::simulate {

struct PciAddress {
  unsigned domain = 0, bus = 0, device = 0;
  auto operator<=>(const PciAddress&) const = default;
};

// "00000000:3B:00.0", "0000:3b:00.0", "3B:00.0"; nothing for what is none.
std::optional<PciAddress> parse_pci_address(const std::string& text);
PciAddress pci_address_of(Machine& machine, const Device& device);

}  // namespace pagoda::simulate
