#include "driver/cuda_releases.h"

#include <array>

namespace pagoda::driver {
namespace {

constexpr std::array kReleases = {
    CudaRelease{"10.0", "410.48"},    CudaRelease{"10.1", "418.39"},    CudaRelease{"10.2", "440.33"},
    CudaRelease{"11.0", "450.36.06"}, CudaRelease{"11.1", "455.23"},    CudaRelease{"11.2", "460.27.03"},
    CudaRelease{"11.3", "465.19.01"}, CudaRelease{"11.4", "470.42.01"}, CudaRelease{"11.5", "495.29.05"},
    CudaRelease{"11.6", "510.39.01"}, CudaRelease{"11.7", "515.43.04"}, CudaRelease{"11.8", "520.61.05"},
    CudaRelease{"12.0", "525.60.13"}, CudaRelease{"12.1", "530.30.02"}, CudaRelease{"12.2", "535.54.03"},
    CudaRelease{"12.3", "545.23.06"}, CudaRelease{"12.4", "550.54.14"}, CudaRelease{"12.5", "555.42.02"},
    CudaRelease{"12.6", "560.28.03"}, CudaRelease{"12.8", "570.26"},    CudaRelease{"12.9", "575.51.03"},
    CudaRelease{"13.0", "580.65.06"}, CudaRelease{"13.1", "590.44.01"}, CudaRelease{"13.2", "595.45.04"},
    CudaRelease{"13.3", "610.43.02"},
};

struct CompatibilityFloor {
  int cuda_major;
  std::string_view driver;
};
constexpr std::array kFloors = {
    CompatibilityFloor{11, "450.80.02"},
    CompatibilityFloor{12, "525.60.13"},
    CompatibilityFloor{13, "580"},
};

}  // namespace

std::span<const CudaRelease> cuda_releases() {
  return kReleases;
}

std::optional<std::string_view> newest_cuda(const VersionNumber& driver) {
  std::optional<std::string_view> newest;
  for (const auto& release : kReleases) {
    // nvidia-smi of a branch shows the branch's CUDA whatever its build: 570.x is 12.8, even a beta of it.
    if (driver >= *VersionNumber::parse(release.least_driver) ||
        driver.major() == VersionNumber::parse(release.least_driver)->major()) {
      newest = release.cuda;
    }
  }
  return newest;
}

std::optional<LeastDriver> least_driver(std::string_view cuda) {
  const auto wanted = VersionNumber::parse(cuda);
  if (!wanted) return std::nullopt;
  for (const auto& release : kReleases) {
    if (*VersionNumber::parse(release.cuda) != *wanted) continue;
    LeastDriver result{release.least_driver, release.least_driver};
    for (const auto& floor : kFloors) {
      if (floor.cuda_major == wanted->major()) result.compatible = floor.driver;
    }
    return result;
  }
  return std::nullopt;
}

}  // namespace pagoda::driver
