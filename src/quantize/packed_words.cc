#include "quantize/packed_words.h"

#include "tensor/dtype.h"

namespace pagoda::quantize {
namespace {

// The row that nibble i of an AWQ word holds.
constexpr int kAwqOrder[8] = {0, 2, 4, 6, 1, 3, 5, 7};

// [lines, rows / 8]; value(row, line) is a nibble.
template <class Value>
WordMatrix pack_awq(int lines, int rows, Value&& value) {
  WordMatrix out{lines, rows / 8, {}};
  out.words.reserve(static_cast<size_t>(out.rows * out.columns));
  for (int line = 0; line < lines; ++line) {
    for (int row = 0; row < rows; row += 8) {
      uint32_t word = 0;
      for (int i = 0; i < 8; ++i) word |= static_cast<uint32_t>(value(row + kAwqOrder[i], line)) << (4 * i);
      out.words.push_back(word);
    }
  }
  return out;
}

uint8_t code_at(const IntegerWeights& w, int row, int column) {
  return w.codes[static_cast<size_t>(row) * static_cast<size_t>(w.columns) + static_cast<size_t>(column)];
}

}  // namespace

WordMatrix awq_codes(const IntegerWeights& w) {
  return pack_awq(w.columns, w.rows, [&](int row, int column) { return code_at(w, row, column); });
}

WordMatrix awq_zeros(const IntegerWeights& w) {
  return pack_awq(w.groups(), w.rows,
                  [&](int row, int group) { return w.zeros[w.group_at(row, group * w.group)]; });
}

WordMatrix gptq_codes(const IntegerWeights& w) {
  const int per_word = 32 / w.bits;
  WordMatrix out{w.columns / per_word, w.rows, {}};
  out.words.reserve(static_cast<size_t>(out.rows * out.columns));
  for (int column = 0; column < w.columns; column += per_word) {
    for (int row = 0; row < w.rows; ++row) {
      uint32_t word = 0;
      for (int i = 0; i < per_word; ++i)
        word |= static_cast<uint32_t>(code_at(w, row, column + i)) << (w.bits * i);
      out.words.push_back(word);
    }
  }
  return out;
}

WordMatrix gptq_zeros(const IntegerWeights& w) {
  const int per_word = 32 / w.bits;
  WordMatrix out{w.groups(), w.rows / per_word, {}};
  for (int group = 0; group < w.groups(); ++group) {
    for (int row = 0; row < w.rows; row += per_word) {
      uint32_t word = 0;
      for (int i = 0; i < per_word; ++i) {
        const int stored = (w.zeros[w.group_at(row + i, group * w.group)] - 1) & w.most();
        word |= static_cast<uint32_t>(stored) << (w.bits * i);
      }
      out.words.push_back(word);
    }
  }
  return out;
}

std::vector<uint16_t> scales_by_group(const IntegerWeights& w) {
  std::vector<uint16_t> out;
  out.reserve(w.scales.size());
  for (int group = 0; group < w.groups(); ++group) {
    for (int row = 0; row < w.rows; ++row)
      out.push_back(f32_to_f16(w.scales[w.group_at(row, group * w.group)]));
  }
  return out;
}

}  // namespace pagoda::quantize
