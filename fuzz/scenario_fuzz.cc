// Scenarios and overlays of simulated GPUs: any bytes are read or refused in one line, and what was read is
// written so that it reads the same again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "simulate/scenario.h"
#include "simulate/shared_state.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pagoda::simulate;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto scenario = parse_scenario(text, "fuzz.yaml");
  if (!scenario && scenario.error().message.empty()) std::abort();
  const auto overlay = parse_overlay(text, "fuzz.yaml");
  if (!overlay) return 0;
  const std::string once = to_yaml(*overlay);
  const auto again = parse_overlay(once, "again.yaml");
  if (!again || to_yaml(*again) != once) std::abort();
  return 0;
}
