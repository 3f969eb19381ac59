// Any bytes as a CDI spec, in both forms: what is read must come back from its own text as the same spec.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "container/cdi_spec.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pagoda::container;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto form : {CdiFormat::kYaml, CdiFormat::kJson}) {
    const auto spec = parse_cdi_spec(text, form);
    if (!spec) continue;
    for (const auto other : {CdiFormat::kYaml, CdiFormat::kJson}) {
      const std::string written = cdi_spec_text(*spec, other);
      const auto back = parse_cdi_spec(written, other);
      if (!back || cdi_spec_text(*back, other) != written) std::abort();
    }
  }
  return 0;
}
