// `--version`: the driver's and its libraries' versions.
#pragma once

#include <string>

#include "driver/gpu_snapshot.h"
#include "smi/output_style.h"

namespace pagoda::smi {

std::string version_report(const driver::DriverReadings& driver, const OutputStyle& style);
// "13.590.48.01" → "590.48", as NVIDIA's tool shows it.
std::string short_nvml_version(const std::string& version);

}  // namespace pagoda::smi
