#include "simulate/value.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace pagoda::simulate {
namespace {

constexpr double kMostSteps = 1e6;

double between(const std::vector<std::pair<double, double>>& points, double t, bool steps) {
  const auto after = std::upper_bound(points.begin(), points.end(), t,
                                      [](double time, const auto& point) { return time < point.first; });
  if (after == points.begin()) return points.front().second;
  const auto before = std::prev(after);
  if (after == points.end() || steps) return before->second;
  const double share = (t - before->first) / (after->first - before->first);
  return before->second + share * (after->second - before->second);
}

}  // namespace

double Curve::at(double t, double phase) const {
  switch (shape) {
    case Shape::kWave:
      return mean + amplitude * std::sin(2 * std::numbers::pi * (t + phase) / period);
    case Shape::kSlope:
      return from + per_second * t;
    case Shape::kLine:
    case Shape::kSteps: {
      if (points.empty()) return 0;
      const double length = points.back().first;
      const double time = repeat && length > 0 ? std::fmod(t + phase, length) : t;
      return between(points, time, shape == Shape::kSteps);
    }
  }
  return 0;
}

double Curve::integral(double t, double phase) const {
  if (shape == Shape::kSlope) return from * t + per_second * t * t / 2;
  if (shape == Shape::kWave) {
    // Closed form, so that a counter does not go back when its steps change.
    const double turn = 2 * std::numbers::pi / period;
    return mean * t + amplitude / turn * (std::cos(turn * phase) - std::cos(turn * (t + phase)));
  }
  if (points.empty()) return 0;
  // Whole seconds by their middle: the same steps whatever t is, so the result never falls while the values
  // are positive.
  double sum = 0;
  const double step = t > 0 ? std::floor(t / kMostSteps) + 1 : 1;
  const double whole = std::floor(t / step) * step;
  for (double begin = 0; begin < whole; begin += step) sum += step * at(begin + step / 2, phase);
  return sum + (t - whole) * at(whole + step / 2, phase);
}

}  // namespace pagoda::simulate
