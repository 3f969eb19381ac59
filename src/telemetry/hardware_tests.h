// The diagnostic's tests that work the GPU itself, by CUDA: levels 2 and 3.
#pragma once

#include <chrono>
#include <functional>

#include "telemetry/cuda_driver.h"
#include "telemetry/diagnostic.h"

namespace pagoda::telemetry {

struct HardwareTestOptions {
  std::chrono::seconds stress{30};         // of level 3's stress test
  double memory_share = 0.95;              // of what is free; at least three quarters of all must be had
  size_t piece_bytes = size_t{256} << 20;  // of memory and of copies; less on a small GPU
};

// One test on one GPU, which `cuda` already uses. `replays`: reads the PCIe replay counter.
TestResult test_memory(CudaDriver& cuda, const HardwareTestOptions& options);
TestResult test_pcie(CudaDriver& cuda, const HardwareTestOptions& options,
                     const std::function<driver::Reading<unsigned>()>& replays);
TestResult test_memory_bandwidth(CudaDriver& cuda, const HardwareTestOptions& options);
TestResult test_stress(CudaDriver& cuda, const HardwareTestOptions& options);

// The kernel of test_stress, in PTX, for those who want to compile it: 'stress' multiplies and adds in every
// thread so often and stores the sum.
const char* stress_ptx();
// What every thread of it must come to.
float stress_result(unsigned rounds);

}  // namespace pagoda::telemetry
