// A weight matrix as the CPU kernels stream it: repacked once at load, never changed afterwards.
//
// Rows (outputs) come in tiles of 16, one per vector lane, so that every output sums its products in the
// order of k alone: the same bytes on every instruction set, for every batch. Within a tile:
//   kF32, kF16:  [k][16]                      one weight of 16 rows
//   kBF16:       [k/2][16][2]                 pairs of k side by side, as vdpbf16ps takes them; k padded to
//   even quantised:   [k / group] groups, each     codes, then 16 f16 scales, then 16 f16 offsets if there
//   are any
//     8-bit codes: [group/4][16][4]           value + 128
//     4-bit codes: [group/8][16][4]           value + 8, or the value itself where there are offsets; low
//                                             nibbles hold the first half of the group
//   weight = scale · value + offset, all multiplied by the row's multiplier where there are some.
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

enum class WeightEncoding : uint8_t { kF32, kF16, kBF16, kQuantised };

struct PackedFormat {
  WeightEncoding encoding = WeightEncoding::kF32;
  // Of kQuantised:
  uint8_t bits = 0;   // 4 or 8
  uint8_t group = 0;  // 16 or 32 elements share a scale
  bool has_offset = false;

  int zero_point() const { return bits == 8 ? 128 : has_offset ? 0 : 8; }  // code − zero_point = value

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

  int tiles() const { return (rows + kTileRows - 1) / kTileRows; }
  size_t tile_bytes() const { return format.tile_bytes(columns); }
  const uint8_t* tile(int i) const { return data.as<uint8_t>(static_cast<size_t>(i) * tile_bytes()); }
  int64_t bytes() const { return static_cast<int64_t>(data.size() + row_multipliers.size() * sizeof(float)); }
};

// The format that keeps `dtype`'s own codes. Plain types keep their encoding.
PackedFormat native_format(DType dtype);
constexpr PackedFormat plain_format(WeightEncoding encoding) {
  return {encoding, 0, 0, false};
}

// Stacks the tensors' rows into one matrix (q, k and v of one layer, say). All have the same columns; each
// may be of any dtype that converts into `format`: plain formats take every dtype, quantised ones only those
// whose native_format() it is.
Result<PackedMatrix> pack(std::span<const TensorView> tensors, PackedFormat format, ThreadPool& pool);

// Row `row` as f32 [columns].
void unpack_row(const PackedMatrix& matrix, int row, float* out);

}  // namespace pagoda::kernels
