#include "driver/board_rates.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace pagoda::driver {
namespace {

constexpr std::array kRates = {
    BoardRates{0x15f8, "p100-16gb", 16384, 19, 0, 3, 0},
    BoardRates{0x1b38, "p40", 23040, 12, 47, 3, 0},
    BoardRates{0x1db1, "v100-16gb", 16384, 125, 0, 3, 8},
    BoardRates{0x1db4, "v100-16gb-pcie", 16384, 112, 0, 3, 0},
    BoardRates{0x1db5, "v100-32gb", 32768, 125, 0, 3, 8},
    BoardRates{0x1db6, "v100-32gb-pcie", 32768, 112, 0, 3, 0},
    BoardRates{0x1eb8, "t4", 15360, 65, 130, 3, 0},
    BoardRates{0x1e81, "rtx-2080-super", 8192, 45, 178, 3, 0},
    BoardRates{0x20b0, "a100-40gb", 40960, 312, 624, 4, 8},
    BoardRates{0x20b2, "a100-80gb", 81920, 312, 624, 4, 8},
    BoardRates{0x20b5, "a100-80gb-pcie", 81920, 312, 624, 4, 2},
    BoardRates{0x20b7, "a30", 24576, 165, 330, 4, 2},
    BoardRates{0x20f1, "a100-40gb-pcie", 40960, 312, 624, 4, 2},
    BoardRates{0x2204, "rtx-3090", 24576, 71, 284, 4, 2},
    BoardRates{0x2206, "rtx-3080", 10240, 60, 238, 4, 0},
    BoardRates{0x2230, "rtx-a6000", 49140, 155, 310, 4, 2},
    BoardRates{0x2235, "a40", 46068, 150, 299, 4, 2},
    BoardRates{0x2236, "a10", 23028, 125, 250, 4, 0},
    BoardRates{0x2321, "h100-nvl", 95830, 835, 1671, 5, 2},
    BoardRates{0x2330, "h100-80gb", 81559, 989, 1979, 5, 8},
    BoardRates{0x2331, "h100-pcie", 81559, 756, 1513, 5, 2},
    BoardRates{0x2335, "h200", 143771, 989, 1979, 5, 8},
    BoardRates{0x2342, "gh200", 97871, 989, 1979, 5, 0},
    BoardRates{0x2484, "rtx-3070", 8192, 41, 163, 4, 0},
    BoardRates{0x2504, "rtx-3060", 12288, 26, 102, 4, 0},
    BoardRates{0x2684, "rtx-4090", 24564, 165, 330, 4, 0},
    BoardRates{0x26b1, "rtx-6000-ada", 49140, 182, 364, 4, 0},
    BoardRates{0x26b5, "l40", 46068, 181, 362, 4, 0},
    BoardRates{0x26b9, "l40s", 46068, 362, 733, 4, 0},
    BoardRates{0x2702, "rtx-4080-super", 16376, 104, 209, 4, 0},
    BoardRates{0x2704, "rtx-4080", 16376, 97, 195, 4, 0},
    BoardRates{0x2705, "rtx-4070-ti-super", 16376, 88, 176, 4, 0},
    BoardRates{0x2786, "rtx-4070", 12282, 58, 117, 4, 0},
    BoardRates{0x27b8, "l4", 23034, 121, 242, 4, 0},
    BoardRates{0x2805, "rtx-4060-ti-16gb", 16380, 44, 88, 4, 0},
    BoardRates{0x2901, "b200", 183359, 2250, 4500, 5, 8},
    BoardRates{0x2941, "gb200", 189471, 2500, 5000, 5, 72},
    BoardRates{0x2b85, "rtx-5090", 32607, 210, 419, 5, 0},
    BoardRates{0x2bb1, "rtx-pro-6000", 97887, 252, 504, 5, 0},
    BoardRates{0x2c02, "rtx-5080", 16303, 113, 225, 5, 0},
    BoardRates{0x2c05, "rtx-5070-ti", 16303, 88, 176, 5, 0},
};

// What people say for the usual form of a card.
constexpr std::pair<std::string_view, std::string_view> kAlso[] = {
    {"a100", "a100-80gb"},          {"a100sxm", "a100-80gb"},
    {"a100pcie", "a100-80gb-pcie"}, {"h100", "h100-80gb"},
    {"h100sxm", "h100-80gb"},       {"h100sxm5", "h100-80gb"},
    {"h100pcie80gb", "h100-pcie"},  {"h100nvl94gb", "h100-nvl"},
    {"h200141gb", "h200"},          {"h200sxm", "h200"},
    {"v100", "v100-16gb"},          {"p100", "p100-16gb"},
    {"4060ti", "rtx-4060-ti-16gb"}, {"3060", "rtx-3060"},
    {"306012gb", "rtx-3060"},       {"b200180gb", "b200"},
};

// Letters and digits, without the words that every card's name may or may not carry.
std::string plain(std::string_view name) {
  std::string text;
  for (char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  for (std::string_view word : {"nvidia", "geforce", "tesla", "quadro", "rtx"}) {
    if (const size_t at = text.find(word); at != std::string::npos) text.erase(at, word.size());
  }
  return text;
}

}  // namespace

std::span<const BoardRates> board_rates() {
  return kRates;
}

const BoardRates* find_board_rates(std::string_view name) {
  std::string wanted = plain(name);
  if (wanted.empty()) return nullptr;
  for (const auto& [also, key] : kAlso) {
    if (wanted == also) wanted = plain(key);
  }
  for (const BoardRates& rates : kRates) {
    const Board* board = find_board(rates.device);
    if (wanted == plain(rates.key) || (board != nullptr && wanted == plain(board->name))) return &rates;
  }
  return nullptr;
}

double pcie_bytes_per_s(int generation) {
  // About four fifths of what the lanes carry.
  constexpr double kGeneration3 = 12.5e9;
  return generation < 3 ? kGeneration3 / 2
                        : kGeneration3 * static_cast<double>(1 << std::min(generation - 3, 4));
}

}  // namespace pagoda::driver
