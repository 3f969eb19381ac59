// How well two GPUs of the node are connected: NVLinks first, then the path over PCIe.
#pragma once

#include <map>
#include <utility>

#include "driver/nvml.h"

namespace pagoda::kubelet {

class GpuCloseness {
 public:
  GpuCloseness() = default;
  // What NVML tells; pairs that it does not tell of are far apart.
  static GpuCloseness read(const driver::Nvml& nvml);

  void set(int a, int b, int closeness);
  // Symmetric; higher is closer. Of a GPU to itself: kSame.
  int of(int a, int b) const;

  static constexpr int kPerNvLink = 100;  // one link outweighs every path over PCIe
  static constexpr int kSame = 100000;

 private:
  std::map<std::pair<int, int>, int> pairs_;  // the smaller index first
};

}  // namespace pagoda::kubelet
