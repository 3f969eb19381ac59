#include "kernels/packed_matrix.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/format.h"
#include "base/thread_pool.h"
#include "kernels/dequantise.h"

namespace pagoda::kernels {
namespace {

size_t element_bytes(WeightEncoding encoding) {
  return encoding == WeightEncoding::kF32 ? 4 : 2;
}

size_t code_bytes(const PackedFormat& format) {
  return size_t{format.group} * format.bits * kTileRows / 8;
}

// Writes element (lane, k) of a plain tile.
void put_plain(uint8_t* tile, WeightEncoding encoding, int lane, int k, float value) {
  const size_t place = static_cast<size_t>(k) * kTileRows + static_cast<size_t>(lane);
  if (encoding == WeightEncoding::kF32) {
    reinterpret_cast<float*>(tile)[place] = value;
  } else if (encoding == WeightEncoding::kF16) {
    reinterpret_cast<uint16_t*>(tile)[place] = f32_to_f16(value);
  } else {
    const size_t pair = static_cast<size_t>(k / 2) * 2 * kTileRows + 2 * static_cast<size_t>(lane) +
                        static_cast<size_t>(k % 2);
    reinterpret_cast<uint16_t*>(tile)[pair] = f32_to_bf16(value);
  }
}

// Four codes of one lane lie together: "quads". Byte by byte, packing would be most of a server's start.
uint32_t quad_of(const int8_t* codes, int zero_point) {
  uint32_t quad = 0;
  for (int i = 0; i < 4; ++i)
    quad |= static_cast<uint32_t>(static_cast<uint8_t>(codes[i] + zero_point)) << (8 * i);
  return quad;
}

void put_codes(uint8_t* group, const PackedFormat& format, int lane, const int8_t* codes) {
  const int half = format.bits == 8 ? format.group : format.group / 2;
  uint8_t* place = group + lane * 4;
  for (int k = 0; k < half; k += 4, place += 4 * kTileRows) {
    uint32_t quad = quad_of(codes + k, format.zero_point());
    if (format.bits == 4) quad |= quad_of(codes + half + k, format.zero_point()) << 4;
    std::memcpy(place, &quad, sizeof quad);
  }
}

// The power of two that lifts a row's scales so that f16 keeps all their bits: the largest lands in [2^9,
// 2^10). 1 where f16 holds every value exactly, as it does for the formats that store f16 themselves.
float row_multiplier(const std::vector<float>& scales, const std::vector<float>& offsets) {
  float largest = 0.f;
  bool exact = true;
  for (const std::vector<float>* values : {&scales, &offsets}) {
    for (float value : *values) {
      largest = std::max(largest, std::fabs(value));
      exact = exact && f16_to_f32(f32_to_f16(value)) == value;
    }
  }
  if (exact || largest == 0.f || !std::isfinite(largest)) return 1.f;
  int exponent = 0;
  std::frexp(largest, &exponent);
  return std::ldexp(1.f, exponent - 10);
}

struct RowBuffers {
  std::vector<float> values;
  std::vector<int8_t> codes;
  std::vector<float> scales, offsets;

  RowBuffers(const PackedFormat& format, size_t columns) {
    if (format.encoding != WeightEncoding::kQuantised) {
      values.resize(columns);
      return;
    }
    codes.resize(columns);
    scales.resize(columns / format.group);
    offsets.resize(columns / format.group);
  }
};

void pack_plain_row(const TensorView& tensor, int64_t row, WeightEncoding encoding, uint8_t* tile, int lane,
                    RowBuffers& buffers) {
  const int columns = static_cast<int>(tensor.columns());
  dequantise_row(tensor.dtype, tensor.row(row), columns, buffers.values.data());
  for (int k = 0; k < columns; ++k)
    put_plain(tile, encoding, lane, k, buffers.values[static_cast<size_t>(k)]);
}

float pack_quantised_row(const TensorView& tensor, int64_t row, const PackedFormat& format, uint8_t* tile,
                         int lane, RowBuffers& buffers) {
  const int columns = static_cast<int>(tensor.columns());
  unpack_row(tensor.dtype, tensor.row(row), columns, buffers.codes.data(), buffers.scales.data(),
             buffers.offsets.data());
  const float multiplier = row_multiplier(buffers.scales, buffers.offsets);
  const size_t group_bytes = format.tile_bytes(format.group);
  for (size_t g = 0; g < buffers.scales.size(); ++g) {
    uint8_t* group = tile + g * group_bytes;
    put_codes(group, format, lane, buffers.codes.data() + g * format.group);
    uint16_t* scales = reinterpret_cast<uint16_t*>(group + code_bytes(format));
    scales[lane] = f32_to_f16(buffers.scales[g] / multiplier);
    if (format.has_offset) scales[kTileRows + lane] = f32_to_f16(buffers.offsets[g] / multiplier);
  }
  return multiplier;
}

Status check_stackable(std::span<const TensorView> tensors, const PackedFormat& format) {
  for (const TensorView& tensor : tensors) {
    if (tensor.columns() != tensors[0].columns()) {
      return fail(ErrorCode::kCorruptData,
                  pagoda::format("weights of shape {} and {} cannot be stacked: their columns differ",
                                 tensors[0].shape.to_string(), tensor.shape.to_string()));
    }
    const bool fits = format.encoding == WeightEncoding::kQuantised
                          ? is_quantised(tensor.dtype) && native_format(tensor.dtype) == format
                          : can_dequantise(tensor.dtype);
    if (!fits) {
      return fail(ErrorCode::kUnsupported,
                  pagoda::format("weights of type {} cannot be packed here", info_of(tensor.dtype).name));
    }
  }
  return {};
}

}  // namespace

size_t PackedFormat::tile_bytes(int columns) const {
  const size_t k = static_cast<size_t>(columns);
  if (encoding != WeightEncoding::kQuantised) return (k + k % 2) * kTileRows * element_bytes(encoding);
  return k / group * (code_bytes(*this) + kTileRows * size_t{2} * (has_offset ? 2 : 1));
}

PackedFormat native_format(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return plain_format(WeightEncoding::kF16);
    case DType::kBF16:
      return plain_format(WeightEncoding::kBF16);
    default:
      break;
  }
  if (!is_quantised(dtype)) return plain_format(WeightEncoding::kF32);
  const QuantFormat& quant = quant_format_of(dtype);
  const bool narrow = quant.code_max - quant.code_min < 16;
  return {WeightEncoding::kQuantised, static_cast<uint8_t>(narrow ? 4 : 8), static_cast<uint8_t>(quant.group),
          quant.has_offset};
}

Result<PackedMatrix> pack(std::span<const TensorView> tensors, PackedFormat format, ThreadPool& pool) {
  PAGODA_TRY(check_stackable(tensors, format));
  std::vector<std::pair<const TensorView*, int64_t>> rows;  // of the stack
  for (const TensorView& tensor : tensors) {
    for (int64_t row = 0; row < tensor.rows(); ++row) rows.emplace_back(&tensor, row);
  }
  PackedMatrix packed;
  packed.format = format;
  packed.rows = static_cast<int>(rows.size());
  packed.columns = static_cast<int>(tensors[0].columns());
  packed.data = Buffer(static_cast<size_t>(packed.tiles()) * packed.tile_bytes());
  std::vector<float> multipliers(static_cast<size_t>(packed.tiles()) * kTileRows, 1.f);
  pool.run([&](int worker) {
    const Share share = share_of(packed.tiles(), worker, pool.size());
    RowBuffers buffers(format, static_cast<size_t>(packed.columns));
    for (int row = share.begin * kTileRows; row < std::min(share.end * kTileRows, packed.rows); ++row) {
      const auto& [tensor, tensor_row] = rows[static_cast<size_t>(row)];
      uint8_t* tile = packed.data.as<uint8_t>(static_cast<size_t>(row / kTileRows) * packed.tile_bytes());
      if (format.encoding == WeightEncoding::kQuantised) {
        multipliers[static_cast<size_t>(row)] =
            pack_quantised_row(*tensor, tensor_row, format, tile, row % kTileRows, buffers);
      } else {
        pack_plain_row(*tensor, tensor_row, format.encoding, tile, row % kTileRows, buffers);
      }
    }
  });
  for (float multiplier : multipliers) {
    if (multiplier != 1.f) {
      packed.row_multipliers = std::move(multipliers);
      break;
    }
  }
  return packed;
}

namespace {

float plain_weight(const uint8_t* tile, WeightEncoding encoding, int lane, int k) {
  const size_t place = static_cast<size_t>(k) * kTileRows + static_cast<size_t>(lane);
  if (encoding == WeightEncoding::kF32) return reinterpret_cast<const float*>(tile)[place];
  if (encoding == WeightEncoding::kF16) return f16_to_f32(reinterpret_cast<const uint16_t*>(tile)[place]);
  const size_t pair =
      static_cast<size_t>(k / 2) * 2 * kTileRows + 2 * static_cast<size_t>(lane) + static_cast<size_t>(k % 2);
  return bf16_to_f32(reinterpret_cast<const uint16_t*>(tile)[pair]);
}

int packed_code(const uint8_t* group, const PackedFormat& format, int lane, int k) {
  if (format.bits == 8) return group[k / 4 * 64 + lane * 4 + k % 4] - format.zero_point();
  const bool high = k >= format.group / 2;
  const int in_half = high ? k - format.group / 2 : k;
  const uint8_t both = group[in_half / 4 * 64 + lane * 4 + in_half % 4];
  return (high ? both >> 4 : both & 15) - format.zero_point();
}

}  // namespace

void unpack_row(const PackedMatrix& matrix, int row, float* out) {
  const PackedFormat& format = matrix.format;
  const uint8_t* tile = matrix.tile(row / kTileRows);
  const int lane = row % kTileRows;
  if (format.encoding != WeightEncoding::kQuantised) {
    for (int k = 0; k < matrix.columns; ++k) out[k] = plain_weight(tile, format.encoding, lane, k);
    return;
  }
  const float multiplier =
      matrix.row_multipliers.empty() ? 1.f : matrix.row_multipliers[static_cast<size_t>(row)];
  const size_t group_bytes = format.tile_bytes(format.group);
  for (int g = 0; g < matrix.columns / format.group; ++g) {
    const uint8_t* group = tile + static_cast<size_t>(g) * group_bytes;
    const uint16_t* scales = reinterpret_cast<const uint16_t*>(group + code_bytes(format));
    const float scale = f16_to_f32(scales[lane]);
    const float offset = format.has_offset ? f16_to_f32(scales[kTileRows + lane]) : 0.f;
    for (int k = 0; k < format.group; ++k) {
      out[g * format.group + k] =
          (scale * static_cast<float>(packed_code(group, format, lane, k)) + offset) * multiplier;
    }
  }
}

}  // namespace pagoda::kernels
