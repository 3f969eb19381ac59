// What the engine thread does: plan, run, sample, publish; again and again.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "engine/active_request.h"
#include "engine/engine.h"
#include "engine/mailbox.h"
#include "engine/sampler.h"
#include "engine/scheduler.h"
#include "engine/speculation.h"
#include "engine/stats_recorder.h"

namespace pagoda::engine {

// What both sides of the mailbox look at.
struct EngineState {
  Mailbox mailbox;
  std::atomic<bool> alive{true};
  std::atomic<bool> draining{false};
  std::atomic<int> open{0};    // requests submitted whose last update has not been sent
  std::atomic<int> queued{0};  // of these, requests that have never run
};

class EngineLoop {
 public:
  // `drafter` may be null.
  EngineLoop(const EngineConfig& config, ModelRunner& runner, Drafter* drafter, EngineState& state);

  // Until the mailbox says stop, or the runner has failed too often. Nothing is thrown.
  void run();
  const StatsRecorder& stats() const { return stats_; }
  StatsRecorder& stats() { return stats_; }

 private:
  bool collect_mail();
  void step();
  void note_plan();
  Result<StepLogits> run_plan();
  void fail_step(const Error& error);

  void sample(const StepLogits& logits);
  void advance(Choice& choice, const SequencePlan& plan, const StepLogits& logits, int first_row);
  Status score_prompt(Choice& choice, const SequencePlan& plan, const StepLogits& logits, int first_row);
  void check_drafts(Choice& choice, const SequencePlan& plan, const StepLogits& logits, int first_row);
  void prompt_done(Choice& choice, std::span<float> row);
  void choose_token(Choice& choice, std::span<float> row);
  std::optional<Finish> finish_after(Choice& choice, int32_t token);

  void end(Choice& choice, Finish finish, Update update = {});
  void end_request(ActiveRequest& request, FinishReason reason, const Error& error = {});
  void emit(Choice& choice, Update update);
  void publish();
  void end_everything();

  const EngineConfig config_;
  ModelRunner& runner_;
  EngineState& state_;
  Scheduler scheduler_;
  Sampler sampler_;
  Speculation speculation_;
  StatsRecorder stats_;
  std::map<RequestId, std::unique_ptr<ActiveRequest>> active_;
  std::vector<std::unique_ptr<ActiveRequest>> done_;  // all choices finished, last updates in outbox_
  std::vector<std::pair<ActiveRequest*, Update>> outbox_;
  Mail mail_;
  Step step_;
  TimePoint now_;  // when the step's logits were there
  std::vector<float> fork_row_;
  int failed_steps_ = 0;  // in a row
};

}  // namespace pagoda::engine
