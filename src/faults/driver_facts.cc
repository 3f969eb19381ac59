#include "faults/driver_facts.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/format.h"
#include "driver/cuda_releases.h"

namespace pagoda::faults {
namespace {

// PCI ids of vendor 10de, from the public pci.ids list.
constexpr std::array kGenerations = {
    GpuGeneration{"Kepler", 0x0fc0, 0x12bf, false, "470"},
    GpuGeneration{"Maxwell", 0x1340, 0x15ef, false, "580"},
    GpuGeneration{"Pascal", 0x15f0, 0x15ff, false, "580"},
    GpuGeneration{"Maxwell", 0x1600, 0x1aff, false, "580"},
    GpuGeneration{"Pascal", 0x1b00, 0x1d7f, false, "580"},
    GpuGeneration{"Volta", 0x1d80, 0x1dff, false, "580"},
    GpuGeneration{"Turing", 0x1e00, 0x1fff, true, ""},
    GpuGeneration{"Ampere", 0x2080, 0x20ff, true, ""},
    GpuGeneration{"Turing", 0x2100, 0x21ff, true, ""},
    GpuGeneration{"Ampere", 0x2200, 0x22ff, true, ""},
    GpuGeneration{"Hopper", 0x2300, 0x23ff, true, ""},
    GpuGeneration{"Ampere", 0x2400, 0x25ff, true, ""},
    GpuGeneration{"Ada", 0x2600, 0x28ff, true, ""},
    GpuGeneration{"Blackwell", 0x2900, 0x2fff, true, ""},
};

struct Card {
  uint16_t device;
  std::string_view name;
};
// The cards that people most often meet on servers with drivers too new for them.
constexpr std::array kCards = {
    Card{0x102d, "Tesla K80"},   Card{0x13f2, "Tesla M60"}, Card{0x17fd, "Tesla M40"},
    Card{0x15f7, "P100"},        Card{0x15f8, "P100"},      Card{0x15f9, "P100"},
    Card{0x1b38, "Tesla P40"},   Card{0x1bb3, "Tesla P4"},  Card{0x1b06, "GTX 1080 Ti"},
    Card{0x1b80, "GTX 1080"},    Card{0x1b81, "GTX 1070"},  Card{0x1c03, "GTX 1060"},
    Card{0x1c82, "GTX 1050 Ti"}, Card{0x1d81, "TITAN V"},   Card{0x1db1, "V100"},
    Card{0x1db2, "V100"},        Card{0x1db3, "V100"},      Card{0x1db4, "V100"},
    Card{0x1db5, "V100"},        Card{0x1db6, "V100"},      Card{0x1db7, "V100"},
    Card{0x1db8, "V100"},        Card{0x1df5, "V100"},      Card{0x1df6, "V100"},
};

struct Capability {
  std::string_view name, cuda;
};
constexpr std::array kCapabilities = {
    Capability{"sm_80", "11.0"},  Capability{"sm_86", "11.1"},  Capability{"sm_89", "11.8"},
    Capability{"sm_90", "11.8"},  Capability{"sm_100", "12.8"}, Capability{"sm_120", "12.8"},
    Capability{"sm_103", "12.9"}, Capability{"sm_121", "12.9"},
};

int next_part(std::string_view& text) {
  int value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc()) value = 0;
  const size_t point = text.find('.');
  text = point == std::string_view::npos ? std::string_view() : text.substr(point + 1);
  return value;
}

}  // namespace

int compare_versions(std::string_view a, std::string_view b) {
  while (!a.empty() || !b.empty()) {
    const int left = next_part(a), right = next_part(b);
    if (left != right) return left < right ? -1 : 1;
  }
  return 0;
}

std::optional<std::string_view> least_driver_of_cuda(std::string_view cuda) {
  const std::string_view major = cuda.substr(0, cuda.find('.'));
  std::optional<std::string_view> least;
  for (const driver::CudaRelease& release : driver::cuda_releases()) {
    const bool same_major = release.cuda.substr(0, release.cuda.find('.')) == major;
    if (same_major && (compare_versions(release.cuda, cuda) <= 0 || !least)) least = release.least_driver;
  }
  return least;
}

const GpuGeneration* generation_of_device(uint16_t device_id) {
  for (const GpuGeneration& row : kGenerations) {
    if (device_id >= row.first && device_id <= row.last) return &row;
  }
  return nullptr;
}

std::string name_of_device(uint16_t device_id) {
  const GpuGeneration* generation = generation_of_device(device_id);
  if (generation == nullptr) return format("the GPU 10de:{:04x}", device_id);
  const auto card =
      std::find_if(kCards.begin(), kCards.end(), [&](const Card& c) { return c.device == device_id; });
  if (card != kCards.end()) return format("{} ({})", card->name, generation->name);
  const bool vowel = generation->name.starts_with('A');
  return format("{} {} GPU (10de:{:04x})", vowel ? "an" : "a", generation->name, device_id);
}

std::optional<std::string_view> least_cuda_of_capability(std::string_view capability) {
  for (const Capability& row : kCapabilities) {
    if (row.name == capability) return row.cuda;
  }
  return std::nullopt;
}

}  // namespace pagoda::faults
