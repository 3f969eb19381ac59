// What a call answers that no scenario has a value for: the same checks as any other, then
// NVML_ERROR_NOT_SUPPORTED, as a card without the feature does. The calls themselves are generated
// (tools/simulated_sources.py).
#include "simulate/abi/reply.h"

extern "C" int pagoda_simulated_unsupported(const char* function) {
  return pagoda::simulate::Reply(function).fail(NVML_ERROR_NOT_SUPPORTED);
}
