#include "model/memory_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/format.h"
#include "model/footprint.h"

namespace pagoda::model {
namespace {

constexpr int64_t kMostBlocks = 1 << 30;

double share_of_device(const ServingShape& shape) {
  return shape.kv_cache_bytes > 0 ? 1 : shape.utilization;
}

// A plan's fixed part, before any block is counted.
MemoryPlan plan_without_kv(const ModelShape& model, int64_t weight_bytes, int64_t other_bytes,
                           const ServingShape& shape) {
  MemoryPlan plan;
  plan.budget = static_cast<int64_t>(static_cast<double>(shape.device_bytes) * share_of_device(shape));
  plan.weights = weight_bytes;
  plan.other = other_bytes;
  const int64_t rows = shape.max_num_batched_tokens;
  plan.activations = saturating_sum(activation_bytes(model, rows, shape.activation_dtype),
                                    logit_bytes(model, std::min<int64_t>(rows, shape.max_num_seqs)));
  return plan;
}

int64_t room_for_kv(const MemoryPlan& plan, const ServingShape& shape) {
  const int64_t fixed = saturating_sum(plan.weights, saturating_sum(plan.activations, plan.other));
  const int64_t left = plan.budget - fixed;
  return shape.kv_cache_bytes > 0 ? std::min(left, shape.kv_cache_bytes) : left;
}

std::vector<int64_t> blocks_for(const KvLayout& layout, const ServingShape& shape, int64_t tokens) {
  return kv_blocks_of_sequence(layout, shape.block_size, tokens,
                               std::min(shape.max_model_len, shape.max_num_batched_tokens));
}

int64_t bytes_for(const KvLayout& layout, const ServingShape& shape, const std::vector<int64_t>& blocks) {
  int64_t sum = 0;
  for (size_t group = 0; group < layout.size(); ++group)
    sum = saturating_sum(
        sum, saturating_product(blocks[group], layout[group].block_bytes(shape.block_size, shape.kv_dtype)));
  return sum;
}

// One sequence's need, then the rest by the typical proportion; no group beyond what it can ever use.
std::vector<int64_t> share_out(const KvLayout& layout, const ServingShape& shape, int64_t room) {
  std::vector<int64_t> blocks = blocks_for(layout, shape, shape.max_model_len);
  std::vector<int64_t> most = blocks;
  for (int64_t& count : most) count = std::min(saturating_product(count, shape.max_num_seqs), kMostBlocks);
  const std::vector<int64_t> typical =
      blocks_for(layout, shape, std::min(shape.max_model_len, kTypicalTokens));
  // A group that has all it can use leaves its share to the others: at most as many rounds as groups.
  for (size_t round = 0; round < layout.size(); ++round) {
    int64_t per_sequence = 0;
    for (size_t group = 0; group < layout.size(); ++group) {
      if (blocks[group] < most[group])
        per_sequence += typical[group] * layout[group].block_bytes(shape.block_size, shape.kv_dtype);
    }
    if (per_sequence == 0) break;
    const double share =
        static_cast<double>(room - bytes_for(layout, shape, blocks)) / static_cast<double>(per_sequence);
    for (size_t group = 0; group < layout.size(); ++group) {
      const double more = std::floor(share * static_cast<double>(typical[group]));
      const int64_t free = most[group] - blocks[group];
      blocks[group] += more >= static_cast<double>(free) ? free : static_cast<int64_t>(std::max(more, 0.0));
    }
  }
  return blocks;
}

// Blocks of the other groups for a number of group 0 given by hand: as many, where they can use them.
std::vector<int64_t> blocks_by_hand(const KvLayout& layout, const ServingShape& shape) {
  std::vector<int64_t> blocks = blocks_for(layout, shape, shape.max_model_len);
  for (int64_t& count : blocks)
    count = std::min<int64_t>(shape.blocks_override, saturating_product(count, shape.max_num_seqs));
  blocks[0] = shape.blocks_override;
  return blocks;
}

Error does_not_fit(const ModelShape& model, const MemoryPlan& plan, const ServingShape& shape, int64_t need) {
  const int64_t room = room_for_kv(plan, shape);
  const int longest = largest_model_len(model, plan.weights, plan.other, shape);
  // The first sentence is the one that people search for: vLLM's.
  std::string message =
      longest > 0
          ? format(
                "The model's max seq len ({}) is larger than the maximum number of tokens that can be "
                "stored in KV cache ({})",
                shape.max_model_len, longest)
          : std::string("The model does not fit");
  message += format(
      ": of {} ({} × {:.2f}) weights take {}, activations {}, other {}; {} is left for KV and one sequence "
      "of "
      "--max-model-len {} needs {}.",
      bytes_text(plan.budget), bytes_text(shape.device_bytes), share_of_device(shape),
      bytes_text(plan.weights), bytes_text(plan.activations), bytes_text(plan.other), bytes_text(room),
      shape.max_model_len, bytes_text(need));
  std::string fits;
  const auto suggest = [&](std::string flags) { fits += (fits.empty() ? " What fits: " : " or ") + flags; };
  if (longest > 0) suggest(format("--max-model-len {}", longest));
  if (const double least = least_utilization(model, plan.weights, plan.other, shape); least > 0)
    suggest(format("--gpu-memory-utilization {:.2f}", least));
  ServingShape small = shape;
  small.max_num_batched_tokens = std::min(shape.max_num_batched_tokens, 512);
  small.max_num_seqs = std::min(shape.max_num_seqs, 8);
  if (fits.empty()) {
    if (const int length = largest_model_len(model, plan.weights, plan.other, small); length > 0)
      suggest(format("--max-model-len {} --max-num-batched-tokens {} --max-num-seqs {}", length,
                     small.max_num_batched_tokens, small.max_num_seqs));
  }
  if (fits.empty())
    fits = " No flag makes it fit: take a smaller model, a smaller quantisation or more memory";
  return {ErrorCode::kResourceExhausted, message + fits + ".", "--gpu-memory-utilization"};
}

}  // namespace

MemoryNeed memory_need(const ModelShape& model, int64_t weight_bytes, int64_t other_bytes,
                       const ServingShape& shape) {
  MemoryNeed need;
  need.fixed = plan_without_kv(model, weight_bytes, other_bytes, shape);
  need.room = room_for_kv(need.fixed, shape);
  need.one_sequence = bytes_for(model.kv, shape, blocks_for(model.kv, shape, shape.max_model_len));
  return need;
}

Result<MemoryPlan> plan_memory(const ModelShape& model, int64_t weight_bytes, int64_t other_bytes,
                               const ServingShape& shape) {
  const KvLayout& layout = model.kv;
  MemoryPlan plan = plan_without_kv(model, weight_bytes, other_bytes, shape);
  const std::vector<int64_t> one = blocks_for(layout, shape, shape.max_model_len);
  std::vector<int64_t> blocks;
  if (shape.blocks_override > 0) {
    blocks = blocks_by_hand(layout, shape);
  } else {
    const int64_t need = bytes_for(layout, shape, one);
    const int64_t room = room_for_kv(plan, shape);
    if (need > room) return Unexpected(does_not_fit(model, plan, shape, need));
    blocks = share_out(layout, shape, room);
  }
  plan.kv = bytes_for(layout, shape, blocks);
  plan.sequences = std::numeric_limits<double>::infinity();
  for (size_t group = 0; group < layout.size(); ++group) {
    plan.blocks.push_back(static_cast<int>(blocks[group]));
    plan.sequences =
        std::min(plan.sequences, static_cast<double>(blocks[group]) / static_cast<double>(one[group]));
  }
  return plan;
}

int largest_model_len(const ModelShape& model, int64_t weight_bytes, int64_t other_bytes,
                      ServingShape shape) {
  int fits = 0, too_long = shape.max_model_len / shape.block_size + 1;  // in blocks
  while (fits + 1 < too_long) {
    const int middle = fits + (too_long - fits) / 2;
    shape.max_model_len = middle * shape.block_size;
    (memory_need(model, weight_bytes, other_bytes, shape).fits() ? fits : too_long) = middle;
  }
  return fits * shape.block_size;
}

double least_utilization(const ModelShape& model, int64_t weight_bytes, int64_t other_bytes,
                         ServingShape shape) {
  for (int hundredths = 1; hundredths <= 100; ++hundredths) {
    shape.utilization = hundredths / 100.0;
    if (memory_need(model, weight_bytes, other_bytes, shape).fits()) return shape.utilization;
  }
  return 0;
}

std::string bytes_text(int64_t bytes) {
  constexpr double kMiB = 1 << 20, kGiB = 1 << 30;
  const double value = static_cast<double>(bytes);
  return std::abs(value) >= kGiB ? format("{:.2f} GiB", value / kGiB) : format("{:.1f} MiB", value / kMiB);
}

}  // namespace pagoda::model
