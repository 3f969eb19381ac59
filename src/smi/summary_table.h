// The table that a call without arguments prints: a banner, two lines per GPU, MIG devices, processes.
#pragma once

#include <string>

#include "driver/gpu_snapshot.h"
#include "smi/output_style.h"

namespace pagoda::smi {

// "Wed Aug 12 21:53:45 2026" in the machine's time zone.
std::string calendar_time(std::chrono::system_clock::time_point time);

// What has to be read for it (driver::Section).
unsigned summary_sections();
std::string summary_table(const driver::MachineSnapshot& machine, const OutputStyle& style);

// The rows of the MIG devices' table, empty where no GPU is in MIG mode; and of the processes'.
std::string mig_table(const driver::MachineSnapshot& machine, const OutputStyle& style);
std::string process_table(const driver::MachineSnapshot& machine, const OutputStyle& style);

}  // namespace pagoda::smi
