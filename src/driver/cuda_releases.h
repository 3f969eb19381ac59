// Which driver runs which CUDA. Source: the release notes of the CUDA toolkit (table "minimum driver
// versions") and the CUDA compatibility guide.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "driver/version_number.h"

namespace pagoda::driver {

struct CudaRelease {
  std::string_view cuda;          // "12.8"
  std::string_view least_driver;  // the Linux driver that ships with it: runs it in full
};

// Oldest first.
std::span<const CudaRelease> cuda_releases();

// The newest CUDA that this driver runs in full: what nvidia-smi calls "CUDA Version". nullopt: older
// than 10.0.
std::optional<std::string_view> newest_cuda(const VersionNumber& driver);

// The least driver that runs programs of this CUDA release, in full or by minor-version compatibility (CUDA
// 11 on: a driver of the same major release, without the newer features). nullopt: a release not in the
// table.
struct LeastDriver {
  std::string_view in_full;
  std::string_view compatible;  // equal to in_full where there is no such compatibility
};
std::optional<LeastDriver> least_driver(std::string_view cuda);

// The least driver that pagoda's own CUDA backend (CUDA 13) runs on.
inline constexpr std::string_view kPagodaCuda = "13.0";
inline constexpr int kPagodaCudaDriverMajor = 580;

}  // namespace pagoda::driver
