// Chips by name: architecture, compute capability, and what the driver must be. Boards by PCI device id: what
// stands on their data sheets. Sources: the PCI ID database, CUDA's list of compute capabilities, the
// driver's release notes (legacy branches, open kernel modules), the boards' data sheets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pagoda::driver {

enum class OpenModule {
  kUnsupported,  // before Turing: the proprietary kernel module only
  kPossible,     // Turing to Ada and Hopper: either; open is the default since R560
  kRequired,     // Grace Hopper, Blackwell: open only
};

struct Chip {
  std::string_view name;          // "GA102"
  std::string_view architecture;  // "Ampere"
  int capability_major = 0, capability_minor = 0;
  int cores_per_sm = 0;  // FP32 units
  OpenModule open_module = OpenModule::kPossible;
  int first_branch = 0;  // the oldest driver branch that knows it
  int last_branch = 0;   // the newest that still does; 0: today's
};

// Data-sheet facts of one board; absent ones are 0.
struct Board {
  uint16_t device = 0;
  std::string_view chip;
  std::string_view name;  // "A100-SXM4-80GB"
  int sms = 0;
  int memory_gib = 0;
  int bandwidth_gb_s = 0;  // memory
  int nvlink_gb_s = 0;     // both directions together
  bool open_only = false;  // a board whose chip would allow either (Grace Hopper)
};

const Chip* find_chip(std::string_view name);
// "GA102 [GeForce RTX 3080]", "GV100GL [Tesla V100 SXM2 16GB]", "GH100[H100 SXM5 80GB]" → the chip; nullptr:
// unknown.
const Chip* chip_in_pci_name(std::string_view pci_name);
// By the ranges in which NVIDIA gives out device ids, for boards newer than the machine's pci.ids.
const Chip* chip_of_device(uint16_t device);
const Board* find_board(uint16_t device);

// "8.6"
std::string capability_text(const Chip& chip);

}  // namespace pagoda::driver
