// Collective time-outs of all ranks, put together: the same step everywhere means the network or a hang, a
// smaller one names the rank that lags, different collectives at one step a program whose ranks have parted.
#pragma once

#include <optional>
#include <vector>

#include "faults/event_log.h"

namespace pagoda::faults {

// One group for each rank (fields rank, seq, op, numel). Nothing: no time-out.
std::optional<Finding> judge_watchdogs(const std::vector<const EventGroup*>& ranks);

}  // namespace pagoda::faults
