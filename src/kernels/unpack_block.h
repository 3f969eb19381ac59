// One block of a quantised dtype taken apart: the codes of its elements, one scale (and offset, where the
// format has them) per group. What dequantise.cc walks.
#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace pagoda::kernels {

using UnpackBlock = void (*)(const uint8_t* block, int8_t* codes, float* scales, float* offsets);

// Of the types whose codes choose points of a lattice, trits, or four-bit floats; nullptr for others.
UnpackBlock lattice_unpacker_of(DType dtype);

// IQ4_NL's sixteen levels.
constexpr int8_t kIq4NlLevels[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                     1,    13,   25,  38,  53,  69,  89,  113};

}  // namespace pagoda::kernels
