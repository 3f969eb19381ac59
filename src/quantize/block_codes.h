// Rows of numbers as GGUF's blocks. Layouts: ggml-common.h of https://github.com/ggml-org/ggml; the choice of
// scales is this project's: the least squared error, weighted where the format has room for it.
#pragma once

#include <cstddef>
#include <span>

#include "tensor/dtype.h"

namespace pagoda::quantize {

// F32, F16, BF16, Q4_0, Q5_0, Q8_0, Q4_K and Q6_K.
bool can_write(DType dtype);

// values: whole blocks of the dtype; out: bytes_of(dtype, values).
void write_blocks(DType dtype, std::span<const float> values, std::byte* out);

}  // namespace pagoda::quantize
