#include "app/serving_plan.h"

#include <algorithm>

#include "base/format.h"

namespace pagoda::app {
namespace {

constexpr double kGib = 1024.0 * 1024 * 1024;

model::ServingShape shape_of(const ServeOptions& options, const ServingFacts& facts) {
  model::ServingShape shape;
  shape.max_num_seqs = options.max_num_seqs;
  shape.max_num_batched_tokens = static_cast<int>(options.max_num_batched_tokens);
  shape.block_size = options.block_size;
  shape.kv_dtype = options.kv_cache_dtype.value_or(facts.float32 ? DType::kF32 : DType::kBF16);
  shape.device_bytes = facts.memory_available;
  shape.utilization = options.memory_utilization;
  shape.kv_cache_bytes = options.kv_cache_bytes;
  shape.blocks_override = static_cast<int>(options.blocks_override);
  return shape;
}

// The wanted length, the model's own where none is, or the longest that fits where that is asked for.
Result<int> choose_length(const ServeOptions& options, const model::ModelConfig& config,
                          const ServingFacts& facts, model::ServingShape shape) {
  if (options.max_model_len > config.context) {
    return fail(ErrorCode::kInvalidArgument,
                format("--max-model-len {} is more than the {} tokens that the model was made for",
                       options.max_model_len, config.context),
                "max-model-len");
  }
  if (options.max_model_len > 0) return static_cast<int>(options.max_model_len);
  shape.max_model_len = config.context;
  if (options.max_model_len == 0) return config.context;
  const int fits = model::largest_model_len(config, facts.weight_bytes, facts.other_bytes, shape);
  return fits > 0 ? fits : config.context;
}

// Swap space in the proportion of the groups' blocks.
void plan_swap(ServingPlan& plan, const ServeOptions& options) {
  const double share = options.swap_space_gib * kGib / static_cast<double>(plan.memory.kv);
  for (const int count : plan.memory.blocks)
    plan.swap_blocks.push_back(static_cast<int>(std::min(count * share, 2147483647.0)));
  plan.swap_bytes = static_cast<int64_t>(share * static_cast<double>(plan.memory.kv));
}

}  // namespace

Result<ServingPlan> plan_serving(const ServeOptions& options, const model::ModelConfig& config,
                                 const ServingFacts& facts) {
  ServingPlan plan;
  model::ServingShape shape = shape_of(options, facts);
  plan.kv_dtype = shape.kv_dtype;
  PAGODA_ASSIGN(plan.max_model_len, choose_length(options, config, facts, shape));
  shape.max_model_len = plan.max_model_len;
  PAGODA_ASSIGN(plan.memory, model::plan_memory(config, facts.weight_bytes, facts.other_bytes, shape));
  plan_swap(plan, options);
  return plan;
}

}  // namespace pagoda::app
