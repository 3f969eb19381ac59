// The weights of a linear layer, or of several that share an input (q, k and v): their rows stacked, packed
// for one precision.
#pragma once

#include <vector>

#include "kernels/compute.h"

namespace pagoda::model {

class Linear {
 public:
  Linear() = default;
  Linear(std::vector<kernels::PackedMatrix> parts, kernels::Activations activations);

  int rows() const { return rows_; }  // outputs, of all parts
  int64_t bytes() const;
  // The one part of an unstacked layer: an embedding is looked up in it.
  const kernels::PackedMatrix& matrix() const { return parts_.front(); }

  // y [tokens, rows()] (+)= x · weightᵀ
  void apply(kernels::Compute& compute, ConstMatrix x, Matrix y,
             kernels::Store store = kernels::Store::kOverwrite) const;

 private:
  std::vector<kernels::PackedMatrix> parts_;  // neighbours of one format are one part
  kernels::Activations activations_ = kernels::Activations::kF32;
  int rows_ = 0;
};

}  // namespace pagoda::model
