// What this machine has, as far as it can be told without a driver: for the overview and the start-up log.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace pagoda::app {

struct GpuSighting {
  std::string pci_address;  // "0000:01:00.0"
  std::string name;         // from /proc/driver/nvidia; empty when no driver is loaded
};

struct Machine {
  std::string cpu;               // "AMD EPYC 9654"
  int cores = 1;                 // that this process may run on
  std::string isa;               // "AVX-512 (VNNI, BF16)"
  int64_t memory_available = 0;  // bytes, under the cgroup's limit
  std::vector<GpuSighting> gpus;
};

// `root` stands for /: tests lay out /sys and /proc of other machines in a folder.
std::vector<GpuSighting> find_gpus(const std::filesystem::path& root = "/");
Machine inspect_machine();

// "22.9 GiB", "512 MiB", "17 bytes".
std::string human_bytes(int64_t bytes);

}  // namespace pagoda::app
