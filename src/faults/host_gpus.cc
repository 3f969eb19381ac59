#include "faults/host_gpus.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>

#include "faults/smi_section.h"

namespace pagoda::faults {
namespace {

namespace fs = std::filesystem;

constexpr unsigned long kNvidia = 0x10de;
constexpr unsigned long kDisplayClass = 0x03, kBridgeClass = 0x0680;  // NVSwitches are "other bridges"

unsigned long hex_of(const fs::path& file) {
  return std::strtoul(read_small_file(file).c_str(), nullptr, 16);
}

// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.172.08  Tue …", "… Open Kernel Module for x86_64
// 570.86.15 …".
std::string version_in(const std::string& text) {
  for (const std::string_view word : words_of(std::string_view(text).substr(0, text.find('\n')))) {
    const bool digits = word.find_first_not_of("0123456789.") == std::string_view::npos;
    if (digits && word.find('.') != std::string_view::npos && word.size() >= 6) return std::string(word);
  }
  return {};
}

}  // namespace

std::string read_small_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(65536, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

PciView find_pci_gpus(const fs::path& root) {
  PciView view;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root / "sys/bus/pci/devices", error)) {
    if (hex_of(entry.path() / "vendor") != kNvidia) continue;
    const unsigned long device_class = hex_of(entry.path() / "class");
    if (device_class >> 8 == kBridgeClass) ++view.switches;
    if (device_class >> 16 != kDisplayClass) continue;
    PciGpu gpu;
    gpu.address = entry.path().filename().string();
    gpu.device = static_cast<uint16_t>(hex_of(entry.path() / "device"));
    const fs::path driver = fs::read_symlink(entry.path() / "driver", error);
    if (!error) gpu.driver = driver.filename().string();
    view.gpus.push_back(std::move(gpu));
  }
  std::sort(view.gpus.begin(), view.gpus.end(),
            [](const PciGpu& a, const PciGpu& b) { return a.address < b.address; });
  return view;
}

std::string loaded_module_version(const fs::path& root) {
  return version_in(read_small_file(root / "proc/driver/nvidia/version"));
}

std::string user_space_driver_version(const fs::path& root) {
  constexpr std::array<std::string_view, 4> kFolders = {"usr/lib/x86_64-linux-gnu", "usr/lib64",
                                                        "usr/lib/aarch64-linux-gnu", "usr/lib"};
  constexpr std::string_view kName = "libcuda.so.";
  for (const std::string_view folder : kFolders) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(root / folder, error)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with(kName) && name.find('.', kName.size()) != std::string::npos)
        return name.substr(kName.size());
    }
  }
  return {};
}

}  // namespace pagoda::faults
