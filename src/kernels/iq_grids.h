// The lattice points of GGUF's IQ types. A point is one number: the levels of its eight (two bits each) or
// four (three bits each) magnitudes, from the lowest bits up.
#pragma once

#include <cstdint>

namespace pagoda::kernels {

extern const uint16_t kIq2XxsGrid[256];
extern const uint16_t kIq2XsGrid[512];
extern const uint16_t kIq2SGrid[1024];
extern const uint16_t kIq3XxsGrid[256];
extern const uint16_t kIq3SGrid[512];
extern const uint16_t kIq1Grid[2048];

}  // namespace pagoda::kernels
