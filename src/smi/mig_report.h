// `mig -lgip`, `-lgi`, `-lci`: GPU instance profiles, GPU instances, compute instances.
#pragma once

#include <optional>
#include <string>

#include "driver/gpu_snapshot.h"

namespace pagoda::smi {

// Empty where no GPU has any: the caller says so and ends with NVML_ERROR_NOT_FOUND.
std::string mig_profiles(const driver::MachineSnapshot& machine);
std::string mig_gpu_instances(const driver::MachineSnapshot& machine);
std::string mig_compute_instances(const driver::MachineSnapshot& machine);
std::string mig_json(const driver::MachineSnapshot& machine);

}  // namespace pagoda::smi
