#include "engine/engine_loop.h"

#include <algorithm>

#include "base/format.h"
#include "base/log.h"
#include "engine/guarded.h"

namespace pagoda::engine {

namespace {

SchedulerConfig scheduler_config(const EngineConfig& config) {
  return {config.max_num_seqs, config.max_num_batched_tokens, config.long_prefill_token_threshold,
          config.prefix_caching};
}

int rows_of(const SequencePlan& plan) {
  switch (plan.logits) {
    case LogitsWanted::kNone:
      return 0;
    case LogitsWanted::kLast:
      return 1;
    case LogitsWanted::kAll:
      return static_cast<int>(plan.tokens.size());
  }
  return 0;
}

bool contains(const std::vector<int32_t>& tokens, int32_t token) {
  return std::ranges::find(tokens, token) != tokens.end();
}

}  // namespace

EngineLoop::EngineLoop(const EngineConfig& config, ModelRunner& runner, Drafter* drafter, EngineState& state)
    : config_(config),
      runner_(runner),
      state_(state),
      scheduler_(scheduler_config(config), runner.capacity()),
      sampler_(runner.vocabulary()),
      speculation_(config_, drafter),
      stats_(config.max_model_len, scheduler_.kv()) {}

void EngineLoop::run() {
  while (collect_mail()) step();
  end_everything();
}

// False when it is time to end. Sleeps while there is nothing to do.
bool EngineLoop::collect_mail() {
  state_.mailbox.collect(mail_, !scheduler_.has_work());
  for (auto& request : mail_.requests) {
    scheduler_.add(*request->choices.front());
    active_.emplace(request->id, std::move(request));
  }
  for (const RequestId id : mail_.cancelled) {
    const auto found = active_.find(id);
    if (found != active_.end()) end_request(*found->second, FinishReason::kAbort);
  }
  return !mail_.stop && state_.alive;
}

void EngineLoop::step() {
  scheduler_.plan(step_);
  note_plan();
  if (!step_.sequences.empty()) {
    const Result<StepLogits> logits = run_plan();
    now_ = Clock::now();
    if (logits) {
      failed_steps_ = 0;
      scheduler_.complete(step_);
      sample(*logits);
      stats_.step(step_);
      speculation_.propose(step_.sequences, scheduler_.running());
    } else {
      fail_step(logits.error());
    }
  }
  publish();
}

// Whose turn came for the first time, and who can never have one.
void EngineLoop::note_plan() {
  const TimePoint now = step_.admitted.empty() ? TimePoint{} : Clock::now();
  for (Sequence* sequence : step_.admitted) {
    ActiveRequest& request = *static_cast<Choice*>(sequence)->request;
    request.scheduled = now;
    --state_.queued;
    stats_.scheduled(request, now);
  }
  for (const Step::Failure& failure : step_.failures) {
    Choice& choice = *static_cast<Choice*>(failure.sequence);
    if (choice.request->forked) {
      end(choice, Finish{FinishReason::kError, {}, {}, failure.error});
    } else {
      end_request(*choice.request, FinishReason::kError, failure.error);
    }
  }
}

Result<StepLogits> EngineLoop::run_plan() {
  Result<StepLogits> logits = fail(ErrorCode::kInternal, "the model did not run");
  PAGODA_TRY(guarded("the model's step", [&] { logits = runner_.run(step_.plan); }));
  if (!logits) return logits;
  int rows = 0;
  for (const SequencePlan& plan : step_.plan.sequences) rows += rows_of(plan);
  if (logits->rows != rows || (rows > 0 && logits->vocabulary != runner_.vocabulary())) {
    return fail(ErrorCode::kInternal,
                format("the model returned {} rows of {} logits where {} of {} were planned", logits->rows,
                       logits->vocabulary, rows, runner_.vocabulary()));
  }
  return logits;
}

// The step's requests end, the others go on; unless no step succeeds any more.
void EngineLoop::fail_step(const Error& error) {
  log::error("step {} failed: {}", step_.plan.step, error.message);
  scheduler_.fail(step_);
  for (Sequence* sequence : step_.sequences) {
    ActiveRequest& request = *static_cast<Choice*>(sequence)->request;
    end_request(request, FinishReason::kError, error);
  }
  if (++failed_steps_ >= config_.failed_steps_to_death) {
    log::error("{} steps in a row have failed: the engine stops", failed_steps_);
    state_.alive = false;
  }
}

void EngineLoop::sample(const StepLogits& logits) {
  int row = 0;
  for (size_t i = 0; i < step_.sequences.size(); ++i) {
    Choice& choice = *static_cast<Choice*>(step_.sequences[i]);
    const SequencePlan& plan = step_.plan.sequences[i];
    if (!choice.finished) {
      const Status status = guarded("sampling", [&] { advance(choice, plan, logits, row); });
      if (!status) end_request(*choice.request, FinishReason::kError, status.error());
    }
    row += rows_of(plan);
  }
}

void EngineLoop::advance(Choice& choice, const SequencePlan& plan, const StepLogits& logits, int first_row) {
  if (plan.logits == LogitsWanted::kAll) {
    const Status scored = score_prompt(choice, plan, logits, first_row);
    if (!scored) return end_request(*choice.request, FinishReason::kError, scored.error());
  }
  if (choice.pending() > 0) return;
  if (plan.drafts > 0) return check_drafts(choice, plan, logits, first_row);
  const int rows = rows_of(plan);
  const std::span<float> row = rows > 0 ? logits.row(first_row + rows - 1) : std::span<float>{};
  if (choice.request->forked) {
    choose_token(choice, row);
  } else {
    prompt_done(choice, row);
  }
}

// Rows of a prompt predict its next tokens. After a preemption they are computed again, but scored only once.
Status EngineLoop::score_prompt(Choice& choice, const SequencePlan& plan, const StepLogits& logits,
                                int first_row) {
  ActiveRequest& request = *choice.request;
  const int end = std::min(plan.first_position + static_cast<int>(plan.tokens.size()), choice.prompt_rows);
  for (int position = std::max(plan.first_position, choice.prompt_rows_done); position < end; ++position) {
    const int32_t next = choice.tokens[static_cast<size_t>(position) + 1];
    PAGODA_ASSIGN(SampledToken scored, sampler_.score(logits.row(first_row + position - plan.first_position),
                                                      next, *request.request.sampling.prompt_logprobs));
    request.prompt_logprobs.push_back(std::move(scored));
  }
  choice.prompt_rows_done = std::max(choice.prompt_rows_done, end);
  return {};
}

// Each row is the model's word on what follows it; the next one counts as long as the guesses were right.
void EngineLoop::check_drafts(Choice& choice, const SequencePlan& plan, const StepLogits& logits,
                              int first_row) {
  const std::span<const int32_t> drafts = std::span(plan.tokens).last(static_cast<size_t>(plan.drafts));
  int accepted = 0;
  choose_token(choice, logits.row(first_row));
  while (!choice.finished && accepted < plan.drafts &&
         choice.tokens.back() == drafts[static_cast<size_t>(accepted)]) {
    scheduler_.confirm_draft(choice);
    ++accepted;
    choose_token(choice, logits.row(first_row + accepted));
  }
  stats_.drafts_checked(plan.drafts, accepted);
}

// All choices start from the prompt's last row.
void EngineLoop::prompt_done(Choice& choice, std::span<float> row) {
  ActiveRequest& request = *choice.request;
  request.forked = true;
  stats_.prompt_computed(request);
  if (!choice.samples) return end_request(request, FinishReason::kLength);
  for (const auto& other : request.choices) {
    if (other.get() != &choice) scheduler_.fork(choice, *other);
  }
  if (request.choices.size() > 1) fork_row_.assign(row.begin(), row.end());
  for (const auto& one : request.choices) {
    if (one.get() != request.choices.front().get()) std::ranges::copy(fork_row_, row.begin());
    if (!one->finished) choose_token(*one, row);
  }
}

void EngineLoop::choose_token(Choice& choice, std::span<float> row) {
  Result<SampledToken> sampled = sampler_.sample(*choice.sampling, choice.constraint.get(), row);
  if (!sampled) return end(choice, Finish{FinishReason::kError, {}, {}, sampled.error()});
  const int32_t token = sampled->token;
  stats_.token(choice, now_);
  if (!choice.first_token) choice.first_token = now_;
  choice.last_token = now_;
  choice.tokens.push_back(token);
  choice.sampling->add(token);
  std::optional<Finish> finish = finish_after(choice, token);
  Update update;
  update.tokens.push_back(std::move(*sampled));
  if (finish) {
    end(choice, std::move(*finish), std::move(update));
  } else {
    emit(choice, std::move(update));
  }
}

std::optional<Finish> EngineLoop::finish_after(Choice& choice, int32_t token) {
  const SamplingParams& params = choice.sampling->params();
  if (choice.constraint && !choice.constraint->accept(token)) {
    return Finish{FinishReason::kError,
                  {},
                  {},
                  {ErrorCode::kInternal, "the grammar refused a token that it had allowed", {}}};
  }
  if (!params.ignore_eos && contains(config_.end_tokens, token)) return Finish{};
  if (contains(params.stop_token_ids, token)) return Finish{FinishReason::kStop, token, {}, {}};
  if (choice.watcher) {
    std::optional<std::string> stop = choice.watcher->accept(token);
    if (stop && choice.generated() >= params.min_tokens)
      return Finish{FinishReason::kStop, {}, std::move(stop), {}};
  }
  if (choice.constraint && choice.constraint->finished()) return Finish{};
  if (choice.generated() >= params.max_tokens ||
      static_cast<int>(choice.tokens.size()) >= config_.max_model_len) {
    return Finish{FinishReason::kLength, {}, {}, {}};
  }
  return std::nullopt;
}

void EngineLoop::end(Choice& choice, Finish finish, Update update) {
  ActiveRequest& request = *choice.request;
  scheduler_.remove(choice);
  choice.finished = true;
  speculation_.forget(choice);
  stats_.finished(choice, finish.reason, Clock::now());
  update.finish = std::move(finish);
  emit(choice, std::move(update));
  if (--request.unfinished > 0) return;
  if (!request.scheduled) --state_.queued;
  const auto found = active_.find(request.id);
  done_.push_back(std::move(found->second));
  active_.erase(found);
}

void EngineLoop::end_request(ActiveRequest& request, FinishReason reason, const Error& error) {
  for (const auto& choice : request.choices) {
    if (!choice->finished) end(*choice, Finish{reason, {}, {}, error});
  }
}

void EngineLoop::emit(Choice& choice, Update update) {
  ActiveRequest& request = *choice.request;
  update.choice = choice.choice;
  if (choice.choice == 0 && !request.first_update_sent) {
    request.first_update_sent = true;
    update.prompt_logprobs = std::move(request.prompt_logprobs);
    update.cached_tokens = choice.cached_tokens;
  }
  outbox_.emplace_back(&request, std::move(update));
}

void EngineLoop::publish() {
  stats_.observe(scheduler_);
  for (auto& entry : outbox_) {
    ActiveRequest* const request = entry.first;
    const Status sent =
        guarded("the receiver of an answer", [&] { request->request.sink(std::move(entry.second)); });
    if (sent) continue;
    log::error("request {}: {}; it is cancelled", request->request.label, sent.error().message);
    state_.mailbox.cancel(request->id);
  }
  outbox_.clear();
  const int done = static_cast<int>(done_.size());
  done_.clear();
  state_.open -= done;
}

void EngineLoop::end_everything() {
  state_.mailbox.close();
  state_.mailbox.collect(mail_, false);
  for (auto& request : mail_.requests) active_.emplace(request->id, std::move(request));
  const bool dead = !state_.alive;
  const Error error =
      dead ? Error{ErrorCode::kUnavailable, "the engine has stopped after repeated failures", {}} : Error{};
  while (!active_.empty()) {
    end_request(*active_.begin()->second, dead ? FinishReason::kError : FinishReason::kAbort, error);
  }
  publish();
}

}  // namespace pagoda::engine
