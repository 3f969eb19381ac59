// The rows of the table; each is defined in its own file, isa_NAME.cc.
#pragma once

#include "kernels/cpu/isa_table.h"

namespace pagoda::kernels {
extern const IsaTable kScalarTable;
#if defined(__x86_64__)
extern const IsaTable kAvx2Table;
extern const IsaTable kAvx512Table;
#endif
}  // namespace pagoda::kernels
