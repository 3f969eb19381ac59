#include "model/rope.h"

#include <cmath>

namespace pagoda::model {

Rope::Rope(RopeStyle style, int dims, float theta, float scale, std::vector<float> divisors)
    : pairs_(style == RopeStyle::kInterleaved ? kernels::RopePairs::kInterleaved
                                              : kernels::RopePairs::kHalves),
      dims_(dims) {
  for (int i = 0; i < dims / 2; ++i) {
    float frequency = 1.f / std::pow(theta, static_cast<float>(2 * i) / static_cast<float>(dims));
    if (!divisors.empty()) frequency /= divisors[static_cast<size_t>(i)];
    frequencies_.push_back(frequency / scale);
  }
}

kernels::RopeAngles Rope::angles(std::span<const int32_t> positions) {
  cosines_.resize(positions.size() * frequencies_.size());
  sines_.resize(cosines_.size());
  size_t i = 0;
  for (const int32_t position : positions) {
    for (const float frequency : frequencies_) {
      const double angle = static_cast<float>(position) * frequency;
      cosines_[i] = static_cast<float>(std::cos(angle));
      sines_[i] = static_cast<float>(std::sin(angle));
      ++i;
    }
  }
  return {cosines_.data(), sines_.data(), dims_, pairs_};
}

}  // namespace pagoda::model
