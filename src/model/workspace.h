// The activations of a forward pass: f32 matrices that are made once and grow to the largest batch seen.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/compute.h"
#include "model/forward_batch.h"
#include "model/kv_layout.h"

namespace pagoda::model {

class Activation {
 public:
  // Contents are undefined. Valid until the next call.
  Matrix of(int rows, int columns) {
    const int stride = stride_of(columns);
    const size_t size = static_cast<size_t>(rows) * static_cast<size_t>(stride);
    if (data_.size() < size) data_.resize(size);
    return {data_.data(), rows, columns, stride};
  }

 private:
  // Rows that lie a multiple of 1 KiB apart would share a few sets of the first-level cache, and a column of
  // tiles, written row by row, would miss on each.
  static int stride_of(int columns) { return columns % 256 == 0 ? columns + 16 : columns; }

  std::vector<float> data_;
};

// The batch's sequences as the KV ops see them, once per KV group: their block tables differ.
class GroupedSequences {
 public:
  void set(const ForwardBatch& batch, size_t groups) {
    by_group_.resize(groups);
    for (size_t group = 0; group < groups; ++group) {
      by_group_[group].clear();
      for (const BatchSequence& sequence : batch.sequences) {
        by_group_[group].push_back(
            {sequence.first_row, sequence.rows, sequence.context, sequence.block_tables[group]});
      }
    }
  }
  std::span<const kernels::KvSequence> of(int group) const { return by_group_[static_cast<size_t>(group)]; }

 private:
  std::vector<std::vector<kernels::KvSequence>> by_group_;
};

// A chain of row-wise ops takes a large batch in slices, so that what one op writes is still in the
// second-level cache when the next one reads it. function(first row, rows)
constexpr int kSliceRows = 64;
template <class Function>
void in_slices(int rows, Function&& function) {
  for (int first = 0; first < rows; first += kSliceRows) function(first, std::min(kSliceRows, rows - first));
}

// Copies rows `rows` of x, in order, to y.
inline void gather_rows(ConstMatrix x, std::span<const int32_t> rows, Matrix y) {
  for (size_t i = 0; i < rows.size(); ++i) {
    const float* from = x.row(rows[i]);
    std::copy(from, from + x.columns, y.row(static_cast<int>(i)));
  }
}

}  // namespace pagoda::model
