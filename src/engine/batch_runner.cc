#include "engine/batch_runner.h"

#include <cstring>

namespace pagoda::engine {

BatchRunner::BatchRunner(std::unique_ptr<model::Model> model, const KvSizes& sizes)
    : model_(std::move(model)),
      cache_(model_->config().kv_layout(), sizes.dtype, sizes.block_size, sizes.blocks) {
  capacity_.layout = cache_.layout();
  capacity_.block_size = sizes.block_size;
  capacity_.blocks = sizes.blocks;
  capacity_.swap_blocks = sizes.swap_blocks;
  for (size_t group = 0; group < capacity_.layout.size(); ++group) {
    const int64_t bytes = cache_.block_bytes(static_cast<int>(group));
    capacity_.block_bytes.push_back(bytes);
    swap_.emplace_back(static_cast<size_t>(bytes) * static_cast<size_t>(sizes.swap_blocks[group]));
  }
}

void BatchRunner::move_blocks(const StepPlan& plan) {
  auto slot = [this](const BlockSwap& swap) {
    const size_t bytes = static_cast<size_t>(cache_.block_bytes(swap.group));
    return swap_[static_cast<size_t>(swap.group)].data() + static_cast<size_t>(swap.slot) * bytes;
  };
  for (const BlockSwap& swap : plan.swap_out) {
    std::memcpy(slot(swap), cache_.block(swap.group, swap.block),
                static_cast<size_t>(cache_.block_bytes(swap.group)));
  }
  for (const BlockSwap& swap : plan.swap_in) {
    std::memcpy(cache_.block(swap.group, swap.block), slot(swap),
                static_cast<size_t>(cache_.block_bytes(swap.group)));
  }
  for (const BlockCopy& copy : plan.copies) cache_.copy_block(copy.group, copy.from, copy.to);
}

void BatchRunner::build_batch(const StepPlan& plan) {
  tokens_.clear();
  positions_.clear();
  logit_rows_.clear();
  sequences_.clear();
  tables_.resize(plan.sequences.size());
  for (size_t i = 0; i < plan.sequences.size(); ++i) {
    const SequencePlan& sequence = plan.sequences[i];
    const int first_row = static_cast<int>(tokens_.size());
    const int rows = static_cast<int>(sequence.tokens.size());
    for (int row = 0; row < rows; ++row) {
      tokens_.push_back(sequence.tokens[static_cast<size_t>(row)]);
      positions_.push_back(sequence.first_position + row);
      const bool last = row + 1 == rows;
      const bool wanted =
          sequence.logits == LogitsWanted::kAll || (last && sequence.logits == LogitsWanted::kLast);
      if (wanted) logit_rows_.push_back(first_row + row);
    }
    tables_[i].clear();
    for (const std::vector<int32_t>& table : sequence.block_tables) tables_[i].push_back(table.data());
    sequences_.push_back({first_row, rows, sequence.first_position, tables_[i]});
  }
}

Result<StepLogits> BatchRunner::run(const StepPlan& plan) {
  move_blocks(plan);
  build_batch(plan);
  const int rows = static_cast<int>(logit_rows_.size());
  const size_t size = logit_rows_.size() * static_cast<size_t>(vocabulary());
  if (logits_.size() < size) logits_.resize(size);
  if (!tokens_.empty()) {
    model_->forward({tokens_, positions_, sequences_, logit_rows_}, cache_,
                    Matrix(logits_.data(), rows, vocabulary(), vocabulary()));
  }
  return StepLogits{logits_.data(), rows, vocabulary()};
}

}  // namespace pagoda::engine
