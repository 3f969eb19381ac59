// CUDA's errors, by number and by sentence, as programs print them.
#include "faults/log_pattern.h"

namespace pagoda::faults {
namespace {

constexpr LogPattern kRows[] = {
    // 2, out of memory: PyTorch's newer and older wordings, then everybody's.
    {"Tried to allocate",
     R"(out of memory\. Tried to allocate (?<wanted>[\d.]+ \w+)\. GPU (?<gpu_index>\d+) has a total capac?i?ty of (?<total>[\d.]+ \w+) of which (?<free>[\d.]+ \w+) is free\.(?<rest>.*))",
     "cuda-out-of-memory", Reader::kMemory},
    {"Tried to allocate",
     R"(out of memory\. Tried to allocate (?<wanted>[\d.]+ \w+) \(GPU (?<gpu_index>\d+); (?<total>[\d.]+ \w+) total capac?i?ty; (?<allocated>[\d.]+ \w+) already allocated; (?<free>[\d.]+ \w+) free;(?: (?<reserved>[\d.]+ \w+) reserved)?)",
     "cuda-out-of-memory", Reader::kMemory},
    {"Tried to allocate", R"(CUDA out of memory\. Tried to allocate (?<wanted>[\d.]+ \w+))",
     "cuda-out-of-memory", Reader::kMemory},
    {"out of memory",
     R"(CUDA (?:error: )?out of memory|OutOfMemoryError: CUDA|CUDA_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation|cudaMalloc failed: out of memory|CUDA runtime error in .*out of memory)",
     "cuda-out-of-memory"},
    {"CUDA_ERROR_OUT_OF_MEMORY", "", "cuda-out-of-memory"},
    {"cudaErrorMemoryAllocation", "", "cuda-out-of-memory"},
    {"CUBLAS_STATUS_ALLOC_FAILED", "", "cuda-out-of-memory"},
    {"driver version is insufficient for CUDA runtime", "", "cuda-driver-old", Reader::kCuda},
    {"The NVIDIA driver on your system is too old", R"(found version (?<found_number>\d+))",
     "cuda-driver-old", Reader::kCuda},
    {"CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "", "cuda-mismatch"},
    {"unsupported display driver / cuda driver combination", "", "cuda-mismatch"},
    {"all CUDA-capable devices are busy or unavailable", "", "cuda-busy"},
    {"CUDA-capable device(s) is/are busy or unavailable", "", "cuda-busy"},
    {"no CUDA-capable device is detected", "", "cuda-no-device"},
    {"No CUDA GPUs are available", "", "cuda-no-device"},
    {"Found no NVIDIA driver on your system", "", "cuda-no-device"},
    {"no kernel image is available", "", "cuda-no-kernel-image"},
    {"is not compatible with the current PyTorch installation", R"(CUDA capability (?<capability>sm_\d+))",
     "cuda-no-kernel-image", Reader::kCuda},
    {"unsupported toolchain", "PTX", "cuda-ptx-toolchain"},
    {"illegal memory access was encountered", "", "cuda-illegal-access"},
    {"CUDA_ERROR_ILLEGAL_ADDRESS", "", "cuda-illegal-access"},
    {"device-side assert", "", "cuda-device-assert"},
    {"unspecified launch failure", "", "cuda-launch-failure"},
    {"CUDA_ERROR_LAUNCH_FAILED", "", "cuda-launch-failure"},
    {"misaligned address", "CUDA", "cuda-launch-failure"},
    {"uncorrectable ECC error encountered", "", "cuda-ecc"},
    {"uncorrectable NVLink error", "", "cuda-nvlink"},
    {"Invalid access of peer GPU memory over nvlink", "", "cuda-nvlink"},
    {"system not yet initialized", "", "fabric-manager"},
    {"CUDA_ERROR_SYSTEM_NOT_READY", "", "fabric-manager"},
    {"forward compatibility was attempted", "", "cuda-forward-compatibility"},
    {"CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", "", "cuda-forward-compatibility"},
    {"invalid device ordinal", "", "cuda-device-ordinal"},
    {"CUDA error: unknown error", "", "cuda-unknown"},
    {"CUDA unknown error", "", "cuda-unknown"},
    // By number alone.
    {"error 802", "cuda", "fabric-manager"},
    {"error: 802", "cuda", "fabric-manager"},
    {"error 803", "cuda", "cuda-mismatch"},
    {"error 804", "cuda", "cuda-forward-compatibility"},
    // Libraries.
    {"libcuda.so", R"((?<library>libcuda\.so[\d.]*): cannot open shared object file)", "libcuda-missing"},
    {"libnvidia-ml.so", R"(load library failed: (?<library>libnvidia-ml\.so[\d.]*))",
     "container-library-missing"},
    {"libnvidia-ml.so", R"((?<library>libnvidia-ml\.so[\d.]*): cannot open shared object file)",
     "libcuda-missing"},
    {"cannot open shared object file",
     R"((?<library>lib(?:cudart|cublas\w*|cudnn\w*|cufft|curand|cusparse\w*|cusolver|nvrtc|nvinfer\w*|nccl|cupti|nvJitLink)[-\w.]*): cannot open shared object file)",
     "cuda-library-missing"},
};

}  // namespace

std::span<const LogPattern> cuda_patterns() {
  return kRows;
}

}  // namespace pagoda::faults
