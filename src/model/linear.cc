#include "model/linear.h"

#include <array>

#include "base/check.h"

namespace pagoda::model {
namespace {

constexpr size_t kMaxParts = 4;

}  // namespace

Linear::Linear(std::vector<kernels::PackedMatrix> parts, kernels::Activations activations)
    : parts_(std::move(parts)), activations_(activations) {
  PAGODA_CHECK(parts_.size() <= kMaxParts, "a linear layer stacks at most four weights");
  for (const auto& part : parts_) rows_ += part.rows;
}

int64_t Linear::bytes() const {
  int64_t sum = 0;
  for (const auto& part : parts_) sum += part.bytes();
  return sum;
}

void Linear::apply(kernels::Compute& compute, ConstMatrix x, Matrix y, kernels::Store store) const {
  std::array<kernels::LinearOutput, kMaxParts> outputs;
  int row = 0;
  for (size_t i = 0; i < parts_.size(); ++i) {
    outputs[i] = {&parts_[i], y.columns_from(row, parts_[i].rows), store};
    row += parts_[i].rows;
  }
  compute.linear(x, activations_, std::span(outputs.data(), parts_.size()));
}

}  // namespace pagoda::model
