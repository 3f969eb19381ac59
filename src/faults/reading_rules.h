// Judges the readings of GPUs against thresholds. Healthy readings say nothing; an absent one is no
// judgement.
#pragma once

#include <functional>
#include <string>

#include "faults/finding.h"
#include "faults/reported_readings.h"

namespace pagoda::faults {

namespace thresholds {
inline constexpr double kHotWithoutOwnThreshold =
    85;                                            // °C, exceeded: where the GPU's own threshold is unknown
inline constexpr double kLoadedPercent = 50;       // utilization from which a link must be at full speed
inline constexpr double kBusyPercent = 90;         // utilization from which a low performance state is odd
inline constexpr double kLowPerformanceState = 5;  // P5 and worse; P2 and P3 are usual for computing GeForces
inline constexpr double kMostRetiredPages = 63;    // DCGM's limit
inline constexpr double kMostRemappedRows = 512;   // DCGM's limit
inline constexpr double kHeldWithoutProcessMib = 512;
inline constexpr double kHeldShare = 0.05;             // of the memory, at least, to be worth a word
inline constexpr double kNvlinkErrorsPerSecond = 100;  // CRC errors of one link: DCGM's limit
inline constexpr double kFewReplays = 3;               // PCIe replays in a window that say nothing yet
}  // namespace thresholds

using EventSink = std::function<void(Event)>;

// `source` names where the snapshot comes from; its lines are the evidence.
void judge_snapshot(const Snapshot& snapshot, const std::string& source, const EventSink& sink);

}  // namespace pagoda::faults
