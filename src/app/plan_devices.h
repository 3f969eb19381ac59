// The devices of a plan: cards by name, or those of this machine.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/plan_flags.h"
#include "base/result.h"
#include "model/device_facts.h"

namespace pagoda::app {

struct PlanTarget {
  model::DeviceFacts device;
  int count = 1;
  bool this_machine = false;
  std::vector<std::string> remarks;  // what was assumed
};

// By --gpu's words. An unknown card names the nearest.
Result<PlanTarget> find_plan_target(const PlanOptions& options);

// The table's cards, for the ladder's last rung.
std::vector<model::DeviceFacts> known_cards(const PlanOptions& options);

// This machine's CPU; its memory bandwidth is measured, which takes some hundredths of a second.
model::DeviceFacts cpu_facts();

}  // namespace pagoda::app
