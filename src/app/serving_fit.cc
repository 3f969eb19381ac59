#include "app/serving_fit.h"

#include <unistd.h>

#include "app/plan_build.h"
#include "app/serve_flags.h"
#include "app/serving_plan.h"
#include "base/format.h"
#include "base/log.h"
#include "model/weight_loader.h"
#include "tensor/device.h"

namespace pagoda::app {
namespace {

ServingFacts predicted_facts(const ServeOptions& options, const model::WeightSource& source,
                             int64_t available) {
  const model::Precision precision = precision_of(options);
  ServingFacts facts;
  facts.memory_available = available;
  facts.weight_bytes = model::packed_weight_bytes(source, precision);
  facts.float32 = model::resolved_precision(source, precision) == model::Precision::kFloat32;
  return facts;
}

// What was asked of memory, as flags again: the suggested line keeps it.
ServeFlags flags_of(const ServeOptions& options) {
  const ServeOptions usual;
  ServeFlags flags;
  if (options.max_model_len > 0) flags.emplace_back("max-model-len", std::to_string(options.max_model_len));
  if (options.max_num_seqs != usual.max_num_seqs)
    flags.emplace_back("max-num-seqs", std::to_string(options.max_num_seqs));
  if (options.max_num_batched_tokens != usual.max_num_batched_tokens)
    flags.emplace_back("max-num-batched-tokens", std::to_string(options.max_num_batched_tokens));
  if (options.memory_utilization != usual.memory_utilization)
    flags.emplace_back("gpu-memory-utilization", format("{}", options.memory_utilization));
  if (options.kv_cache_bytes > 0)
    flags.emplace_back("kv-cache-memory-bytes", std::to_string(options.kv_cache_bytes));
  if (options.dtype) flags.emplace_back("dtype", *options.dtype == DType::kF32 ? "float32" : "bfloat16");
  if (options.kv_cache_dtype)
    flags.emplace_back("kv-cache-dtype", *options.kv_cache_dtype == DType::kF32  ? "float32"
                                         : *options.kv_cache_dtype == DType::kI8 ? "int8"
                                                                                 : "bfloat16");
  if (options.swap_space_gib > 0) flags.emplace_back("swap-space", format("{}", options.swap_space_gib));
  return flags;
}

// The same as plan_serving(), as a report with its ladder.
Result<PlanReport> report_of(const ServeOptions& options, const model::WeightSource& source,
                             const model::ModelConfig& config, const ServingFacts& facts) {
  PlanReport report;
  PAGODA_ASSIGN(report.model, planned_model_of(source, options.model, precision_of(options)));
  model::Deployment d;
  d.facts = report.model.facts;
  d.scheme = d.facts.scheme;
  d.weight_bytes = facts.weight_bytes;
  d.device.name = cpu_device().name;
  d.device.memory_bytes = facts.memory_available;
  d.serving = serving_shape(options, facts);
  d.serving.max_model_len =
      options.max_model_len > 0 ? static_cast<int>(options.max_model_len) : config.context;
  d.swap_gib = options.swap_space_gib;
  report.flags = flags_of(options);
  report.target.device = d.device;
  report.target.this_machine = true;
  report.kv_type = info_of(d.serving.kv_dtype).name;
  PAGODA_ASSIGN(report.plan, model::plan_deployment(d));
  const auto cards = known_cards({});
  add_ladder(report, {.cards = cards, .rates = {}, .rates_known = false});
  return report;
}

Status take_rung(ServeOptions& options, const model::Rung& rung) {
  const FlagTable table = serve_flag_table(options, "pagoda serve");
  std::string words;
  for (const auto& [name, value] : rung.flags) {
    const Flag* flag = find_flag(table, name);
    const std::string values[] = {value};
    PAGODA_TRY(flag->set(values));
    words += format(" --{} {}", name, value);
  }
  log::warning("as asked the model does not fit in memory; --fit auto serves it with{} ({})", words,
               rung.title);
  return {};
}

}  // namespace

Status fit_serving(ServeOptions& options, const model::WeightSource& source, const model::ModelConfig& config,
                   int64_t available) {
  const ServingFacts facts = predicted_facts(options, source, available);
  const auto plan = plan_serving(options, config, facts);
  if (plan || plan.error().code != ErrorCode::kResourceExhausted)
    return plan ? Status() : Status(Unexpected(plan.error()));
  const auto report = report_of(options, source, config, facts);
  if (!report) return Unexpected(plan.error());
  if (options.fit_to_memory && report->chosen) return take_rung(options, report->ladder[*report->chosen]);
  if (options.log_style == log::Style::kText) {
    fmt::print(
        stderr, "{}\n",
        plan_report_text(*report, Paint::for_descriptor(STDERR_FILENO), terminal_width(STDERR_FILENO)));
  }
  return Unexpected(plan.error());
}

}  // namespace pagoda::app
