#include "kernels/packed_matrix.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/format.h"
#include "base/thread_pool.h"
#include "kernels/dequantise.h"
#include "kernels/grouped_rows.h"
#include "kernels/quantise.h"

namespace pagoda::kernels {
namespace {

size_t element_bytes(WeightEncoding encoding) {
  return encoding == WeightEncoding::kF32 ? 4 : encoding == WeightEncoding::kF8 ? 1 : 2;
}

// Of kF8 and kQuantised: where the scales of a span begin.
size_t scales_at(const PackedFormat& format);

size_t code_bytes(const PackedFormat& format) {  // of a group
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
  GroupedRows grouped;

  RowBuffers(const PackedFormat& format, size_t columns) {
    values.resize(columns);
    if (format.encoding != WeightEncoding::kQuantised) return;
    codes.resize(columns);
    scales.resize(columns / static_cast<size_t>(format.span()));
    offsets.resize(scales.size());
  }
};

// One row of the stack on its way into a tile.
struct RowToPack {
  const TensorView& tensor;
  int64_t row;
  const PackedFormat& format;
  uint8_t* tile;
  int lane;
  const std::vector<int32_t>& column_order;

  int columns() const { return static_cast<int>(tensor.columns()); }
  int spans() const { return columns() / format.span(); }
  uint8_t* span(int i) const { return tile + static_cast<size_t>(i) * format.tile_bytes(format.span()); }
};

void dequantise(const RowToPack& r, RowBuffers& buffers) {
  if (r.tensor.grouped != nullptr) {
    buffers.grouped.dequantise(*r.tensor.grouped, static_cast<int>(r.row), buffers.values.data());
  } else {
    dequantise_row(r.tensor.dtype, r.tensor.row(r.row), r.columns(), buffers.values.data());
  }
}

void pack_plain_row(const RowToPack& r, RowBuffers& buffers) {
  dequantise(r, buffers);
  for (int k = 0; k < r.columns(); ++k)
    put_plain(r.tile, r.format.encoding, r.lane, k, buffers.values[static_cast<size_t>(k)]);
}

// The row's E4M3 codes under one scale per span.
void pack_f8_row(const RowToPack& r, RowBuffers& buffers) {
  const GroupedWeight* grouped = r.tensor.grouped;
  float scale = 1.f;
  if (grouped == nullptr) {
    dequantise(r, buffers);
    if (r.tensor.dtype != DType::kF8E4M3) scale = scale_for_f8(buffers.values);
  }
  const int8_t* codes =
      grouped != nullptr ? buffers.grouped.values(*grouped, static_cast<int>(r.row)) : nullptr;
  for (int s = 0; s < r.spans(); ++s) {
    uint8_t* span = r.span(s);
    for (int i = 0; i < r.format.span(); ++i) {
      const int k = s * r.format.span() + i;
      span[i * kTileRows + r.lane] = codes != nullptr
                                         ? static_cast<uint8_t>(codes[k])
                                         : f32_to_f8e4m3(buffers.values[static_cast<size_t>(k)] / scale);
    }
    if (grouped != nullptr)
      scale = scale_of(*grouped, static_cast<int>(r.row), s * r.format.span() / grouped->column_span);
    reinterpret_cast<float*>(span + scales_at(r.format))[r.lane] = scale;
  }
}

// Codes, scales and offsets of a row into `buffers`; its multiplier.
float take_grouped_row(const RowToPack& r, RowBuffers& buffers) {
  const GroupedWeight& w = *r.tensor.grouped;
  const int row = static_cast<int>(r.row);
  const int8_t* values = buffers.grouped.values(w, row);
  for (size_t k = 0; k < buffers.codes.size(); ++k)
    buffers.codes[k] = values[r.column_order.empty() ? k : static_cast<size_t>(r.column_order[k])];
  for (int s = 0; s < r.spans(); ++s) {
    const int group = s * r.format.span() / w.column_span;
    buffers.scales[static_cast<size_t>(s)] = scale_of(w, row, group);
    buffers.offsets[static_cast<size_t>(s)] = static_cast<float>(zero_of(w, row, group));
  }
  if (w.groups() > 1) return row_multiplier(buffers.scales, buffers.scales);
  const float multiplier = buffers.scales[0];  // the row's one scale, in all its bits
  if (multiplier == 0.f) return 1.f;
  std::fill(buffers.scales.begin(), buffers.scales.end(), multiplier);
  return multiplier;
}

float take_quantised_row(const RowToPack& r, RowBuffers& buffers) {
  if (r.tensor.grouped != nullptr) return take_grouped_row(r, buffers);
  if (is_quantised(r.tensor.dtype)) {
    unpack_row(r.tensor.dtype, r.tensor.row(r.row), r.columns(), buffers.codes.data(), buffers.scales.data(),
               buffers.offsets.data());
    return row_multiplier(buffers.scales, buffers.offsets);
  }
  dequantise(r, buffers);
  quantise_groups(buffers.values, r.format.bits, buffers.codes.data(), buffers.scales.data());
  return row_multiplier(buffers.scales, buffers.scales);
}

float pack_quantised_row(const RowToPack& r, RowBuffers& buffers) {
  const PackedFormat& format = r.format;
  const float multiplier = take_quantised_row(r, buffers);
  for (int s = 0; s < r.spans(); ++s) {
    uint8_t* span = r.span(s);
    for (int g = 0; g < format.groups_per_scale; ++g) {
      const size_t k = static_cast<size_t>(s * format.span() + g * format.group);
      put_codes(span + static_cast<size_t>(g) * code_bytes(format), format, r.lane, buffers.codes.data() + k);
    }
    const auto at = static_cast<size_t>(s);
    uint16_t* scales = reinterpret_cast<uint16_t*>(span + scales_at(format));
    scales[r.lane] = f32_to_f16(buffers.scales[at] / multiplier);
    const float unit = format.offset_is_zero_point ? 1.f : multiplier;
    if (format.has_offset) scales[kTileRows + r.lane] = f32_to_f16(buffers.offsets[at] / unit);
  }
  return multiplier;
}

bool is_plain_weight(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16;
}

// Whether pack() turns the tensor into the format.
bool fits(const TensorView& tensor, const PackedFormat& format) {
  const bool plain = format.encoding != WeightEncoding::kQuantised && format.encoding != WeightEncoding::kF8;
  if (plain) return tensor.grouped != nullptr || can_dequantise(tensor.dtype);
  if (native_format(tensor) == format) return true;
  return is_plain_weight(tensor.dtype) && !format.has_offset && tensor.columns() % format.span() == 0;
}

Status check_stackable(std::span<const TensorView> tensors, const PackedFormat& format) {
  for (const TensorView& tensor : tensors) {
    if (tensor.columns() != tensors[0].columns()) {
      return fail(ErrorCode::kCorruptData,
                  pagoda::format("weights of shape {} and {} cannot be stacked: their columns differ",
                                 tensors[0].shape.to_string(), tensor.shape.to_string()));
    }
    if (!same_column_order(tensors[0], tensor))
      return fail(ErrorCode::kUnsupported, "weights whose columns are in different orders cannot be stacked");
    if (!fits(tensor, format)) {
      return fail(ErrorCode::kUnsupported,
                  pagoda::format("weights of type {} cannot be packed here", info_of(tensor.dtype).name));
    }
  }
  return {};
}

size_t scales_at(const PackedFormat& format) {
  if (format.encoding == WeightEncoding::kF8) return static_cast<size_t>(format.span()) * kTileRows;
  return format.groups_per_scale * code_bytes(format);
}

}  // namespace

size_t PackedFormat::tile_bytes(int columns) const {
  const size_t k = static_cast<size_t>(columns);
  if (encoding == WeightEncoding::kF8)
    return k / static_cast<size_t>(span()) * (scales_at(*this) + kTileRows * sizeof(float));
  if (encoding != WeightEncoding::kQuantised) return (k + k % 2) * kTileRows * element_bytes(encoding);
  return k / static_cast<size_t>(span()) * (scales_at(*this) + kTileRows * size_t{2} * (has_offset ? 2 : 1));
}

PackedFormat native_format(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return plain_format(WeightEncoding::kF16);
    case DType::kBF16:
    case DType::kF8E4M3:  // without scales of its own: an exact conversion
    case DType::kNF4:     // no kernel multiplies its levels
      return plain_format(WeightEncoding::kBF16);
    case DType::kInt4:  // the usual width; the tensor itself knows better
      return {WeightEncoding::kQuantised, 4, 32, false, false, 4};
    case DType::kInt8:
      return {WeightEncoding::kQuantised, 8, 32, false};
    default:
      break;
  }
  if (!is_quantised(dtype)) return plain_format(WeightEncoding::kF32);
  const QuantFormat& quant = quant_format_of(dtype);
  const bool narrow = quant.code_max - quant.code_min < 16;
  return {WeightEncoding::kQuantised, static_cast<uint8_t>(narrow ? 4 : 8), static_cast<uint8_t>(quant.group),
          quant.has_offset};
}

PackedFormat native_format(const TensorView& tensor) {
  if (tensor.grouped == nullptr) return native_format(tensor.dtype);
  const auto packing = grouped_packing(*tensor.grouped);
  return packing ? packing->format : plain_format(WeightEncoding::kBF16);
}

PackedFormat quantise_f8_format(int columns) {
  PackedFormat format = {WeightEncoding::kF8, 0, 32, false};
  format.groups_per_scale = static_cast<uint16_t>(columns / 32);
  return format;
}

bool same_column_order(const TensorView& a, const TensorView& b) {
  const auto order = [](const TensorView& tensor) {
    const bool moved = tensor.grouped != nullptr && tensor.grouped->group_of_column != nullptr;
    const auto packing = moved ? grouped_packing(*tensor.grouped) : std::nullopt;
    return packing ? packing->column_order : std::vector<int32_t>();
  };
  return &a == &b || order(a) == order(b);
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
  const bool coded = format.encoding == WeightEncoding::kQuantised || format.encoding == WeightEncoding::kF8;
  if (coded && tensors[0].grouped != nullptr)
    packed.column_order = grouped_packing(*tensors[0].grouped)->column_order;
  std::vector<float> multipliers(static_cast<size_t>(packed.tiles()) * kTileRows, 1.f);
  pool.run([&](int worker) {
    const Share share = share_of(packed.tiles(), worker, pool.size());
    RowBuffers buffers(format, static_cast<size_t>(packed.columns));
    for (int row = share.begin * kTileRows; row < std::min(share.end * kTileRows, packed.rows); ++row) {
      const auto& [tensor, tensor_row] = rows[static_cast<size_t>(row)];
      uint8_t* tile = packed.data.as<uint8_t>(static_cast<size_t>(row / kTileRows) * packed.tile_bytes());
      const RowToPack to_pack{*tensor, tensor_row, format, tile, row % kTileRows, packed.column_order};
      if (format.encoding == WeightEncoding::kQuantised) {
        multipliers[static_cast<size_t>(row)] = pack_quantised_row(to_pack, buffers);
      } else if (format.encoding == WeightEncoding::kF8) {
        pack_f8_row(to_pack, buffers);
      } else {
        pack_plain_row(to_pack, buffers);
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

// Weight i of a span of a coded format.
float span_weight(const uint8_t* span, const PackedFormat& format, int lane, int i) {
  const uint8_t* after = span + scales_at(format);
  if (format.encoding == WeightEncoding::kF8)
    return f8e4m3_to_f32(span[i * kTileRows + lane]) * reinterpret_cast<const float*>(after)[lane];
  const uint16_t* scales = reinterpret_cast<const uint16_t*>(after);
  const float scale = f16_to_f32(scales[lane]);
  const float offset = format.has_offset ? f16_to_f32(scales[kTileRows + lane]) : 0.f;
  const uint8_t* group = span + static_cast<size_t>(i / format.group) * code_bytes(format);
  const auto value = static_cast<float>(packed_code(group, format, lane, i % format.group));
  return format.offset_is_zero_point ? scale * (value - offset) : scale * value + offset;
}

}  // namespace

void unpack_row(const PackedMatrix& matrix, int row, float* out) {
  const PackedFormat& format = matrix.format;
  const uint8_t* tile = matrix.tile(row / kTileRows);
  const int lane = row % kTileRows;
  const auto place = [&](int k) {
    return matrix.column_order.empty() ? k : matrix.column_order[static_cast<size_t>(k)];
  };
  if (format.encoding != WeightEncoding::kQuantised && format.encoding != WeightEncoding::kF8) {
    for (int k = 0; k < matrix.columns; ++k) out[k] = plain_weight(tile, format.encoding, lane, k);
    return;
  }
  const float multiplier =
      matrix.row_multipliers.empty() ? 1.f : matrix.row_multipliers[static_cast<size_t>(row)];
  for (int s = 0; s < matrix.columns / format.span(); ++s) {
    const uint8_t* span = tile + static_cast<size_t>(s) * format.tile_bytes(format.span());
    for (int i = 0; i < format.span(); ++i)
      out[place(s * format.span() + i)] = span_weight(span, format, lane, i) * multiplier;
  }
}

}  // namespace pagoda::kernels
