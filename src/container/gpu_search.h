// Where the machine's GPUs are looked for: in the driver's own library, which knows all names, or in the
// kernel module's files where the library does not answer.
#pragma once

#include <string>
#include <vector>

#include "container/gpu_devices.h"
#include "driver/nvml.h"

namespace pagoda::container {

enum class GpuSource { kAuto, kNvml, kModuleFiles };

struct FoundGpus {
  std::vector<GpuDevice> gpus;  // by index; may be empty
  std::string nvml_fault;       // why the library was not used; empty where it was
};

// The library of `driver_root`, or the one that $PAGODA_NVML_LIBRARY names. kUnavailable, kNotFound.
Result<driver::Nvml> open_nvml(const driver::HostRoot& driver_root);

// What NVML knows, GPUs that do not answer left out. `capabilities`: roots whose module files tell the MIG
// devices' nodes, the first that knows them.
std::vector<GpuDevice> gpus_in_nvml(const driver::Nvml& nvml,
                                    const std::vector<const driver::HostRoot*>& capabilities);

// `host`: the root whose /proc is the kernel's. `driver_root`: where the driver's files lie; its
// libnvidia-ml.so.1 is asked, unless $PAGODA_NVML_LIBRARY names another (a simulated machine), which then
// must answer. A `host` that is another machine's tree is read, never asked. kUnavailable: NVML was demanded
// and does not answer.
Result<FoundGpus> find_gpus(const driver::HostRoot& host, const driver::HostRoot& driver_root,
                            GpuSource source);

}  // namespace pagoda::container
