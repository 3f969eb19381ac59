#include <array>

#include "smi/names.h"
#include "smi/query_row.h"

namespace pagoda::smi {
namespace {

using Gpu = driver::GpuSnapshot;

struct AtomicName {
  unsigned bit;
  std::string_view name;
};
constexpr std::array kAtomics = {
    AtomicName{NVML_PCIE_ATOMICS_CAP_FETCHADD32, "FETCHADD_32"},
    AtomicName{NVML_PCIE_ATOMICS_CAP_FETCHADD64, "FETCHADD_64"},
    AtomicName{NVML_PCIE_ATOMICS_CAP_SWAP32, "SWAP_32"},
    AtomicName{NVML_PCIE_ATOMICS_CAP_SWAP64, "SWAP_64"},
    AtomicName{NVML_PCIE_ATOMICS_CAP_CAS32, "CAS_32"},
    AtomicName{NVML_PCIE_ATOMICS_CAP_CAS64, "CAS_64"},
    AtomicName{NVML_PCIE_ATOMICS_CAP_CAS128, "CAS_128"},
};

// Every name is followed by a space, the last one too.
Cell atomics(const driver::Number& mask) {
  if (!mask) return absent_cell(mask.error());
  std::string names;
  for (const AtomicName& row : kAtomics) {
    if ((*mask & row.bit) != 0) names.append(row.name).append(" ");
  }
  return names.empty() ? word("None") : word(names);
}

Cell width(const driver::Number& lanes) {
  Cell cell = number(lanes);
  if (lanes) cell.text += "x";
  return cell;
}

// Lower-case, without leading zeros: a class has one digit more often than two.
Cell short_hex(const driver::Number& reading) {
  return hex(reading, 1);
}

Cell generation(const Gpu& gpu) {
  return number(gpu.pci.generation_current);
}

constexpr std::array kRows = {
    QueryRow{1, "PCI", "pci", 0},
    QueryRow{2, "Bus", "pci_bus", 0, [](const Gpu& g) { return hex(g.pci.bus, 2); }},
    QueryRow{2, "Device", "pci_device", 0, [](const Gpu& g) { return hex(g.pci.device, 2); }},
    QueryRow{2, "Domain", "pci_domain", 0, [](const Gpu& g) { return hex(g.pci.domain, 4); }},
    QueryRow{2, "Base Classcode", "pci_base_class", 0,
             [](const Gpu& g) { return short_hex(g.pci.base_class); }},
    QueryRow{2, "Sub Classcode", "pci_sub_class", 0, [](const Gpu& g) { return short_hex(g.pci.sub_class); }},
    QueryRow{2, "Device Id", "pci_device_id", 0, [](const Gpu& g) { return hex(g.pci.device_id, 8); }},
    QueryRow{2, "Bus Id", "pci_bus_id", 0, [](const Gpu& g) { return text(g.pci.bus_id); }},
    QueryRow{2, "Sub System Id", "pci_sub_system_id", 0,
             [](const Gpu& g) { return hex(g.pci.subsystem_id, 8); }},
    QueryRow{2, "GPU Link Info", "pci_gpu_link_info", 0},
    QueryRow{3, "PCIe Generation", "pcie_gen", 0},
    QueryRow{4, "Max", "max_link_gen", 0, [](const Gpu& g) { return number(g.pci.generation_max); }},
    QueryRow{4, "Current", "current_link_gen", 0, generation},
    QueryRow{4, "Device Current", "device_current_link_gen", 0, generation},
    QueryRow{4, "Device Max", "max_device_link_gen", 0,
             [](const Gpu& g) { return number(g.pci.device_generation_max); }},
    QueryRow{4, "Host Max", "max_host_link_gen", 0,
             [](const Gpu& g) { return number(g.pci.host_generation_max); }},
    QueryRow{3, "Link Width", "link_widths", 0},
    QueryRow{4, "Max", "max_link_width", 0, [](const Gpu& g) { return width(g.pci.width_max); }},
    QueryRow{4, "Current", "current_link_width", 0, [](const Gpu& g) { return width(g.pci.width_current); }},
    QueryRow{2, "Bridge Chip", "pci_bridge_chip", 0},
    QueryRow{3, "Type", "bridge_chip_type", 0,
             [](const Gpu& g) { return named(g.pci.bridge_type, kBridgeChips); }},
    QueryRow{3, "Firmware", "bridge_chip_fw", 0, [](const Gpu& g) { return text(g.pci.bridge_firmware); }},
    QueryRow{2, "Replays Since Reset", "replay_counter", 0,
             [](const Gpu& g) { return number(g.pci.replays); }},
    QueryRow{2, "Replay Number Rollovers", "replay_rollover_counter", 0,
             [](const Gpu& g) { return number(g.pci.replay_rollovers); }},
    QueryRow{2, "Tx Throughput", "tx_util", 0,
             [](const Gpu& g) { return number(g.pci.tx_kb_per_s, "KB/s"); }},
    QueryRow{2, "Rx Throughput", "rx_util", 0,
             [](const Gpu& g) { return number(g.pci.rx_kb_per_s, "KB/s"); }},
    QueryRow{2, "Atomic Caps Outbound", "atomic_caps_outbound", 0,
             [](const Gpu& g) { return atomics(g.pci.atomics_outbound); }},
    QueryRow{2, "Atomic Caps Inbound", "atomic_caps_inbound", 0,
             [](const Gpu& g) { return atomics(g.pci.atomics_inbound); }},
};

}  // namespace

std::span<const QueryRow> bus_rows() {
  return kRows;
}

}  // namespace pagoda::smi
