// How a process is named and typed in every output.
#pragma once

#include <string>

#include "driver/gpu_readings.h"

namespace pagoda::smi {

// "C", "G", "C+G"; "M+C" under MPS.
std::string process_type(const driver::GpuProcess& process);
// The driver's name for it, or "[Not Found]" and the like where it has ended or cannot be seen from here.
std::string process_name(const driver::GpuProcess& process);
// The end of a long name, after "...".
std::string cut_on_the_left(const std::string& name, size_t width);

}  // namespace pagoda::smi
