// From a file's weights to numbers: the scalar reference, equal bit for bit to ggml's and to the `gguf`
// Python package's dequantisation, and the same values taken apart for kernels that pack weights their own
// way. Block layouts: ggml-common.h and ggml-quants.c of https://github.com/ggml-org/ggml.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"

namespace pagoda::kernels {

// How a quantised dtype makes numbers: value = scale · code (+ offset), with one scale and offset for `group`
// consecutive elements.
struct QuantFormat {
  DType dtype;
  int bits;      // of one code in the file
  int code_min;  // a code fits int8 and lies in [code_min, code_max]
  int code_max;
  int group;  // 16 or 32 elements; divides the dtype's block
  bool has_offset;
};

// `dtype` must be a quantised one.
const QuantFormat& quant_format_of(DType dtype);
inline int group_size(DType dtype) {
  return quant_format_of(dtype).group;
}

// Whether dequantise_row knows the dtype: all of them but the integers, F64 and what is grouped.
bool can_dequantise(DType dtype);

// One row, or any run of whole blocks: `elements` is a multiple of the dtype's block.
void dequantise_row(DType dtype, const std::byte* row, int elements, float* out);

// codes [elements], scales and offsets [elements / group]. out[i] of dequantise_row is exactly
// scales[i / group] · codes[i] + offsets[i / group], every product being exact in f32. Where the format has
// no offset, offsets are zeros, and may be null. The dtype must be quantised.
void unpack_row(DType dtype, const std::byte* row, int elements, int8_t* codes, float* scales,
                float* offsets);

}  // namespace pagoda::kernels
