// What to change when a model does not fit, in order of price: 4-bit weights, a shorter context, less
// memory with swap space, more or other devices. Every rung is computed, whether it helps or not.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/deployment_plan.h"
#include "model/swap_forecast.h"

namespace pagoda::model {

enum class RungKind : uint8_t {
  kFourBit,
  kShorter,
  kSwap,
  kFourBitShorter,  // the first two together, where neither is enough
  kMoreDevices,
  kOtherCard,
};

struct Rung {
  RungKind kind;
  std::string title;  // "4-bit weights (AWQ or GPTQ)"
  bool helps = false;
  std::string outcome;  // what it takes and gives, or why it does not help
  // Flags of `pagoda serve` that differ from what was asked for: name without dashes, value.
  std::vector<std::pair<std::string, std::string>> flags;
  DeploymentPlan plan;   // as changed; of a rung that does not help, as near as it comes
  double slow_down = 1;  // of a swapping server
};

// Times of one step on the device, for the swap rung. The default stands for an unknown device: the rung then
// gives no slow-down.
struct LadderFacts {
  std::span<const DeviceFacts> cards;  // that could be had, any order
  StepRates rates;
  bool rates_known = false;
};

// In order of price. The plan is one that does not fit as asked.
std::vector<Rung> fallback_ladder(const DeploymentPlan& plan, const LadderFacts& facts);

// The load that swap forecasts take: half of each sequence is prompt, half answer.
SwapLoad typical_swap_load(const DeploymentPlan& plan);

// Times from data-sheet figures; for devices whose rates are known.
StepRates rates_of(const DeploymentPlan& plan);

}  // namespace pagoda::model
