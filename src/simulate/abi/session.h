// One process's use of the simulated library: how often it was initialised, its machine, and what its handles
// stand for.
#pragma once

#include <nvml.h>

#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "simulate/machine.h"

#define PAGODA_NVML_EXPORT extern "C" __attribute__((visibility("default")))

namespace pagoda::simulate {

class Session {
 public:
  static Session& instance();

  // NVML counts initialisations; the machine stays as it is between them.
  nvmlReturn_t init();
  nvmlReturn_t shutdown();
  bool initialised() const;
  // Valid once init() has succeeded, for as long as the process lives.
  Machine& machine() { return *machine_; }
  // Before the first init() too (nvmlSystemGetNVMLVersion); null where no scenario could be loaded.
  Machine* machine_if_any();

  // The GPUs that this process sees, by NVML's index. All of the scenario; with PAGODA_SIMULATE_NODES=FOLDER
  // those that have their node FOLDER/nvidiaMINOR, as in a container the real library sees those that it can
  // open. Asked anew each time: a scenario may change while it runs.
  std::vector<unsigned> visible();

  // Handles live as long as the process: a client may keep one over a shutdown, as with the real library.
  nvmlDevice_t handle(unsigned gpu, int mig = Device::kWhole);
  // Null for what is no handle of ours.
  const Device* find(nvmlDevice_t handle) const;

 private:
  nvmlReturn_t load();
  mutable std::mutex mutex_;
  int count_ = 0;
  nvmlReturn_t load_code_ = NVML_SUCCESS;
  std::unique_ptr<Machine> machine_;
  std::deque<Device> devices_;
};

}  // namespace pagoda::simulate
