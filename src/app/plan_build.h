// From the flags of `pagoda plan` to a report.
#pragma once

#include "app/plan_flags.h"
#include "app/plan_report.h"
#include "base/result.h"

namespace pagoda::app {

Result<PlanReport> build_plan_report(const PlanOptions& options);

// The ladder of a plan that does not fit, and the first of its rungs that serve takes.
void add_ladder(PlanReport& report, const model::LadderFacts& facts);

}  // namespace pagoda::app
