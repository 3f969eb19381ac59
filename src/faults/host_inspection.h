// What a machine shows without NVML: PCI devices, kernel modules, device files, driver versions, the kernel's
// log, and who holds the GPUs. Steps 1 and 4 of the five, by the driver floor's facts (driver/host_facts.h).
#pragma once

#include <set>
#include <string>

#include "driver/host_root.h"
#include "faults/device_holders.h"
#include "faults/examination.h"

namespace pagoda::faults {

// What the rest of an examination builds on.
struct HostView {
  std::set<std::string> claimed;  // GPUs that NVIDIA's kernel driver holds, by short address
  bool has_gpus = false;          // on the bus, whoever holds them
  bool module_loaded = false;
  bool whole_machine =
      false;  // not a container, which sees the bus whole, and of GPUs and processes its share
  Holders holders;
};

// Reads only.
HostView inspect_host(const driver::HostRoot& root, Examination& examination);

// The kernel's ring of messages; where it is closed to this user or has lost its beginning, the journal of
// this boot. False, and a gap is noted: neither can be read.
bool inspect_kernel_log(const driver::HostRoot& root, Examination& examination);

}  // namespace pagoda::faults
