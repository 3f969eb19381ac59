// What NVIDIA's own tools know of a GPU without public NVML (part numbers, the slot's PCIe generation).
// Clients that know that the GPUs are simulated ask for it by name.
#include <nvml.h>

#include "base/format.h"
#include "simulate/abi/reply.h"

using namespace pagoda::simulate;

// `key`: without "private.". Numbers come as text.
PAGODA_NVML_EXPORT nvmlReturn_t pagodaSimulatedDeviceGetText(nvmlDevice_t device, const char* key, char* text,
                                                             unsigned length) {
  Reply reply("pagodaSimulatedDeviceGetText", device);
  if (reply.require(key != nullptr && text != nullptr && length > 0).failed()) return reply;
  const Answer answer = reply.get(pagoda::format("private.{}", key));
  if (answer.code != NVML_SUCCESS) return reply.fail(answer.code);
  const bool is_text = !answer.text.empty();
  return reply.put_text(is_text ? answer.text : pagoda::format("{}", static_cast<long long>(answer.number)),
                        text, length);
}
