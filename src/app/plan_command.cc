#include "app/plan_command.h"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "app/command_words.h"
#include "app/plan_build.h"
#include "base/format.h"

namespace pagoda::app {

int run_plan_command(const Invocation& invocation) {
  PlanOptions options;
  const auto outcome = read_flags(plan_flag_table(options, invocation.program), invocation);
  if (outcome.exit) return *outcome.exit;
  if (options.model.empty())
    return report_error(invocation, {ErrorCode::kInvalidArgument,
                                     format("no MODEL given; for example `{} Qwen/Qwen2.5-7B-Instruct --gpu "
                                            "rtx-4090`",
                                            invocation.program),
                                     "model"});
  const auto report = build_plan_report(options);
  if (!report) return report_error(invocation, report.error());
  if (options.json) {
    fmt::print("{}\n", plan_report_json(*report).dump(2));
  } else {
    fmt::print(
        "{}", plan_report_text(*report, Paint::for_descriptor(STDOUT_FILENO), terminal_width(STDOUT_FILENO)));
  }
  return report->plan.fits() ? kExitOk : kExitFailure;
}

}  // namespace pagoda::app
