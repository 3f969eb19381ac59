// Values that follow from others and that a scenario need not give: free memory, energy, a margin, the second
// half of a pair. A scenario that gives one wins.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "simulate/value.h"

namespace pagoda::simulate {

struct DerivationContext {
  unsigned gpu = 0;
  std::string scenario;
  double seconds = 0;
  std::function<std::optional<Number>(std::string_view key)> number;  // of the same device
  std::function<std::shared_ptr<const std::vector<Record>>(std::string_view key)> list;
  std::function<std::optional<std::string>(std::string_view key)> system_text;
};

// Nothing where the key follows from nothing, or from what this device has not.
std::optional<Value> derive(std::string_view key, const DerivationContext& context);

}  // namespace pagoda::simulate
