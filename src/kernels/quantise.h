// From numbers to codes: how plain weights are quantised, at load (packed_matrix.h) and into files.
#pragma once

#include <cstdint>
#include <span>

namespace pagoda::kernels {

// Symmetric codes of `bits` bits: [-127, 127] for 8 bits, else [-2^(bits-1), 2^(bits-1) - 1].

// For 8 bits the scale of the largest magnitude; below that the one of the least squared error, which may be
// negative. 0 for zeros.
float best_scale(std::span<const float> values, int bits);
// codes[i] = the nearest code of values[i] / scale; zeros where the scale is 0.
void code_values(std::span<const float> values, float scale, int bits, int8_t* codes);

// Groups of 32, whose scales will be kept in f16: codes [values], scales [values / 32].
void quantise_groups(std::span<const float> values, int bits, int8_t* codes, float* scales);

// The scale that takes the largest magnitude to E4M3's largest number; 1 for zeros.
float scale_for_f8(std::span<const float> values);

}  // namespace pagoda::kernels
