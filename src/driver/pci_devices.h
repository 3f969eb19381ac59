// NVIDIA's devices on the PCI bus, from /sys/bus/pci/devices, with their names from the machine's pci.ids.
// Works without any driver.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "driver/chips.h"
#include "driver/host_root.h"

namespace pagoda::driver {

inline constexpr uint16_t kNvidiaVendor = 0x10de;

struct PciDevice {
  std::string address;     // "0000:17:00.0"
  std::string sysfs_path;  // "/sys/devices/pci0000:00/…", without links
  uint16_t vendor = 0, device = 0, subsystem_vendor = 0, subsystem_device = 0;
  uint32_t device_class = 0;  // 0x030000 VGA, 0x030200 3D controller, 0x068000 bridge
  std::string modalias;
  std::string kernel_driver;  // bound to it: "nvidia", "nouveau", "vfio-pci"; empty: none
  std::string name;  // "GA102 [GeForce RTX 3080]"; from the board table, else empty, where pci.ids lacks it
  const Chip* chip = nullptr;  // nullptr: not known
  // Link speed in GT/s and width, now and at most; empty where the bus does not tell.
  std::string link_speed, link_speed_max, link_width, link_width_max;

  bool is_gpu() const { return device_class >> 8 == 0x0300 || device_class >> 8 == 0x0302; }
  bool is_nvswitch() const { return device_class >> 8 == 0x0680; }
  bool needs_open_module() const;
  // The name between brackets, or the whole: "GeForce RTX 3080".
  std::string board_name() const;
};

// Sorted by address; GPUs and NVSwitches, no audio or USB functions.
std::vector<PciDevice> find_nvidia_pci_devices(const HostRoot& root);

// Device names of one vendor in the format of pci.ids: id → name.
std::map<uint16_t, std::string> read_pci_ids(std::string_view text, uint16_t vendor);

}  // namespace pagoda::driver
