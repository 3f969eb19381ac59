// Step 3: whether a GPU computes or waits, and for what.
#pragma once

#include <string>

#include "faults/machine_record.h"

namespace pagoda::faults {

// "compute-bound", "waits for the disk (process 4711 python3 moves 230 MB/s …)"; empty: nothing is known of
// its load.
std::string load_in_words(const GpuRecord& gpu);

}  // namespace pagoda::faults
