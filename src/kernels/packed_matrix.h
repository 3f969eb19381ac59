// A weight matrix as the CPU kernels stream it: repacked once at load, never changed afterwards.
//
// Rows (outputs) come in tiles of 16, one per vector lane, so that every output sums its products in the
// order of k alone: the same bytes on every instruction set, for every batch. Within a tile:
//   kF32, kF16:  [k][16]                      one weight of 16 rows
//   kBF16:       [k/2][16][2]                 pairs of k side by side, as vdpbf16ps takes them; k padded to
//   even
//   kF8:         [k / span] spans of span · [16] E4M3 bytes, then 16 f32 scales
//   kQuantised:  [k / span] spans, each its groups' codes, then 16 f16 scales, then 16 f16 offsets if there
//   are any; span = group · groups_per_scale
//     8-bit codes: [group/4][16][4]           value + 128
//     4-bit codes: [group/8][16][4]           value + 8, or the value itself where there are offsets; low
//                                             nibbles hold the first half of the group
//   weight = scale · value + offset, or scale · (value − offset) where the offset is a zero point; all
//   multiplied by the row's multiplier where there are some.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "tensor/buffer.h"
#include "tensor/tensor_view.h"

namespace pagoda {
class ThreadPool;
}

namespace pagoda::kernels {

constexpr int kTileRows = 16;

enum class WeightEncoding : uint8_t { kF32, kF16, kBF16, kF8, kQuantised };

struct PackedFormat {
  WeightEncoding encoding = WeightEncoding::kF32;
  // Of kQuantised:
  uint8_t bits = 0;   // 4 or 8
  uint8_t group = 0;  // 16 or 32: elements whose products are summed before they are scaled
  bool has_offset = false;
  bool offset_is_zero_point = false;
  uint16_t groups_per_scale = 1;  // above 1 only with groups of 32; of kF8 too

  int zero_point() const { return bits == 8 ? 128 : has_offset ? 0 : 8; }  // code − zero_point = value
  int span() const { return group * groups_per_scale; }

  size_t tile_bytes(int columns) const;
  bool operator==(const PackedFormat&) const = default;
};

struct PackedMatrix {
  PackedFormat format;
  int rows = 0;     // outputs
  int columns = 0;  // inputs
  Buffer data;      // [tiles][format.tile_bytes(columns)]
  // Powers of two that keep small f16 scales out of the subnormal range; empty when all are 1. [rows, padded
  // to 16]
  std::vector<float> row_multipliers;
  // Column k of the weights multiplies column column_order[k] of the input; empty: in order. Act-order
  // checkpoints group the columns by importance, not by place.
  std::vector<int32_t> column_order;

  int tiles() const { return (rows + kTileRows - 1) / kTileRows; }
  size_t tile_bytes() const { return format.tile_bytes(columns); }
  const uint8_t* tile(int i) const { return data.as<uint8_t>(static_cast<size_t>(i) * tile_bytes()); }
  int64_t bytes() const {
    return static_cast<int64_t>(data.size() + row_multipliers.size() * sizeof(float) +
                                column_order.size() * sizeof(int32_t));
  }
};

// The format that keeps the weights as they are stored: quantised ones their own codes, plain types their
// encoding. kBF16 for codes that no kernel multiplies: they are dequantised.
PackedFormat native_format(const TensorView& tensor);
PackedFormat native_format(DType dtype);  // of a tensor that is not grouped
// Formats that pack() quantises plain weights to, row by row.
constexpr PackedFormat kQuantiseInt8 = {WeightEncoding::kQuantised, 8, 32, false};
constexpr PackedFormat kQuantiseInt4 = {WeightEncoding::kQuantised, 4, 32, false};
PackedFormat quantise_f8_format(int columns);  // one scale per row

constexpr PackedFormat plain_format(WeightEncoding encoding) {
  return {encoding, 0, 0, false};
}

// Whether two tensors of one native format can be rows of one matrix: their columns are in the same order.
bool same_column_order(const TensorView& a, const TensorView& b);

// Stacks the tensors' rows into one matrix (q, k and v of one layer, say). All have the same columns; each
// may be of any dtype that converts into `format`: plain formats take every dtype; quantised ones those whose
// native_format() it is, and plain weights where it is one of the formats above.
Result<PackedMatrix> pack(std::span<const TensorView> tensors, PackedFormat format, ThreadPool& pool);

// Row `row` as f32 [columns], in the columns' own order.
void unpack_row(const PackedMatrix& matrix, int row, float* out);

}  // namespace pagoda::kernels
