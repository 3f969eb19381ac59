// What a plan needs to know of a device and of what joins it to others. A table of cards fills it in, or the
// machine itself.
#pragma once

#include <cstdint>
#include <string>

#include "tensor/device.h"

namespace pagoda::model {

// Rates are per second and per device; links count one direction. 0: unknown, or not there.
struct DeviceFacts {
  DeviceKind kind = DeviceKind::kCpu;
  std::string name;             // "H100 80GB HBM3"
  std::string key;              // what --gpu takes: "h100-80gb"; empty for the machine's CPU
  int64_t memory_bytes = 0;     // as the driver counts it; of a CPU: what is available
  int64_t in_use_bytes = 0;     // of it, by others
  double memory_bandwidth = 0;  // bytes
  double flops_16 = 0;          // dense, 16-bit
  double flops_8 = 0;           // dense, FP8 or int8
  double nvlink = 0;            // bytes
  int nvlink_group = 0;         // devices that NVLink joins: 8 on a board, 2 by a bridge
  double pcie = 0;              // bytes
  double network = 0;           // bytes, between nodes
  int per_node = 8;

  int64_t free_bytes() const { return memory_bytes - in_use_bytes; }
};

}  // namespace pagoda::model
