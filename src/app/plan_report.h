// A plan for people and for machines.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/plan_devices.h"
#include "app/plan_model.h"
#include "app/serve_line.h"
#include "app/terminal.h"
#include "model/fallback_ladder.h"

namespace pagoda::app {

struct PlanReport {
  PlannedModel model;
  PlanTarget target;
  std::string kv_type;  // as --kv-cache-dtype names it
  model::DeploymentPlan plan;
  ServeFlags flags;                 // of `pagoda serve`, as asked for
  std::vector<model::Rung> ladder;  // empty where it fits
  std::optional<size_t> chosen;     // the first rung that helps and that serve takes
};

// Fills in `chosen` and the ladder's lines.
ServeLine line_of_rung(const PlanReport& report, const model::Rung& rung);

std::string plan_report_text(const PlanReport& report, const Paint& paint, int width);
// The fields are described in docs/plan.md.
nlohmann::ordered_json plan_report_json(const PlanReport& report);

// "1,234,567"
std::string grouped_digits(int64_t number);

}  // namespace pagoda::app
