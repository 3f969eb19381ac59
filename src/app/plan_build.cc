#include "app/plan_build.h"

#include <algorithm>

#include "app/machine_rates.h"
#include "base/format.h"

namespace pagoda::app {
namespace {

constexpr int kCpuStepTokens = 512, kGpuStepTokens = 2048;
constexpr int kUsualSequences = 256;
constexpr double kUsualUtilization = 0.9;

model::Precision precision_named(const std::string& dtype) {
  if (dtype == "auto") return model::Precision::kAuto;
  if (dtype == "float32" || dtype == "float") return model::Precision::kFloat32;
  return dtype == "bfloat16" ? model::Precision::kBFloat16 : model::Precision::kFloat16;
}

Unexpected invalid(std::string message, std::string flag) {
  return fail(ErrorCode::kInvalidArgument, std::move(message), std::move(flag));
}

// How the weights are held: as stored, unless flags say otherwise.
void choose_weights(const PlanOptions& options, const PlannedModel& model, model::Deployment& d) {
  const bool gpu = d.device.kind == DeviceKind::kCuda;
  d.scheme = model.facts.scheme;
  d.weight_bytes = gpu || !model.packed_bytes ? model.stored_bytes : model.packed_bytes;
  if (!options.quantization.empty() && options.quantization != model.facts.scheme.name) {
    d.scheme = *model::find_weight_scheme(options.quantization);
    d.weight_bytes.reset();
    return;
  }
  const bool plain = d.scheme.linear_bits >= 16;
  const bool wide = options.dtype == "float32" || options.dtype == "float";
  if (!plain || (options.dtype == "auto" && !gpu)) return;
  const double bits = wide ? 32 : 16;
  if (d.scheme.linear_bits == bits) return;
  d.scheme = *model::find_weight_scheme(wide ? "fp32" : "bf16");
  if (gpu) d.weight_bytes.reset();
}

void choose_kv_type(const PlanOptions& options, const PlannedModel& model, PlanReport& report,
                    model::Deployment& d) {
  report.kv_type = options.kv_cache_dtype;
  if (const auto dtype = kv_dtype_named(options.kv_cache_dtype)) {
    d.serving.kv_dtype = *dtype;
    return;
  }
  const bool wide = d.device.kind == DeviceKind::kCpu
                        ? model.float32 || d.scheme.linear_bits > 16
                        : options.dtype.starts_with("float") && options.dtype != "float16";
  d.serving.kv_dtype = wide ? DType::kF32 : DType::kBF16;
  report.kv_type = wide ? "float32" : "bfloat16";
}

// The largest number of ranks that divides both the cards and the heads.
int usual_tensor_ranks(int cards, const model::ModelFacts& facts) {
  for (int ranks = cards; ranks > 1; --ranks) {
    if (cards % ranks == 0 && model::check_split(facts, {ranks, 1, 1})) return ranks;
  }
  return 1;
}

Status choose_split(const PlanOptions& options, const model::ModelFacts& facts, PlanTarget& target,
                    model::Parallelism& split) {
  split = {options.tensor_parallel.value_or(1), options.pipeline_parallel, options.data_parallel};
  if (target.device.kind == DeviceKind::kCpu) {
    if (split.devices() > 1)
      return invalid("this machine's CPU is one device: -tp, -pp and -dp need --gpu NAME xN",
                     "tensor-parallel-size");
    return {};
  }
  const int others = split.pipeline * split.data;
  const bool spread = !options.tensor_parallel && !target.this_machine && target.count > others;
  if (spread && target.count % others != 0)
    return invalid(
        format("{} cards are no multiple of -pp {} times -dp {}", target.count, split.pipeline, split.data),
        "gpu");
  if (spread) {
    split.tensor = usual_tensor_ranks(target.count / others, facts);
    if (const int copies = target.count / others / split.tensor; copies > 1) {
      split.data *= copies;
      target.remarks.push_back(format("the model's {} heads divide {} ways: {} copies side by side (-dp {})",
                                      facts.heads, split.tensor, split.data, split.data));
    }
  }
  // A single card named without a count stands for as many as the split needs.
  const bool counted = target.this_machine || target.count > 1;
  if (counted && split.devices() > target.count)
    return invalid(
        format("-tp {} × -pp {} × -dp {} needs {} cards; there {} {}", split.tensor, split.pipeline,
               split.data, split.devices(), target.count == 1 ? "is" : "are", target.count),
        "tensor-parallel-size");
  target.count = static_cast<int>(split.devices());
  return {};
}

ServeFlags serve_flags(const PlanOptions& options, const model::Deployment& d) {
  ServeFlags flags;
  if (options.max_model_len != 0)
    flags.emplace_back("max-model-len", std::to_string(d.serving.max_model_len));
  if (options.max_num_seqs) flags.emplace_back("max-num-seqs", std::to_string(*options.max_num_seqs));
  if (options.max_num_batched_tokens)
    flags.emplace_back("max-num-batched-tokens", std::to_string(*options.max_num_batched_tokens));
  if (options.memory_utilization != kUsualUtilization)
    flags.emplace_back("gpu-memory-utilization", format("{}", options.memory_utilization));
  if (options.dtype != "auto") flags.emplace_back("dtype", options.dtype);
  if (!options.quantization.empty()) flags.emplace_back("quantization", options.quantization);
  const std::pair<const char*, int> ranks[] = {{"tensor-parallel-size", d.split.tensor},
                                               {"pipeline-parallel-size", d.split.pipeline},
                                               {"data-parallel-size", d.split.data}};
  for (const auto& [name, count] : ranks) {
    if (count > 1) flags.emplace_back(name, std::to_string(count));
  }
  if (options.kv_cache_dtype != "auto") flags.emplace_back("kv-cache-dtype", options.kv_cache_dtype);
  if (options.kv_cache_bytes > 0)
    flags.emplace_back("kv-cache-memory-bytes", std::to_string(options.kv_cache_bytes));
  if (options.swap_space_gib > 0) flags.emplace_back("swap-space", format("{}", options.swap_space_gib));
  return flags;
}

}  // namespace

void add_ladder(PlanReport& report, const model::LadderFacts& facts) {
  report.ladder = model::fallback_ladder(report.plan, facts);
  for (size_t i = 0; i < report.ladder.size() && !report.chosen; ++i) {
    const model::Rung& rung = report.ladder[i];
    if (rung.helps && !rung.flags.empty() && line_of_rung(report, rung).refusal.empty()) report.chosen = i;
  }
}

Result<PlanReport> build_plan_report(const PlanOptions& options) {
  PlanReport report;
  PAGODA_ASSIGN(report.model, find_planned_model(options.model, precision_named(options.dtype)));
  PAGODA_ASSIGN(report.target, find_plan_target(options));
  model::Deployment d;
  d.facts = report.model.facts;
  d.device = report.target.device;
  PAGODA_TRY(choose_split(options, d.facts, report.target, d.split));
  choose_weights(options, report.model, d);
  choose_kv_type(options, report.model, report, d);
  const bool gpu = d.device.kind == DeviceKind::kCuda;
  d.serving.max_model_len = static_cast<int>(std::max<int64_t>(0, options.max_model_len));
  d.serving.max_num_seqs = options.max_num_seqs.value_or(kUsualSequences);
  d.serving.max_num_batched_tokens =
      options.max_num_batched_tokens.value_or(gpu ? kGpuStepTokens : kCpuStepTokens);
  d.serving.utilization = options.memory_utilization;
  d.serving.kv_cache_bytes = options.kv_cache_bytes;
  d.sequences_wanted = options.max_num_seqs.has_value();
  d.cuda_graphs = !options.eager;
  d.swap_gib = options.swap_space_gib;
  PAGODA_ASSIGN(report.plan, model::plan_deployment(d));
  if (options.max_model_len < 0 && report.plan.longest_model_len > 0) {
    d.serving.max_model_len = report.plan.longest_model_len;
    PAGODA_ASSIGN(report.plan, model::plan_deployment(d));
  }
  report.flags = serve_flags(options, report.plan.deployment);
  if (report.plan.fits()) return report;
  const auto cards = known_cards(options);
  model::LadderFacts facts{.cards = cards, .rates = {}, .rates_known = false};
  if (report.plan.need.fits()) {
    // Only a plan that holds something is slowed down by swapping.
    facts.rates = model::rates_of(report.plan);
    if (!gpu) {
      PAGODA_ASSIGN(facts.rates, measure_step_rates(report.plan));
    }
    facts.rates_known = facts.rates.step > 0;
  }
  add_ladder(report, facts);
  return report;
}

}  // namespace pagoda::app
