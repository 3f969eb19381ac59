#include "engine/scheduler.h"

#include <algorithm>

#include "base/check.h"
#include "base/format.h"

namespace pagoda::engine {

namespace {

// A row of logits is as wide as the vocabulary: a long prompt's rows are asked for in parts that fit in
// memory.
constexpr int kMostPromptRows = 64;

bool wants_prompt_rows(const Sequence& sequence) {
  return sequence.computed < sequence.prompt_rows && sequence.prompt_rows_done < sequence.prompt_rows;
}

void set_block_tables(const Sequence& sequence, SequencePlan& plan) {
  plan.block_tables.resize(sequence.kv.blocks.size());
  for (size_t group = 0; group < plan.block_tables.size(); ++group) {
    plan.block_tables[group].assign(sequence.kv.blocks[group].begin(), sequence.kv.blocks[group].end());
  }
}

}  // namespace

Scheduler::Scheduler(const SchedulerConfig& config, const KvCapacity& capacity)
    : config_(config), kv_(capacity, config.prefix_caching) {
  PAGODA_CHECK(config.max_num_seqs > 0 && config.max_num_batched_tokens > 0, "a step has room for something");
}

void Scheduler::add(Sequence& sequence) {
  PAGODA_CHECK(sequence.state == SequenceState::kIdle && !sequence.tokens.empty(),
               "a sequence is added once");
  sequence.state = SequenceState::kWaiting;
  waiting_.insert(&sequence);
}

void Scheduler::remove(Sequence& sequence) {
  switch (sequence.state) {
    case SequenceState::kIdle:
      return;
    case SequenceState::kWaiting:
      waiting_.erase(&sequence);
      break;
    case SequenceState::kSwapped:
      swapped_.erase(&sequence);
      break;
    case SequenceState::kRunning:
      stop_running(sequence);
      break;
  }
  kv_.release(sequence.kv);
  sequence.state = SequenceState::kIdle;
}

void Scheduler::fork(const Sequence& parent, Sequence& child) {
  PAGODA_CHECK(parent.state == SequenceState::kRunning && parent.pending() == 0,
               "a fork follows the prompt's last token");
  child.tokens = parent.tokens;
  child.prompt_size = parent.prompt_size;
  child.admitted = true;
  child.prompt_rows = 0;
  child.reuse_prefix = true;
  if (running() < config_.max_num_seqs) {
    kv_.fork(parent.kv, child.kv);
    child.computed = parent.computed;
    run(child);
  } else {
    // Its prompt is found again in the prefix index when its turn comes.
    add(child);
  }
}

void Scheduler::run(Sequence& sequence) {
  sequence.state = SequenceState::kRunning;
  running_.insert(std::upper_bound(running_.begin(), running_.end(), &sequence, ByTurn{}), &sequence);
}

void Scheduler::stop_running(Sequence& sequence) {
  running_.erase(std::ranges::find(running_, &sequence));
}

// The loop of a step: those that run go on, in turn; then the swapped ones return; then new ones come.
void Scheduler::plan(Step& step) {
  step.plan.step = ++steps_;
  step.plan.swap_out.clear();
  step.plan.swap_in.clear();
  step.plan.copies.clear();
  step.sequences.clear();
  step.swapped_out.clear();
  step.admitted.clear();
  step.failures.clear();
  step.rows = 0;

  budget_ = config_.max_num_batched_tokens;
  divide_budget();
  // While some have to go, nobody comes: it would go again. That also keeps a step's moves apart: no block is
  // both swapped in and the source of a copy or of a swap.
  if (plan_running(step) && bring_back(step)) admit(step);
  grant_drafts(step);

  step.plan.sequences.resize(step.sequences.size());
  counts_.swapped_out_bytes += moved_bytes(step.plan.swap_out);
  counts_.swapped_in_bytes += moved_bytes(step.plan.swap_in);
}

int Scheduler::most_tokens(const Sequence& sequence) const {
  int most = sequence.pending();
  if (config_.long_prefill_token_threshold > 0) most = std::min(most, config_.long_prefill_token_threshold);
  return wants_prompt_rows(sequence) ? std::min(most, kMostPromptRows) : most;
}

// Those that have caught up first, so that no stream stalls behind a long prompt; then the others, in turn.
void Scheduler::divide_budget() {
  for (Sequence* sequence : running_) {
    sequence->granted = sequence->pending() == 1 ? std::min(1, budget_) : 0;
    budget_ -= sequence->granted;
  }
  for (Sequence* sequence : running_) {
    if (sequence->pending() <= 1) continue;
    sequence->granted = std::min(most_tokens(*sequence), budget_);
    budget_ -= sequence->granted;
  }
}

// True when nobody had to go. Blocks are handed out in turn, so those that go are never yet in the plan.
bool Scheduler::plan_running(Step& step) {
  bool all_stay = true;
  for (size_t i = 0; i < running_.size();) {
    Sequence& sequence = *running_[i];
    const int end = std::min(sequence.computed + sequence.granted, kv_.reach_in_step(sequence.kv));
    if (sequence.granted > 0 && end <= sequence.computed) {
      give_up(sequence, sequence.computed + 1, end, step);
      continue;
    }
    ++i;
    if (sequence.granted == 0) continue;
    while (sequence.state == SequenceState::kRunning &&
           !kv_.extend(sequence.kv, sequence.computed, end, step.plan.copies)) {
      all_stay = false;
      preempt(*running_.back(), step);
    }
    if (sequence.state == SequenceState::kRunning) append(sequence, end, step);
  }
  return all_stay;
}

// The newest of the lowest priority: to swap space where there is room, else to start over.
void Scheduler::preempt(Sequence& sequence, Step& step) {
  running_.pop_back();
  ++counts_.preemptions;
  sequence.granted = 0;
  sequence.draft.clear();
  if (sequence.computed > 0 && kv_.swap_out(sequence.kv, step.plan.swap_out)) {
    sequence.state = SequenceState::kSwapped;
    swapped_.insert(&sequence);
    step.swapped_out.push_back(&sequence);
    return;
  }
  kv_.release(sequence.kv);
  sequence.computed = 0;
  sequence.state = SequenceState::kWaiting;
  waiting_.insert(&sequence);
}

// True when new ones may be admitted after it.
bool Scheduler::bring_back(Step& step) {
  while (!swapped_.empty()) {
    Sequence& sequence = **swapped_.begin();
    if (running() >= config_.max_num_seqs || budget_ == 0) return false;
    const int end = std::min(sequence.computed + std::min(most_tokens(sequence), budget_),
                             kv_.reach_in_step(sequence.kv));
    if (end <= sequence.computed) {
      give_up(sequence, sequence.computed + 1, end, step);
      continue;
    }
    // Alone it may take everything; among others it must not push them out at once.
    if (!running_.empty() && !has_room(sequence)) {
      const Sequence* next = waiting_.empty() ? nullptr : *waiting_.begin();
      return next != nullptr && next->priority < sequence.priority;
    }
    if (!kv_.swap_in(sequence.kv, step.plan.swap_in)) return false;
    swapped_.erase(swapped_.begin());
    run(sequence);
    const bool extended = kv_.extend(sequence.kv, sequence.computed, end, step.plan.copies);
    PAGODA_CHECK(extended, "room was made sure of");
    budget_ -= end - sequence.computed;
    append(sequence, end, step);
  }
  return true;
}

void Scheduler::admit(Step& step) {
  while (!waiting_.empty() && running() < config_.max_num_seqs && budget_ > 0) {
    if (!admit_one(**waiting_.begin(), step)) return;
  }
}

bool Scheduler::admit_one(Sequence& sequence, Step& step) {
  const int known = static_cast<int>(sequence.tokens.size());
  if (known > kv_.reach_at_length()) {
    give_up(sequence, known, kv_.reach_at_length(), step);
    return true;
  }
  sequence.computed = kv_.open(sequence.kv, sequence.tokens, sequence.name_space, sequence.reuse_prefix);
  const int end =
      std::min(sequence.computed + std::min(most_tokens(sequence), budget_), kv_.reach_in_step(sequence.kv));
  if (end <= sequence.computed) {
    give_up(sequence, known, end, step);
    return true;
  }
  if ((!running_.empty() && !has_room(sequence)) ||
      !kv_.extend(sequence.kv, sequence.computed, end, step.plan.copies)) {
    kv_.release(sequence.kv);
    sequence.computed = 0;
    return false;
  }
  waiting_.erase(&sequence);
  run(sequence);
  if (!sequence.admitted) {
    sequence.admitted = true;
    sequence.cached_tokens = sequence.computed;
    if (config_.prefix_caching && sequence.reuse_prefix) {
      counts_.prefix_queries += known;
      counts_.prefix_hits += sequence.computed;
    }
    step.admitted.push_back(&sequence);
  }
  budget_ -= end - sequence.computed;
  append(sequence, end, step);
  return true;
}

// With the rows and blocks that nobody else wants: guesses of those that have caught up.
void Scheduler::grant_drafts(Step& step) {
  for (size_t i = 0; i < step.sequences.size() && budget_ > 0; ++i) {
    Sequence& sequence = *step.sequences[i];
    if (sequence.draft.empty() || sequence.pending() != 1) continue;
    const int known = static_cast<int>(sequence.tokens.size());
    const int drafts =
        std::min({static_cast<int>(sequence.draft.size()), budget_, kv_.reach_in_step(sequence.kv) - known});
    if (drafts <= 0 || !kv_.extend(sequence.kv, known, known + drafts, step.plan.copies)) continue;
    SequencePlan& plan = step.plan.sequences[i];
    plan.tokens.insert(plan.tokens.end(), sequence.draft.begin(), sequence.draft.begin() + drafts);
    plan.drafts = drafts;
    plan.logits = LogitsWanted::kAll;
    set_block_tables(sequence, plan);
    budget_ -= drafts;
    step.rows += drafts;
  }
}

// Room for all of its tokens beside what the running ones still miss for theirs, and a little to grow.
bool Scheduler::has_room(const Sequence& sequence) const {
  const int known = static_cast<int>(sequence.tokens.size());
  for (int group = 0; group < kv_.groups(); ++group) {
    int needed = kv_.missing(sequence.kv, group, known + 1, config_.max_num_batched_tokens);
    if (sequence.kv.swapped) {
      const auto g = static_cast<size_t>(group);
      needed += static_cast<int>(sequence.kv.blocks[g].size()) - sequence.kv.left_window[g];
    }
    for (const Sequence* other : running_) {
      needed += kv_.missing(other->kv, group, static_cast<int>(other->tokens.size()) + 1,
                            config_.max_num_batched_tokens);
    }
    needed += std::max(1, kv_.total(group) / 100);
    if (needed > kv_.available(group)) return false;
  }
  return true;
}

void Scheduler::append(Sequence& sequence, int end, Step& step) {
  const size_t slot = step.sequences.size();
  if (step.plan.sequences.size() <= slot) step.plan.sequences.emplace_back();
  SequencePlan& plan = step.plan.sequences[slot];
  plan.sequence = sequence.id;
  plan.first_position = sequence.computed;
  plan.tokens.assign(sequence.tokens.begin() + sequence.computed, sequence.tokens.begin() + end);
  plan.drafts = 0;
  set_block_tables(sequence, plan);
  const bool caught_up = end == static_cast<int>(sequence.tokens.size());
  const bool prompt_rows =
      wants_prompt_rows(sequence) && sequence.prompt_rows_done < std::min(end, sequence.prompt_rows);
  plan.logits = prompt_rows                     ? LogitsWanted::kAll
                : caught_up && sequence.samples ? LogitsWanted::kLast
                                                : LogitsWanted::kNone;
  step.sequences.push_back(&sequence);
  step.rows += end - sequence.computed;
}

void Scheduler::give_up(Sequence& sequence, int needed, int reach, Step& step) {
  remove(sequence);
  step.failures.push_back(
      {&sequence,
       Error{ErrorCode::kResourceExhausted,
             format("the request needs the KV of {} tokens and the whole KV cache holds {} of one sequence: "
                    "shorten it, or give the cache more memory",
                    needed, std::max(0, reach)),
             {}}});
}

void Scheduler::complete(const Step& step) {
  for (size_t i = 0; i < step.sequences.size(); ++i) {
    Sequence& sequence = *step.sequences[i];
    const SequencePlan& plan = step.plan.sequences[i];
    sequence.computed = plan.first_position + static_cast<int>(plan.tokens.size()) - plan.drafts;
    kv_.computed(sequence.kv, sequence.tokens, sequence.computed);
  }
}

void Scheduler::confirm_draft(Sequence& sequence) {
  PAGODA_CHECK(sequence.pending() == 1, "a draft is confirmed by the token that was chosen");
  ++sequence.computed;
  kv_.computed(sequence.kv, sequence.tokens, sequence.computed);
}

void Scheduler::fail(const Step& step) {
  for (Sequence* sequence : step.swapped_out) {
    swapped_.erase(sequence);
    kv_.release(sequence->kv);
    sequence->computed = 0;
    sequence->state = SequenceState::kWaiting;
    waiting_.insert(sequence);
  }
}

int64_t Scheduler::moved_bytes(std::span<const BlockSwap> moves) const {
  int64_t bytes = 0;
  for (const BlockSwap& move : moves) bytes += kv_.block_bytes(move.group);
  return bytes;
}

int64_t Scheduler::waste_bytes() const {
  double bytes = 0;
  for (const Sequence* sequence : running_) bytes += kv_.waste_bytes(sequence->kv, sequence->computed);
  return static_cast<int64_t>(bytes + 0.5);
}

}  // namespace pagoda::engine
