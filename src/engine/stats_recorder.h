// Keeps the engine's numbers: the engine thread records, any thread takes a snapshot.
#pragma once

#include <mutex>

#include "engine/active_request.h"
#include "engine/scheduler.h"
#include "engine/stats.h"

namespace pagoda::engine {

// The lock is held for the recording of a number or the copy of a snapshot, never while a step runs.
class StatsRecorder {
 public:
  StatsRecorder(int max_model_len, const KvBlocks& kv);

  void arrived(const ActiveRequest& request);
  void scheduled(const ActiveRequest& request, TimePoint now);
  void prompt_computed(const ActiveRequest& request);
  // The gap since the choice's last token, or since its request's arrival. Before last_token is set to `now`.
  void token(const Choice& choice, TimePoint now);
  void finished(const Choice& choice, FinishReason reason, TimePoint now);
  void step(const Step& step);
  void drafts_checked(int drafts, int accepted);
  // Gauges and the scheduler's counters.
  void observe(const Scheduler& scheduler);

  EngineStats snapshot() const;

 private:
  mutable std::mutex mutex_;
  EngineStats stats_;
};

}  // namespace pagoda::engine
