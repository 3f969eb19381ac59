#include "driver/chips.h"

#include <array>

#include "base/format.h"

namespace pagoda::driver {
namespace {

using enum OpenModule;

constexpr std::array kChips = {
    Chip{"GF100", "Fermi", 2, 0, 32, kUnsupported, 256, 390},
    Chip{"GF104", "Fermi", 2, 1, 48, kUnsupported, 256, 390},
    Chip{"GF106", "Fermi", 2, 1, 48, kUnsupported, 256, 390},
    Chip{"GF108", "Fermi", 2, 1, 48, kUnsupported, 256, 390},
    Chip{"GF110", "Fermi", 2, 0, 32, kUnsupported, 256, 390},
    Chip{"GF114", "Fermi", 2, 1, 48, kUnsupported, 256, 390},
    Chip{"GF116", "Fermi", 2, 1, 48, kUnsupported, 256, 390},
    Chip{"GF119", "Fermi", 2, 1, 48, kUnsupported, 256, 390},
    Chip{"GK104", "Kepler", 3, 0, 192, kUnsupported, 295, 470},
    Chip{"GK106", "Kepler", 3, 0, 192, kUnsupported, 304, 470},
    Chip{"GK107", "Kepler", 3, 0, 192, kUnsupported, 295, 470},
    Chip{"GK110", "Kepler", 3, 5, 192, kUnsupported, 310, 470},
    Chip{"GK180", "Kepler", 3, 5, 192, kUnsupported, 319, 470},
    Chip{"GK208", "Kepler", 3, 5, 192, kUnsupported, 319, 470},
    Chip{"GK210", "Kepler", 3, 7, 192, kUnsupported, 340, 470},
    Chip{"GM107", "Maxwell", 5, 0, 128, kUnsupported, 331, 580},
    Chip{"GM108", "Maxwell", 5, 0, 128, kUnsupported, 331, 580},
    Chip{"GM200", "Maxwell", 5, 2, 128, kUnsupported, 346, 580},
    Chip{"GM204", "Maxwell", 5, 2, 128, kUnsupported, 343, 580},
    Chip{"GM206", "Maxwell", 5, 2, 128, kUnsupported, 346, 580},
    Chip{"GP100", "Pascal", 6, 0, 64, kUnsupported, 367, 580},
    Chip{"GP102", "Pascal", 6, 1, 128, kUnsupported, 367, 580},
    Chip{"GP104", "Pascal", 6, 1, 128, kUnsupported, 367, 580},
    Chip{"GP106", "Pascal", 6, 1, 128, kUnsupported, 367, 580},
    Chip{"GP107", "Pascal", 6, 1, 128, kUnsupported, 375, 580},
    Chip{"GP108", "Pascal", 6, 1, 128, kUnsupported, 375, 580},
    Chip{"GV100", "Volta", 7, 0, 64, kUnsupported, 384, 580},
    Chip{"TU102", "Turing", 7, 5, 64, kPossible, 410, 0},
    Chip{"TU104", "Turing", 7, 5, 64, kPossible, 410, 0},
    Chip{"TU106", "Turing", 7, 5, 64, kPossible, 410, 0},
    Chip{"TU116", "Turing", 7, 5, 64, kPossible, 418, 0},
    Chip{"TU117", "Turing", 7, 5, 64, kPossible, 418, 0},
    Chip{"GA100", "Ampere", 8, 0, 64, kPossible, 450, 0},
    Chip{"GA102", "Ampere", 8, 6, 128, kPossible, 455, 0},
    Chip{"GA103", "Ampere", 8, 6, 128, kPossible, 510, 0},
    Chip{"GA104", "Ampere", 8, 6, 128, kPossible, 455, 0},
    Chip{"GA106", "Ampere", 8, 6, 128, kPossible, 460, 0},
    Chip{"GA107", "Ampere", 8, 6, 128, kPossible, 460, 0},
    Chip{"AD102", "Ada Lovelace", 8, 9, 128, kPossible, 520, 0},
    Chip{"AD103", "Ada Lovelace", 8, 9, 128, kPossible, 525, 0},
    Chip{"AD104", "Ada Lovelace", 8, 9, 128, kPossible, 525, 0},
    Chip{"AD106", "Ada Lovelace", 8, 9, 128, kPossible, 525, 0},
    Chip{"AD107", "Ada Lovelace", 8, 9, 128, kPossible, 525, 0},
    Chip{"GH100", "Hopper", 9, 0, 128, kPossible, 515, 0},
    Chip{"GB100", "Blackwell", 10, 0, 128, kRequired, 570, 0},
    Chip{"GB102", "Blackwell", 10, 0, 128, kRequired, 570, 0},
    Chip{"GB110", "Blackwell", 10, 3, 128, kRequired, 575, 0},
    Chip{"GB202", "Blackwell", 12, 0, 128, kRequired, 570, 0},
    Chip{"GB203", "Blackwell", 12, 0, 128, kRequired, 570, 0},
    Chip{"GB205", "Blackwell", 12, 0, 128, kRequired, 570, 0},
    Chip{"GB206", "Blackwell", 12, 0, 128, kRequired, 575, 0},
    Chip{"GB207", "Blackwell", 12, 0, 128, kRequired, 575, 0},
    Chip{"GB20B", "Blackwell", 12, 1, 128, kRequired, 580, 0},
};

struct DeviceRange {
  uint16_t first, last;
  std::string_view chip;
};
constexpr std::array kRanges = {
    DeviceRange{0x0fc0, 0x0fff, "GK107"}, DeviceRange{0x1000, 0x102c, "GK110"},
    DeviceRange{0x102d, 0x102f, "GK210"}, DeviceRange{0x1180, 0x11bf, "GK104"},
    DeviceRange{0x11c0, 0x11ff, "GK106"}, DeviceRange{0x1280, 0x12bf, "GK208"},
    DeviceRange{0x1340, 0x137f, "GM108"}, DeviceRange{0x1380, 0x13bf, "GM107"},
    DeviceRange{0x13c0, 0x13ff, "GM204"}, DeviceRange{0x1400, 0x143f, "GM206"},
    DeviceRange{0x15f0, 0x15ff, "GP100"}, DeviceRange{0x17c0, 0x17ff, "GM200"},
    DeviceRange{0x1b00, 0x1b7f, "GP102"}, DeviceRange{0x1b80, 0x1bff, "GP104"},
    DeviceRange{0x1c00, 0x1c7f, "GP106"}, DeviceRange{0x1c80, 0x1cff, "GP107"},
    DeviceRange{0x1d00, 0x1d7f, "GP108"}, DeviceRange{0x1d80, 0x1dff, "GV100"},
    DeviceRange{0x1e00, 0x1e7f, "TU102"}, DeviceRange{0x1e80, 0x1eff, "TU104"},
    DeviceRange{0x1f00, 0x1f7f, "TU106"}, DeviceRange{0x1f80, 0x1fff, "TU117"},
    DeviceRange{0x2080, 0x20ff, "GA100"}, DeviceRange{0x2180, 0x21ff, "TU116"},
    DeviceRange{0x2200, 0x227f, "GA102"}, DeviceRange{0x2300, 0x237f, "GH100"},
    DeviceRange{0x2400, 0x247f, "GA103"}, DeviceRange{0x2480, 0x24ff, "GA104"},
    DeviceRange{0x2500, 0x257f, "GA106"}, DeviceRange{0x2580, 0x25ff, "GA107"},
    DeviceRange{0x2680, 0x26ff, "AD102"}, DeviceRange{0x2700, 0x277f, "AD103"},
    DeviceRange{0x2780, 0x27ff, "AD104"}, DeviceRange{0x2800, 0x287f, "AD106"},
    DeviceRange{0x2880, 0x28ff, "AD107"}, DeviceRange{0x2900, 0x297f, "GB100"},
    DeviceRange{0x2b80, 0x2bff, "GB202"}, DeviceRange{0x2c00, 0x2cff, "GB203"},
    DeviceRange{0x2d00, 0x2d7f, "GB206"}, DeviceRange{0x2d80, 0x2dff, "GB207"},
    DeviceRange{0x2e00, 0x2e7f, "GB20B"}, DeviceRange{0x2f00, 0x2f7f, "GB205"},
    DeviceRange{0x3180, 0x31ff, "GB110"},
};

constexpr std::array kBoards = {
    Board{0x102d, "GK210", "Tesla K80", 13, 12, 240, 0},
    Board{0x13f2, "GM204", "Tesla M60", 16, 8, 160, 0},
    Board{0x15f7, "GP100", "Tesla P100-PCIE-12GB", 56, 12, 549, 0},
    Board{0x15f8, "GP100", "Tesla P100-PCIE-16GB", 56, 16, 732, 0},
    Board{0x15f9, "GP100", "Tesla P100-SXM2-16GB", 56, 16, 732, 160},
    Board{0x17fd, "GM200", "Tesla M40", 24, 12, 288, 0},
    Board{0x1b06, "GP102", "GeForce GTX 1080 Ti", 28, 11, 484, 0},
    Board{0x1b38, "GP102", "Tesla P40", 30, 24, 346, 0},
    Board{0x1b80, "GP104", "GeForce GTX 1080", 20, 8, 320, 0},
    Board{0x1b81, "GP104", "GeForce GTX 1070", 15, 8, 256, 0},
    Board{0x1bb3, "GP104", "Tesla P4", 20, 8, 192, 0},
    Board{0x1c03, "GP106", "GeForce GTX 1060 6GB", 10, 6, 192, 0},
    Board{0x1c82, "GP107", "GeForce GTX 1050 Ti", 6, 4, 112, 0},
    Board{0x1d81, "GV100", "TITAN V", 80, 12, 653, 0},
    Board{0x1db1, "GV100", "Tesla V100-SXM2-16GB", 80, 16, 900, 300},
    Board{0x1db2, "GV100", "Tesla V100-DGXS-16GB", 80, 16, 900, 200},
    Board{0x1db3, "GV100", "Tesla V100-FHHL-16GB", 80, 16, 829, 0},
    Board{0x1db4, "GV100", "Tesla V100-PCIE-16GB", 80, 16, 900, 0},
    Board{0x1db5, "GV100", "Tesla V100-SXM2-32GB", 80, 32, 900, 300},
    Board{0x1db6, "GV100", "Tesla V100-PCIE-32GB", 80, 32, 900, 0},
    Board{0x1db7, "GV100", "Tesla V100-DGXS-32GB", 80, 32, 900, 200},
    Board{0x1db8, "GV100", "Tesla V100-SXM3-32GB", 80, 32, 981, 300},
    Board{0x1df6, "GV100", "Tesla V100S-PCIE-32GB", 80, 32, 1134, 0},
    Board{0x1eb8, "TU104", "Tesla T4", 40, 16, 320, 0},
    Board{0x1e81, "TU104", "GeForce RTX 2080 SUPER", 48, 8, 496, 0},
    Board{0x20b0, "GA100", "A100-SXM4-40GB", 108, 40, 1555, 600},
    Board{0x20b2, "GA100", "A100-SXM4-80GB", 108, 80, 2039, 600},
    Board{0x20b5, "GA100", "A100 80GB PCIe", 108, 80, 1935, 600},
    Board{0x20b7, "GA100", "A30", 56, 24, 933, 200},
    Board{0x20f1, "GA100", "A100-PCIE-40GB", 108, 40, 1555, 600},
    Board{0x2204, "GA102", "GeForce RTX 3090", 82, 24, 936, 112},
    Board{0x2206, "GA102", "GeForce RTX 3080", 68, 10, 760, 0},
    Board{0x2230, "GA102", "RTX A6000", 84, 48, 768, 112},
    Board{0x2235, "GA102", "A40", 84, 48, 696, 112},
    Board{0x2236, "GA102", "A10", 72, 24, 600, 0},
    Board{0x2321, "GH100", "H100 NVL", 132, 94, 3938, 600},
    Board{0x2330, "GH100", "H100 80GB HBM3", 132, 80, 3352, 900},
    Board{0x2331, "GH100", "H100 PCIe", 114, 80, 2039, 600},
    Board{0x2335, "GH100", "H200", 132, 141, 4800, 900},
    Board{0x2342, "GH100", "GH200 480GB", 132, 96, 4000, 900, true},
    Board{0x2484, "GA104", "GeForce RTX 3070", 46, 8, 448, 0},
    Board{0x2504, "GA106", "GeForce RTX 3060", 28, 12, 360, 0},
    Board{0x2684, "AD102", "GeForce RTX 4090", 128, 24, 1008, 0},
    Board{0x26b1, "AD102", "RTX 6000 Ada Generation", 142, 48, 960, 0},
    Board{0x26b5, "AD102", "L40", 142, 48, 864, 0},
    Board{0x26b9, "AD102", "L40S", 142, 48, 864, 0},
    Board{0x2702, "AD103", "GeForce RTX 4080 SUPER", 80, 16, 736, 0},
    Board{0x2704, "AD103", "GeForce RTX 4080", 76, 16, 717, 0},
    Board{0x2705, "AD103", "GeForce RTX 4070 Ti SUPER", 66, 16, 672, 0},
    Board{0x2786, "AD104", "GeForce RTX 4070", 46, 12, 504, 0},
    Board{0x27b8, "AD104", "L4", 58, 24, 300, 0},
    Board{0x2805, "AD106", "GeForce RTX 4060 Ti 16GB", 34, 16, 288, 0},
    Board{0x2901, "GB100", "B200", 148, 180, 8000, 1800},
    Board{0x2941, "GB100", "GB200", 152, 186, 8000, 1800},
    Board{0x2b85, "GB202", "GeForce RTX 5090", 170, 32, 1792, 0},
    Board{0x2bb1, "GB202", "RTX PRO 6000 Blackwell", 188, 96, 1792, 0},
    Board{0x2c02, "GB203", "GeForce RTX 5080", 84, 16, 960, 0},
    Board{0x2c05, "GB203", "GeForce RTX 5070 Ti", 70, 16, 896, 0},
};

}  // namespace

const Chip* find_chip(std::string_view name) {
  for (const auto& chip : kChips) {
    if (chip.name == name) return &chip;
  }
  return nullptr;
}

const Chip* chip_in_pci_name(std::string_view pci_name) {
  // The code comes first, with letters for variants after it (GL, M, B); every code has five letters and
  // digits.
  constexpr size_t kCodeLength = 5;
  return pci_name.size() < kCodeLength ? nullptr : find_chip(pci_name.substr(0, kCodeLength));
}

const Chip* chip_of_device(uint16_t device) {
  for (const auto& range : kRanges) {
    if (device >= range.first && device <= range.last) return find_chip(range.chip);
  }
  return nullptr;
}

const Board* find_board(uint16_t device) {
  for (const auto& board : kBoards) {
    if (board.device == device) return &board;
  }
  return nullptr;
}

std::string capability_text(const Chip& chip) {
  return format("{}.{}", chip.capability_major, chip.capability_minor);
}

}  // namespace pagoda::driver
