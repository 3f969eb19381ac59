#include <cstdlib>

#include "base/format.h"
#include "kernels/cpu/isa_rows.h"

namespace pagoda::kernels {
namespace {

const IsaTable* const kTables[] = {
#if defined(__x86_64__)
    &kAvx512Table,
    &kAvx2Table,
#endif
    &kScalarTable,
};

std::string supported_names() {
  std::string names;
  for (const IsaTable* table : kTables) {
    if (table->supported()) names += (names.empty() ? "" : ", ") + std::string(table->name);
  }
  return names;
}

}  // namespace

std::span<const IsaTable* const> isa_tables() {
  return kTables;
}

Result<const IsaTable*> choose_isa() {
  const char* wanted = std::getenv("PAGODA_ISA");
  for (const IsaTable* table : kTables) {
    if (wanted == nullptr ? table->supported() : table->name == wanted && table->supported()) return table;
  }
  return fail(ErrorCode::kInvalidArgument,
              format("PAGODA_ISA={} is not available on this machine; it has {}", wanted, supported_names()));
}

}  // namespace pagoda::kernels
