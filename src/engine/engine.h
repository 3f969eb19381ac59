// The engine: a bounded mailbox in front, one thread that loops plan → run → sample → publish.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "engine/drafter.h"
#include "engine/model_runner.h"
#include "engine/request.h"
#include "engine/stats.h"

namespace pagoda::engine {

enum class SchedulingPolicy { kFcfs, kPriority };

struct EngineConfig {
  int max_model_len = 0;                 // prompt + answer, tokens
  int max_num_seqs = 256;                // sequences in one step
  int max_num_batched_tokens = 2048;     // rows in one step
  int long_prefill_token_threshold = 0;  // most rows of one sequence in one step; 0: no such bound
  int max_queued_requests = 0;           // waiting ones; 0: 16 × max_num_seqs
  SchedulingPolicy policy = SchedulingPolicy::kFcfs;
  bool prefix_caching = true;
  int draft_tokens = 0;        // most guesses of one sequence in one step, where a drafter is given
  int draft_most_running = 0;  // with more running sequences nothing is guessed: a full batch needs no more
                               // rows; 0: no such bound
  std::vector<int32_t> end_tokens;  // end the answer unless ignore_eos
  int failed_steps_to_death = 3;    // in a row: then the runner is taken for broken, and alive() turns false
  uint64_t seed = 0;                // for requests that bring none
};

class Engine {
 public:
  // Starts the engine thread. `drafter` may be null.
  static std::unique_ptr<Engine> start(EngineConfig config, std::unique_ptr<ModelRunner> runner,
                                       std::unique_ptr<Drafter> drafter = nullptr);
  virtual ~Engine() = default;  // cancels what is left, joins the thread

  // Any thread. Fails at once, and never calls the sink, when: the prompt is empty or does not fit the
  // context (kInvalidArgument, both sizes named), a sampling value is out of range, the queue is full
  // (kResourceExhausted: try again later), the engine drains or is dead (kUnavailable).
  virtual Result<RequestId> submit(Request request) = 0;
  // Any thread. The request ends with kAbort within one step; unknown ids are ignored.
  virtual void cancel(RequestId id) = 0;

  virtual EngineStats stats() const = 0;
  virtual bool alive() const = 0;
  // No new requests from now on; the running ones go on.
  virtual void begin_drain() = 0;
  // No request is left, and every sink has had its last update.
  virtual bool idle() const = 0;
};

}  // namespace pagoda::engine
