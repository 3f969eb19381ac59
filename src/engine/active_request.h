// A request that the engine has taken, and its choices.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "engine/constraint.h"
#include "engine/request.h"
#include "engine/sampling_state.h"
#include "engine/sequence.h"

namespace pagoda::engine {

struct ActiveRequest;

struct Choice : Sequence {
  ActiveRequest* request = nullptr;
  std::optional<SamplingState> sampling;
  std::unique_ptr<StopWatcher> watcher;         // may be null
  std::unique_ptr<TokenConstraint> constraint;  // may be null
  std::optional<TimePoint> first_token, last_token;
  bool finished = false;

  int generated() const { return static_cast<int>(sampling->answer().size()); }
};

// Choice 0 computes the prompt; the others are forked from it when its last token's logits are there.
struct ActiveRequest {
  RequestId id = 0;
  Request request;
  std::vector<std::unique_ptr<Choice>> choices;
  int unfinished = 0;  // choices
  bool forked = false;
  bool first_update_sent = false;
  std::vector<SampledToken> prompt_logprobs;
  TimePoint arrived;
  std::optional<TimePoint> scheduled;  // when it first ran
};

}  // namespace pagoda::engine
