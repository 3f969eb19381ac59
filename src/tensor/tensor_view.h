// Shape and views of memory that somebody else owns. Row-major, the last dimension is contiguous.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "tensor/dtype.h"

namespace pagoda {

class Shape {
 public:
  static constexpr int kMaxRank = 4;

  Shape() = default;
  Shape(std::initializer_list<int64_t> dims);

  int rank() const { return rank_; }
  int64_t operator[](int i) const { return dims_[static_cast<size_t>(i)]; }
  int64_t elements() const;
  void push_back(int64_t dim);
  std::string to_string() const;  // "[49152, 576]"
  bool operator==(const Shape&) const = default;

 private:
  std::array<int64_t, kMaxRank> dims_{};
  int rank_ = 0;
};

struct GroupedWeight;

// A tensor as it lies in a file: any dtype, read only.
struct TensorView {
  const std::byte* data = nullptr;
  DType dtype = DType::kF32;
  Shape shape;  // slowest dimension first: a weight matrix is [rows_out, columns_in]
  // Where scales and codes are tensors of their own (grouped_weight.h), `data` is null and rows are read by
  // this.
  const GroupedWeight* grouped = nullptr;

  int64_t columns() const { return shape[shape.rank() - 1]; }
  int64_t rows() const { return shape.elements() / columns(); }
  size_t row_bytes() const { return bytes_of(dtype, static_cast<size_t>(columns())); }
  const std::byte* row(int64_t i) const { return data + static_cast<size_t>(i) * row_bytes(); }
};

// f32 activations: `rows` rows of `columns`, `stride` elements apart.
template <class T>
struct MatrixView {
  T* data = nullptr;
  int rows = 0;
  int columns = 0;
  int stride = 0;

  MatrixView() = default;
  MatrixView(T* d, int r, int c) : data(d), rows(r), columns(c), stride(c) {}
  MatrixView(T* d, int r, int c, int s) : data(d), rows(r), columns(c), stride(s) {}
  // A Matrix reads as a ConstMatrix.
  operator MatrixView<const T>() const { return {data, rows, columns, stride}; }

  T* row(int i) const { return data + static_cast<ptrdiff_t>(i) * stride; }
  MatrixView rows_from(int begin, int count) const { return {row(begin), count, columns, stride}; }
  // Columns [begin, begin + count) of every row.
  MatrixView columns_from(int begin, int count) const { return {data + begin, rows, count, stride}; }
};
using Matrix = MatrixView<float>;
using ConstMatrix = MatrixView<const float>;

}  // namespace pagoda
