// A quantised weight matrix [rows, columns] whose codes, scales and zero points are tensors of their own, as
// Hugging Face folders hold them: weight = scale · (code − zero point), or scale · level[code].
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/tensor_view.h"

namespace pagoda {

// How the codes lie. Words are little-endian int32, filled from their lowest bits.
enum class CodeLayout : uint8_t {
  kAwq,         // words [columns, rows / 8]: eight rows in the order 0 2 4 6 1 3 5 7, 4 bits each
  kGptq,        // words [columns · bits / 32, rows]: 32 / bits following columns of one row
  kRowWords,    // words [rows, columns · bits / 32]: the same, row by row
  kRowBytes,    // int8 [rows, columns]
  kRowFloat8,   // E4M3 [rows, columns]
  kRowNibbles,  // bytes [rows · columns / 2]: the even column in the high nibble; codes choose a level
};

enum class ZeroLayout : uint8_t {
  kNone,         // `zero` for all
  kAwq,          // words [groups, rows / 8], as kAwq's codes
  kGptq,         // words [groups, rows · bits / 32]
  kColumnWords,  // words [rows · bits / 32, groups]: following rows share a word
  kBytes,        // int8 [rows, groups]
};

struct GroupedWeight {
  CodeLayout layout = CodeLayout::kRowWords;
  int rows = 0, columns = 0;
  int bits = 4;  // 2, 4 or 8
  const std::byte* codes = nullptr;

  // One scale for `column_span` columns of `row_span` rows.
  TensorView scales;
  bool scales_by_group = false;  // [groups, rows] rather than [rows / row_span, groups]
  int row_span = 1;
  int column_span = 0;       // a multiple of the groups below; the columns, where a row has one scale
  float scale_factor = 1.f;  // what every scale is multiplied by

  ZeroLayout zeros_in = ZeroLayout::kNone;
  const std::byte* zeros = nullptr;
  int zero = 0;  // without zeros: of all; with them: what is added to each (1 in GPTQ's first version)
  const int32_t* group_of_column = nullptr;  // [columns]; null: column / column_span
  const float* levels = nullptr;             // [16], of kRowNibbles

  int groups() const { return (columns + column_span - 1) / column_span; }
  int group_of(int column) const {
    return group_of_column != nullptr ? group_of_column[column] : column / column_span;
  }
};

}  // namespace pagoda
