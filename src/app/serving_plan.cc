#include "app/serving_plan.h"

#include <algorithm>

#include "app/machine.h"
#include "base/format.h"
#include "model/footprint.h"

namespace pagoda::app {
namespace {

using model::saturating_product;
using model::saturating_sum;

constexpr double kGib = 1024.0 * 1024 * 1024;

// Bytes of one sequence of `tokens` tokens, rounded up to blocks as the engine takes them.
int64_t sequence_bytes(const ServeOptions& options, const model::KvLayout& layout, DType dtype,
                       int64_t tokens) {
  const auto blocks =
      model::kv_blocks_of_sequence(layout, options.block_size, tokens, options.max_num_batched_tokens);
  int64_t bytes = 0;
  for (size_t group = 0; group < layout.size(); ++group) {
    bytes = saturating_sum(
        bytes, saturating_product(blocks[group], layout[group].block_bytes(options.block_size, dtype)));
  }
  return bytes;
}

// The longest sequence that fits, up to `most`; 0 when none does.
int64_t longest_that_fits(const ServeOptions& options, const model::KvLayout& layout, DType dtype,
                          int64_t budget, int64_t most) {
  int64_t fits = 0, too_long = most + 1;
  while (too_long - fits > 1) {
    const int64_t middle = fits + (too_long - fits) / 2;
    (sequence_bytes(options, layout, dtype, middle) <= budget ? fits : too_long) = middle;
  }
  return fits;
}

// What KV blocks may take: the wanted bytes, or the share of available memory that weights and activations
// leave.
int64_t kv_budget(const ServeOptions& options, const model::ModelConfig& config, const ServingFacts& facts) {
  if (options.kv_cache_bytes > 0) return options.kv_cache_bytes;
  const int64_t rows = std::min<int64_t>(options.max_num_batched_tokens, config.context);
  const int64_t working =
      saturating_sum(model::activation_bytes(config, rows), model::logit_bytes(config, options.max_num_seqs));
  const auto share =
      static_cast<int64_t>(static_cast<double>(facts.memory_available) * options.memory_utilization);
  return std::max<int64_t>(0, share - facts.weight_bytes - working);
}

Error does_not_fit(const ServeOptions& options, const model::KvLayout& layout, DType dtype, int64_t length,
                   int64_t budget) {
  const int64_t tokens = longest_that_fits(options, layout, dtype, budget, length);
  const int64_t wanted = sequence_bytes(options, layout, dtype, length);
  std::string remedy = tokens >= options.block_size
                           ? format("--max-model-len {} fits, or --max-model-len auto takes it", tokens)
                           : std::string("no length fits");
  return {
      ErrorCode::kResourceExhausted,
      format(
          "The model's max seq len ({}) is larger than the maximum number of tokens that can be stored in KV "
          "cache ({}): one sequence takes {}, and {} are left for KV; {}; --gpu-memory-utilization and "
          "--kv-cache-memory-bytes move the limit",
          length, tokens, human_bytes(wanted), human_bytes(budget), remedy),
      "max-model-len"};
}

Result<int> choose_length(const ServeOptions& options, const model::ModelConfig& config, DType dtype,
                          int64_t budget) {
  const model::KvLayout layout = config.kv_layout();
  if (options.max_model_len > config.context) {
    return fail(ErrorCode::kInvalidArgument,
                format("--max-model-len {} is more than the {} tokens that the model was made for",
                       options.max_model_len, config.context),
                "max-model-len");
  }
  const int64_t wanted = options.max_model_len > 0 ? options.max_model_len : config.context;
  if (options.blocks_override > 0) return static_cast<int>(wanted);
  const int64_t fits = longest_that_fits(options, layout, dtype, budget, wanted);
  if (fits == wanted) return static_cast<int>(wanted);
  if (options.max_model_len == -1 && fits >= options.block_size) return static_cast<int>(fits);
  return Unexpected(does_not_fit(options, layout, dtype, wanted, budget));
}

int to_blocks(double count) {
  return static_cast<int>(std::min(count, 2147483647.0));
}

// Shares the budget out over the groups in the proportion that full sequences need them.
std::vector<int> share_blocks(const ServeOptions& options, const model::KvLayout& layout,
                              const ServingPlan& plan, int64_t budget) {
  const auto of_one = model::kv_blocks_of_sequence(layout, options.block_size, plan.max_model_len,
                                                   options.max_num_batched_tokens);
  const double sequences = std::min<double>(
      options.max_num_seqs,
      static_cast<double>(budget) /
          static_cast<double>(sequence_bytes(options, layout, plan.kv_dtype, plan.max_model_len)));
  std::vector<int> blocks;
  for (const int64_t one : of_one)
    blocks.push_back(to_blocks(std::max(1.0, static_cast<double>(one) * sequences)));
  return blocks;
}

// The override is of group 0; a windowed group never needs more than its sequences hold.
std::vector<int> overridden_blocks(const ServeOptions& options, const model::KvLayout& layout, int length) {
  const auto of_one =
      model::kv_blocks_of_sequence(layout, options.block_size, length, options.max_num_batched_tokens);
  std::vector<int> blocks;
  for (size_t group = 0; group < layout.size(); ++group) {
    const double most = static_cast<double>(of_one[group]) * options.max_num_seqs;
    const double wanted = static_cast<double>(options.blocks_override);
    blocks.push_back(to_blocks(group == 0 ? wanted : std::min(wanted, most)));
  }
  return blocks;
}

int64_t bytes_of_blocks(const ServeOptions& options, const model::KvLayout& layout, DType dtype,
                        const std::vector<int>& blocks) {
  int64_t bytes = 0;
  for (size_t group = 0; group < layout.size(); ++group) {
    bytes = saturating_sum(
        bytes, saturating_product(blocks[group], layout[group].block_bytes(options.block_size, dtype)));
  }
  return bytes;
}

}  // namespace

Result<ServingPlan> plan_serving(const ServeOptions& options, const model::ModelConfig& config,
                                 const ServingFacts& facts) {
  const model::KvLayout layout = config.kv_layout();
  ServingPlan plan;
  plan.kv_dtype = options.kv_cache_dtype.value_or(facts.float32 ? DType::kF32 : DType::kBF16);
  const int64_t budget = kv_budget(options, config, facts);
  PAGODA_ASSIGN(plan.max_model_len, choose_length(options, config, plan.kv_dtype, budget));
  plan.blocks = options.blocks_override > 0 ? overridden_blocks(options, layout, plan.max_model_len)
                                            : share_blocks(options, layout, plan, budget);
  plan.kv_bytes = bytes_of_blocks(options, layout, plan.kv_dtype, plan.blocks);
  const double swap_share = options.swap_space_gib * kGib / static_cast<double>(plan.kv_bytes);
  for (const int count : plan.blocks) plan.swap_blocks.push_back(to_blocks(count * swap_share));
  plan.swap_bytes = bytes_of_blocks(options, layout, plan.kv_dtype, plan.swap_blocks);
  plan.full_sequences =
      static_cast<double>(plan.kv_bytes) /
      static_cast<double>(sequence_bytes(options, layout, plan.kv_dtype, plan.max_model_len));
  return plan;
}

}  // namespace pagoda::app
