#include "app/machine.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <thread>

#include "base/format.h"
#include "tensor/device.h"

namespace pagoda::app {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The "Model:" line of /proc/driver/nvidia/gpus/ADDRESS/information.
std::string driver_name_of(const fs::path& root, const std::string& address) {
  std::ifstream file(root / "proc/driver/nvidia/gpus" / address / "information");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("Model:")) continue;
    const size_t begin = line.find_first_not_of(" \t", 6);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return {};
}

int usable_cores() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::string isa_name() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  if (avx512) {
    std::string extras;
    if (__builtin_cpu_supports("avx512vnni")) extras += "VNNI";
    if (__builtin_cpu_supports("avx512bf16")) extras += extras.empty() ? "BF16" : ", BF16";
    return extras.empty() ? "AVX-512" : format("AVX-512 ({})", extras);
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "AVX2";
  return "x86-64 baseline";
#else
  return "scalar";
#endif
}

}  // namespace

std::vector<GpuSighting> find_gpus(const fs::path& root) {
  constexpr std::string_view kNvidia = "0x10de";
  constexpr std::string_view kDisplayClass =
      "0x03";  // VGA and 3D controllers; not the audio function beside them
  std::vector<GpuSighting> gpus;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root / "sys/bus/pci/devices", error)) {
    if (first_line(entry.path() / "vendor") != kNvidia) continue;
    if (!first_line(entry.path() / "class").starts_with(kDisplayClass)) continue;
    const std::string address = entry.path().filename().string();
    gpus.push_back({address, driver_name_of(root, address)});
  }
  std::sort(gpus.begin(), gpus.end(),
            [](const auto& a, const auto& b) { return a.pci_address < b.pci_address; });
  return gpus;
}

Machine inspect_machine() {
  const Device cpu = cpu_device();
  return {cpu.name, usable_cores(), isa_name(), cpu.capacity_bytes, find_gpus()};
}

std::string human_bytes(int64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return unit < 3 ? format("{:.0f} {}", value, kUnits[unit]) : format("{:.1f} {}", value, kUnits[unit]);
}

}  // namespace pagoda::app
