// A ModelRunner for tests: its KV memory holds token ids, and every row's logits are a function of the
// history that is read back through the block tables. A block that is shared, moved, freed or reused wrongly
// changes the answer.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <string>

#include "base/check.h"
#include "engine/model_runner.h"

namespace pagoda::engine {

class FakeRunner final : public ModelRunner {
 public:
  struct Seen {
    std::atomic<int64_t> steps{0}, rows{0}, copies{0}, swaps_out{0}, swaps_in{0};
    std::atomic<int> rows_max{0}, sequences_max{0};
  };

  FakeRunner(int vocabulary, KvCapacity capacity)
      : vocabulary_(vocabulary), capacity_(std::move(capacity)), seen_(std::make_shared<Seen>()) {
    for (size_t group = 0; group < capacity_.layout.size(); ++group) {
      device_.emplace_back(slots(capacity_.blocks[group]), kGarbage);
      const int spare = group < capacity_.swap_blocks.size() ? capacity_.swap_blocks[group] : 0;
      swap_.emplace_back(slots(spare), kGarbage);
    }
  }

  int vocabulary() const override { return vocabulary_; }
  const KvCapacity& capacity() const override { return capacity_; }
  std::shared_ptr<Seen> seen() const { return seen_; }
  // Called before each step; an Error that it returns is the step's.
  std::function<Status(const StepPlan&)> before_step;
  // Called on each row of logits, with its sequence and position.
  std::function<void(uint64_t sequence, int position, std::span<float> row)> on_row;

  Result<StepLogits> run(const StepPlan& plan) override {
    if (before_step) PAGODA_TRY(before_step(plan));
    observe(plan);
    for (const BlockSwap& move : plan.swap_out) copy(device_, move.group, move.block, swap_, move.slot);
    for (const BlockSwap& move : plan.swap_in) copy(swap_, move.group, move.slot, device_, move.block);
    for (const BlockCopy& move : plan.copies) copy(device_, move.group, move.from, device_, move.to);
    // Every sequence writes before any reads, as in a forward pass: sharing a block by mistake shows.
    for (const SequencePlan& sequence : plan.sequences) write(sequence);
    logits_.clear();
    for (const SequencePlan& sequence : plan.sequences) read(sequence);
    const int rows = static_cast<int>(logits_.size() / static_cast<size_t>(vocabulary_));
    return StepLogits{logits_.data(), rows, vocabulary_};
  }

  // The logits after `history`, by definition.
  static void expected_logits(std::span<const int32_t> history, const model::KvLayout& layout,
                              std::span<float> row) {
    uint64_t state = 1;
    for (const model::KvGroup& group : layout) {
      const size_t first = first_visible(group, static_cast<int>(history.size()) - 1);
      for (size_t i = first; i < history.size(); ++i) state = mix(state, i, history[i]);
    }
    fill(state, row);
  }

 private:
  static constexpr int32_t kGarbage = -123456;

  size_t slots(int blocks) const {
    return static_cast<size_t>(blocks) * static_cast<size_t>(capacity_.block_size);
  }
  static size_t first_visible(const model::KvGroup& group, int position) {
    return group.window == 0 ? 0 : static_cast<size_t>(std::max(0, position - group.window + 1));
  }
  static uint64_t mix(uint64_t state, size_t position, int32_t token) {
    state = (state ^ (position << 32) ^ static_cast<uint32_t>(token)) * 0x9E3779B97F4A7C15u;
    return state ^ (state >> 31);
  }
  static void fill(uint64_t state, std::span<float> row) {
    for (size_t i = 0; i < row.size(); ++i) {
      const uint64_t bits = mix(state, i, 7) >> 40;
      row[i] = static_cast<float>(bits) / static_cast<float>(1 << 24) * 8.f - 4.f;
    }
  }

  int32_t& at(std::vector<std::vector<int32_t>>& memory, size_t group, int block, int offset) {
    PAGODA_CHECK(block >= 0, "a block that left the window is not touched");
    return memory[group].at(slots(block) + static_cast<size_t>(offset));
  }
  void copy(std::vector<std::vector<int32_t>>& from, int group, int from_block,
            std::vector<std::vector<int32_t>>& to, int to_block) {
    const auto g = static_cast<size_t>(group);
    for (int i = 0; i < capacity_.block_size; ++i) at(to, g, to_block, i) = at(from, g, from_block, i);
  }
  void write(const SequencePlan& sequence) {
    for (size_t group = 0; group < device_.size(); ++group) {
      for (size_t i = 0; i < sequence.tokens.size(); ++i) {
        const int position = sequence.first_position + static_cast<int>(i);
        const int block =
            sequence.block_tables[group].at(static_cast<size_t>(position / capacity_.block_size));
        at(device_, group, block, position % capacity_.block_size) = sequence.tokens[i];
      }
    }
  }
  void read(const SequencePlan& sequence) {
    if (sequence.logits == LogitsWanted::kNone) return;
    const int end = sequence.first_position + static_cast<int>(sequence.tokens.size());
    for (int position = sequence.logits == LogitsWanted::kAll ? sequence.first_position : end - 1;
         position < end; ++position) {
      uint64_t state = 1;
      for (size_t group = 0; group < device_.size(); ++group) {
        for (size_t i = first_visible(capacity_.layout[group], position); i <= static_cast<size_t>(position);
             ++i) {
          const size_t size = static_cast<size_t>(capacity_.block_size);
          state =
              mix(state, i,
                  at(device_, group, sequence.block_tables[group].at(i / size), static_cast<int>(i % size)));
        }
      }
      logits_.resize(logits_.size() + static_cast<size_t>(vocabulary_));
      const std::span<float> row(logits_.end() - vocabulary_, logits_.end());
      fill(state, row);
      if (on_row) on_row(sequence.sequence, position, row);
    }
  }
  void observe(const StepPlan& plan) {
    int rows = 0;
    for (const SequencePlan& sequence : plan.sequences) rows += static_cast<int>(sequence.tokens.size());
    seen_->steps += 1;
    seen_->rows += rows;
    seen_->copies += static_cast<int64_t>(plan.copies.size());
    seen_->swaps_out += static_cast<int64_t>(plan.swap_out.size());
    seen_->swaps_in += static_cast<int64_t>(plan.swap_in.size());
    seen_->rows_max = std::max<int>(seen_->rows_max, rows);
    seen_->sequences_max = std::max<int>(seen_->sequences_max, static_cast<int>(plan.sequences.size()));
  }

  const int vocabulary_;
  const KvCapacity capacity_;
  std::shared_ptr<Seen> seen_;
  std::vector<std::vector<int32_t>> device_;  // [group][block, offset]
  std::vector<std::vector<int32_t>> swap_;
  std::vector<float> logits_;
};

}  // namespace pagoda::engine
