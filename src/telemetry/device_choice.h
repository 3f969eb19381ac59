// Which GPUs and MIG instances are shown, in dcgm-exporter's grammar: `f` (a GPU, or its instances where it
// is in MIG mode), `g[:0,2-4]` (GPUs), `i[:0,1]` (instances, counted over all GPUs), `g…+i…`.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pagoda::telemetry {

struct DeviceChoice {
  // nullopt: none of this sort; empty: all of them.
  using Indices = std::optional<std::vector<unsigned>>;
  bool flexible = true;  // `f`; then the other two say nothing
  Indices gpus, instances;

  bool has_gpu(unsigned index, bool in_mig_mode) const;
  bool has_instance(unsigned index) const;
};

// kInvalidArgument: says what is wrong with the text.
Result<DeviceChoice> parse_device_choice(std::string_view text);

}  // namespace pagoda::telemetry
