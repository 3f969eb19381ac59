#include "kernels/grouped_rows.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "kernels/dequantise.h"

namespace pagoda::kernels {
namespace {

constexpr int kGroup = 32;  // of the packed formats

// The nibble of an AWQ word that holds row r of its eight.
constexpr int kAwqNibble[8] = {0, 4, 1, 5, 2, 6, 3, 7};

uint32_t word_at(const std::byte* words, size_t i) {
  uint32_t word;
  std::memcpy(&word, words + 4 * i, sizeof word);
  return word;
}

struct Decoding {
  const GroupedWeight& w;
  int first, count;
  int centre;
  int8_t* out;  // [count][columns]

  uint32_t mask() const { return (1u << w.bits) - 1; }
  int8_t centred(uint32_t code) const { return static_cast<int8_t>(static_cast<int>(code) - centre); }
  int8_t* row(int r) const { return out + static_cast<ptrdiff_t>(r) * w.columns; }
  size_t place(int r) const { return static_cast<size_t>(first + r) * static_cast<size_t>(w.columns); }
};

void decode_awq(const Decoding& d) {
  const size_t words_per_column = static_cast<size_t>(d.w.rows / 8);
  for (int k = 0; k < d.w.columns; ++k) {
    const size_t at = static_cast<size_t>(k) * words_per_column;
    for (int r = 0; r < d.count; ++r) {
      const int row = d.first + r;
      const uint32_t word = word_at(d.w.codes, at + static_cast<size_t>(row / 8));
      d.row(r)[k] = d.centred((word >> (4 * kAwqNibble[row % 8])) & 15);
    }
  }
}

void decode_gptq(const Decoding& d) {
  const int per_word = 32 / d.w.bits;
  for (int k = 0; k < d.w.columns; k += per_word) {
    const size_t at = static_cast<size_t>(k / per_word) * static_cast<size_t>(d.w.rows);
    for (int r = 0; r < d.count; ++r) {
      const uint32_t word = word_at(d.w.codes, at + static_cast<size_t>(d.first + r));
      for (int i = 0; i < per_word; ++i) d.row(r)[k + i] = d.centred((word >> (i * d.w.bits)) & d.mask());
    }
  }
}

void decode_row_words(const Decoding& d) {
  const int per_word = 32 / d.w.bits;
  const size_t words = static_cast<size_t>((d.w.columns + per_word - 1) / per_word);
  for (int r = 0; r < d.count; ++r) {
    const size_t at = static_cast<size_t>(d.first + r) * words;
    for (int k = 0; k < d.w.columns; ++k) {
      const uint32_t word = word_at(d.w.codes, at + static_cast<size_t>(k / per_word));
      d.row(r)[k] = d.centred((word >> (k % per_word * d.w.bits)) & d.mask());
    }
  }
}

void decode_nibbles(const Decoding& d) {
  for (int r = 0; r < d.count; ++r) {
    for (int k = 0; k < d.w.columns; ++k) {
      const size_t place = d.place(r) + static_cast<size_t>(k);
      const auto both = static_cast<uint32_t>(d.w.codes[place / 2]);
      d.row(r)[k] = static_cast<int8_t>(place % 2 == 0 ? both >> 4 : both & 15);
    }
  }
}

void decode(const Decoding& d) {
  switch (d.w.layout) {
    case CodeLayout::kAwq:
      return decode_awq(d);
    case CodeLayout::kGptq:
      return decode_gptq(d);
    case CodeLayout::kRowWords:
      return decode_row_words(d);
    case CodeLayout::kRowNibbles:
      return decode_nibbles(d);
    case CodeLayout::kRowBytes:
    case CodeLayout::kRowFloat8:  // their bits
      std::memcpy(d.out, d.w.codes + d.place(0), d.place(d.count) - d.place(0));
      return;
  }
}

uint32_t zero_code(const GroupedWeight& w, int row, int group) {
  const auto r = static_cast<size_t>(row), g = static_cast<size_t>(group);
  const auto groups = static_cast<size_t>(w.groups()), rows = static_cast<size_t>(w.rows);
  const auto per_word = static_cast<size_t>(32 / w.bits);
  const uint32_t mask = (1u << w.bits) - 1;
  switch (w.zeros_in) {
    case ZeroLayout::kAwq:
      return (word_at(w.zeros, g * (rows / 8) + r / 8) >> (4 * kAwqNibble[row % 8])) & mask;
    case ZeroLayout::kGptq: {
      const uint32_t word = word_at(w.zeros, g * ((rows + per_word - 1) / per_word) + r / per_word);
      return (word >> (r % per_word * static_cast<size_t>(w.bits))) & mask;
    }
    case ZeroLayout::kColumnWords:
      return (word_at(w.zeros, r / per_word * groups + g) >> (r % per_word * static_cast<size_t>(w.bits))) &
             mask;
    case ZeroLayout::kBytes:
    case ZeroLayout::kNone:
      return 0;
  }
  return 0;
}

// What the format asks of the columns: whole groups, each under one scale.
bool groups_are_even(const GroupedWeight& w) {
  const bool one_scale = w.column_span == w.columns;
  return w.columns % kGroup == 0 && (one_scale || w.column_span % kGroup == 0);
}

// Columns by their group; nothing where groups differ in size.
std::optional<std::vector<int32_t>> order_of(const GroupedWeight& w) {
  std::vector<int32_t> order(static_cast<size_t>(w.columns));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return w.group_of(a) < w.group_of(b); });
  for (int k = 0; k < w.columns; ++k) {
    if (w.group_of(order[static_cast<size_t>(k)]) != k / w.column_span) return std::nullopt;
  }
  if (std::is_sorted(order.begin(), order.end())) order.clear();
  return order;
}

}  // namespace

int centre_of(const GroupedWeight& w) {
  const bool in_words =
      w.layout == CodeLayout::kAwq || w.layout == CodeLayout::kGptq || w.layout == CodeLayout::kRowWords;
  if (!in_words) return 0;
  if (w.bits == 8) return 128;
  return w.zeros_in == ZeroLayout::kNone ? w.zero : 0;
}

float scale_of(const GroupedWeight& w, int row, int group) {
  const int64_t columns = w.scales.columns();
  const int64_t at = w.scales_by_group ? group * columns + row : row / w.row_span * columns + group;
  float scale;
  dequantise_row(w.scales.dtype, w.scales.data + bytes_of(w.scales.dtype, static_cast<size_t>(at)), 1,
                 &scale);
  return scale * w.scale_factor;
}

int zero_of(const GroupedWeight& w, int row, int group) {
  if (w.zeros_in == ZeroLayout::kNone) return w.zero - centre_of(w);
  if (w.zeros_in == ZeroLayout::kBytes) {
    const size_t at = static_cast<size_t>(row) * static_cast<size_t>(w.groups()) + static_cast<size_t>(group);
    return static_cast<int8_t>(w.zeros[at]) + w.zero - centre_of(w);
  }
  // GPTQ's first version stores one less, modulo the codes.
  const uint32_t mask = (1u << w.bits) - 1;
  return static_cast<int>((zero_code(w, row, group) + static_cast<uint32_t>(w.zero)) & mask) - centre_of(w);
}

std::optional<GroupedPacking> grouped_packing(const GroupedWeight& w) {
  if (!groups_are_even(w) || w.layout == CodeLayout::kRowNibbles) return std::nullopt;
  auto order = order_of(w);
  if (!order) return std::nullopt;
  GroupedPacking packing;
  packing.column_order = std::move(*order);
  PackedFormat& format = packing.format;
  format.group = kGroup;
  format.groups_per_scale =
      static_cast<uint16_t>(w.columns % w.column_span == 0 ? w.column_span / kGroup : 1);
  if (w.layout == CodeLayout::kRowFloat8) {
    format.encoding = WeightEncoding::kF8;
    return packing;
  }
  format.encoding = WeightEncoding::kQuantised;
  format.bits = w.bits == 8 ? 8 : 4;
  format.has_offset = w.zeros_in != ZeroLayout::kNone || zero_of(w, 0, 0) != 0;
  format.offset_is_zero_point = format.has_offset;
  return packing;
}

const int8_t* GroupedRows::values(const GroupedWeight& weight, int row) {
  const bool known = weight_ == &weight && row >= first_ && row < first_ + count_;
  if (!known) {
    weight_ = &weight;
    first_ = row;
    count_ = std::min(kTileRows, weight.rows - row);
    values_.resize(static_cast<size_t>(kTileRows) * static_cast<size_t>(weight.columns));
    decode({weight, first_, count_, centre_of(weight), values_.data()});
  }
  return values_.data() + static_cast<ptrdiff_t>(row - first_) * weight.columns;
}

void GroupedRows::dequantise(const GroupedWeight& w, int row, float* out) {
  const int8_t* value = values(w, row);
  std::vector<float> scales(static_cast<size_t>(w.groups())), zeros(scales.size());
  for (int g = 0; g < w.groups(); ++g) {
    scales[static_cast<size_t>(g)] = scale_of(w, row, g);
    zeros[static_cast<size_t>(g)] = static_cast<float>(zero_of(w, row, g));
  }
  for (int k = 0; k < w.columns; ++k) {
    const auto group = static_cast<size_t>(w.group_of(k));
    float number;
    if (w.levels != nullptr) {
      number = w.levels[value[k]];
    } else if (w.layout == CodeLayout::kRowFloat8) {
      number = f8e4m3_to_f32(static_cast<uint8_t>(value[k]));
    } else {
      number = static_cast<float>(value[k]) - zeros[group];
    }
    out[k] = scales[group] * number;
  }
}

}  // namespace pagoda::kernels
