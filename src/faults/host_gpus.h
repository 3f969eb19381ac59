// NVIDIA's devices on the PCI bus, as sysfs shows them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace pagoda::faults {

struct PciGpu {
  std::string address;  // "0000:3b:00.0"
  std::string driver;   // "nvidia", "nouveau", "vfio-pci"; empty: none
  uint16_t device = 0;
};

struct PciView {
  std::vector<PciGpu> gpus;  // by address
  int switches = 0;          // NVSwitches
};
PciView find_pci_gpus(const std::filesystem::path& root);

// Version of the loaded kernel module; empty: none is loaded.
std::string loaded_module_version(const std::filesystem::path& root);
// Version in the name of the user-space driver library (libcuda.so.570.195.03); empty: none is installed.
std::string user_space_driver_version(const std::filesystem::path& root);

// The first 64 KiB of a small file; empty when it cannot be read.
std::string read_small_file(const std::filesystem::path& path);

}  // namespace pagoda::faults
