// Values that stand for readings, so that watches and policies can be tried: `dcgmi test --inject`.
#pragma once

#include <string>
#include <vector>

#include "telemetry/field_catalogue.h"
#include "telemetry/watch_state.h"

namespace pagoda::telemetry {

inline constexpr std::int64_t kInjectionLastsUs = 60'000'000;

// The text as the field's type. kInvalidArgument: it is no number.
Result<FieldValue> parse_value(const FieldRow& row, const std::string& text);

// Those that stand at this time.
std::vector<InjectedValue> standing(const std::vector<InjectedValue>& injected, std::int64_t now_us);

// Lays them over the sample; an injected XID comes back as an event.
std::vector<XidEvent> inject(const std::vector<InjectedValue>& injected, GpuSample& sample);

}  // namespace pagoda::telemetry
