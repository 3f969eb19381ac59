// What is asked of the engine, and what it answers with.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/constraint.h"
#include "engine/sampling_params.h"

namespace pagoda::engine {

using RequestId = uint64_t;

struct TokenLogprob {
  int32_t token = -1;
  float logprob = 0.f;  // natural logarithm, floored at -9999
  int rank = 0;         // 1 is the most likely
};

struct SampledToken {
  int32_t token = -1;
  // Present when logprobs were asked for: the chosen token, then the most likely ones in order.
  std::optional<TokenLogprob> chosen;
  std::vector<TokenLogprob> top;
};

enum class FinishReason {
  kStop,    // end token, stop token or stop string
  kLength,  // max_tokens or the context's end
  kAbort,   // cancelled, or the server shut down
  kError,   // this request alone failed: see Finish::error
};

struct Finish {
  FinishReason reason = FinishReason::kStop;
  std::optional<int32_t> stop_token;  // a stop_token_ids entry that ended it (not the model's own end token)
  std::optional<std::string> stop_string;
  Error error;
};

// News of one choice. Several tokens may come at once.
struct Update {
  int choice = 0;
  std::vector<SampledToken> tokens;
  std::optional<Finish> finish;  // the last update of this choice
  // In the first update of choice 0 only:
  std::vector<SampledToken> prompt_logprobs;  // [prompt - 1]: of prompt tokens 1, 2, …
  int cached_tokens = 0;                      // prompt tokens that were found in the prefix cache
};

struct Request {
  std::string label;            // the client's request id, for logs
  std::vector<int32_t> prompt;  // >= 1 token
  SamplingParams sampling;
  int n = 1;               // choices; they share the prompt's KV
  int priority = 0;        // lower runs first (as in vLLM); used by the priority policy only
  std::string cache_salt;  // prefixes are shared only between requests of equal salt
  // One per choice, made on the submitting thread. May be empty.
  std::function<std::unique_ptr<StopWatcher>()> make_stop_watcher;
  std::function<std::unique_ptr<TokenConstraint>()> make_constraint;
  // Called on the engine thread: must be quick, must not call the engine. Every choice gets exactly one
  // finish.
  std::function<void(Update&&)> sink;
};

}  // namespace pagoda::engine
