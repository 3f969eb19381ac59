// What a machine shows without NVML: PCI devices, kernel modules, device files, driver versions, the kernel's
// log, and who holds the GPUs. Steps 1 and 4 of the five.
#pragma once

#include <filesystem>

#include "faults/examination.h"

namespace pagoda::faults {

// `root` stands for /: a folder that lays out another machine's /proc, /sys and /dev works the same. Reads
// only.
void inspect_host(const std::filesystem::path& root, Examination& examination);

}  // namespace pagoda::faults
