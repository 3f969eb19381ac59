#include "engine/stats_recorder.h"

namespace pagoda::engine {

StatsRecorder::StatsRecorder(int max_model_len, const KvBlocks& kv) : stats_(max_model_len) {
  for (int group = 0; group < kv.groups(); ++group) {
    stats_.total_blocks.push_back(kv.total(group));
    stats_.free_blocks.push_back(kv.available(group));
  }
}

void StatsRecorder::arrived(const ActiveRequest& request) {
  const std::lock_guard lock(mutex_);
  stats_.request_params_n.observe(request.request.n);
  stats_.request_params_max_tokens.observe(request.request.sampling.max_tokens);
}

void StatsRecorder::scheduled(const ActiveRequest& request, TimePoint now) {
  const std::lock_guard lock(mutex_);
  stats_.queue_time.observe(seconds_between(request.arrived, now));
}

void StatsRecorder::prompt_computed(const ActiveRequest& request) {
  const Sequence& first = *request.choices.front();
  const std::lock_guard lock(mutex_);
  stats_.prompt_tokens += first.prompt_size;
  stats_.prompt_tokens_cached += first.cached_tokens;
  stats_.request_prompt_tokens.observe(first.prompt_size);
}

void StatsRecorder::token(const Choice& choice, TimePoint now) {
  const std::lock_guard lock(mutex_);
  ++stats_.generation_tokens;
  if (choice.last_token) {
    stats_.inter_token_latency.observe(seconds_between(*choice.last_token, now));
  } else {
    stats_.time_to_first_token.observe(seconds_between(choice.request->arrived, now));
  }
}

void StatsRecorder::finished(const Choice& choice, FinishReason reason, TimePoint now) {
  const std::lock_guard lock(mutex_);
  ++stats_.finished[static_cast<size_t>(reason)];
  if (reason == FinishReason::kAbort || reason == FinishReason::kError) return;
  const ActiveRequest& request = *choice.request;
  stats_.e2e_latency.observe(seconds_between(request.arrived, now));
  stats_.request_generation_tokens.observe(choice.generated());
  if (!choice.first_token || !request.scheduled) return;
  const double decode = seconds_between(*choice.first_token, *choice.last_token);
  stats_.prefill_time.observe(seconds_between(*request.scheduled, *choice.first_token));
  stats_.decode_time.observe(decode);
  stats_.inference_time.observe(seconds_between(*request.scheduled, *choice.last_token));
  stats_.time_per_output_token.observe(choice.generated() > 1 ? decode / (choice.generated() - 1) : 0.0);
}

void StatsRecorder::step(const Step& step) {
  const std::lock_guard lock(mutex_);
  ++stats_.steps;
  stats_.iteration_tokens.observe(step.rows);
}

void StatsRecorder::drafts_checked(int drafts, int accepted) {
  const std::lock_guard lock(mutex_);
  ++stats_.drafts;
  stats_.draft_tokens += drafts;
  const auto size = static_cast<size_t>(drafts);
  if (stats_.accepted_drafts.size() < size) stats_.accepted_drafts.resize(size);
  for (size_t i = 0; i < static_cast<size_t>(accepted); ++i) ++stats_.accepted_drafts[i];
}

void StatsRecorder::observe(const Scheduler& scheduler) {
  const KvBlocks& kv = scheduler.kv();
  const SchedulerCounts& counts = scheduler.counts();
  const int64_t waste = scheduler.waste_bytes();
  const std::lock_guard lock(mutex_);
  stats_.running = scheduler.running();
  stats_.waiting = scheduler.waiting();
  stats_.swapped = scheduler.swapped();
  stats_.kv_usage = kv.usage();
  stats_.kv_used_bytes = kv.used_bytes();
  stats_.kv_waste_bytes = waste;
  for (int group = 0; group < kv.groups(); ++group)
    stats_.free_blocks[static_cast<size_t>(group)] = kv.available(group);
  stats_.prefix_queries = counts.prefix_queries;
  stats_.prefix_hits = counts.prefix_hits;
  stats_.preemptions = counts.preemptions;
  stats_.swapped_out_bytes = counts.swapped_out_bytes;
  stats_.swapped_in_bytes = counts.swapped_in_bytes;
}

EngineStats StatsRecorder::snapshot() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace pagoda::engine
