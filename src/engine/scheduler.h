// Decides what each step computes. There is one idea of progress: a sequence gets some of its pending tokens
// until it has caught up; a prompt's chunk, a prefix hit's rest, a next token and a resumed sequence are all
// the same to it.
#pragma once

#include <set>
#include <span>
#include <vector>

#include "base/result.h"
#include "engine/kv_blocks.h"
#include "engine/sequence.h"
#include "engine/step_plan.h"

namespace pagoda::engine {

struct SchedulerConfig {
  int max_num_seqs = 256;
  int max_num_batched_tokens = 2048;
  int long_prefill_token_threshold = 0;  // most tokens of one sequence in one step; 0: no such bound
  bool prefix_caching = true;
};

// A planned step and whom it concerns: sequences[i] is plan.sequences[i]'s. Kept between steps to reuse its
// memory.
struct Step {
  struct Failure {
    Sequence* sequence;
    Error error;
  };
  StepPlan plan;
  std::vector<Sequence*> sequences;
  std::vector<Sequence*> swapped_out;
  std::vector<Sequence*> admitted;  // running for the first time
  std::vector<Failure> failures;    // can never fit; no longer the scheduler's
  int rows = 0;                     // tokens that it computes
};

struct SchedulerCounts {
  int64_t preemptions = 0;
  int64_t swapped_out_bytes = 0;
  int64_t swapped_in_bytes = 0;
  int64_t prefix_queries = 0;  // tokens
  int64_t prefix_hits = 0;
};

// Engine thread only. Sequences are the caller's and must outlive their stay: until remove(), or a
// Step::Failure.
class Scheduler {
 public:
  Scheduler(const SchedulerConfig& config, const KvCapacity& capacity);

  void add(Sequence& sequence);
  // At any moment between steps; gives its blocks back.
  void remove(Sequence& sequence);
  // `child` goes on from where `parent` is, sharing its blocks. The parent's KV of all its tokens exists.
  void fork(const Sequence& parent, Sequence& child);

  bool has_work() const { return !running_.empty() || !waiting_.empty() || !swapped_.empty(); }
  // Fills `step`; without sequences when there is nothing to compute.
  void plan(Step& step);
  // The step was carried out: its sequences have advanced, drafts not counted.
  void complete(const Step& step);
  // The sequence's newest token is the draft of it that the step has computed.
  void confirm_draft(Sequence& sequence);
  // It was not: the caller removes the step's sequences, those swapped out by it start over.
  void fail(const Step& step);

  int running() const { return static_cast<int>(running_.size()); }
  int waiting() const { return static_cast<int>(waiting_.size()); }
  int swapped() const { return static_cast<int>(swapped_.size()); }
  const SchedulerCounts& counts() const { return counts_; }
  const KvBlocks& kv() const { return kv_; }
  int64_t waste_bytes() const;

 private:
  using Queue = std::set<Sequence*, ByTurn>;

  int most_tokens(const Sequence& sequence) const;
  void divide_budget();
  bool plan_running(Step& step);
  bool bring_back(Step& step);
  void admit(Step& step);
  void grant_drafts(Step& step);
  bool admit_one(Sequence& sequence, Step& step);
  void preempt(Sequence& sequence, Step& step);
  void append(Sequence& sequence, int end, Step& step);
  void give_up(Sequence& sequence, int needed, int reach, Step& step);
  bool has_room(const Sequence& sequence) const;
  void run(Sequence& sequence);
  void stop_running(Sequence& sequence);
  int64_t moved_bytes(std::span<const BlockSwap> moves) const;

  const SchedulerConfig config_;
  KvBlocks kv_;
  std::vector<Sequence*> running_;  // in turn
  Queue waiting_;
  Queue swapped_;
  int budget_ = 0;  // tokens left in the step that is being planned
  uint64_t steps_ = 0;
  SchedulerCounts counts_;
};

}  // namespace pagoda::engine
