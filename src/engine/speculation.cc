#include "engine/speculation.h"

#include <algorithm>

#include "base/log.h"
#include "engine/guarded.h"

namespace pagoda::engine {

// A step brings one token more than its guesses: no more of them than the answer and the context can take.
int Speculation::room(const Choice& choice) const {
  const int answer = choice.sampling->params().max_tokens - choice.generated();
  const int context = config_.max_model_len - static_cast<int>(choice.tokens.size());
  return std::min({config_.draft_tokens, answer - 1, context - 1});
}

void Speculation::propose(std::span<Sequence* const> choices, int running) {
  if (drafter_ == nullptr) return;
  requests_.clear();
  const bool crowded = config_.draft_most_running > 0 && running > config_.draft_most_running;
  for (Sequence* sequence : choices) {
    Choice& choice = *static_cast<Choice*>(sequence);
    if (choice.finished) continue;
    choice.draft.clear();
    if (crowded || choice.pending() != 1 || choice.state != SequenceState::kRunning) continue;
    const int most = room(choice);
    if (most > 0) requests_.push_back({choice.id, choice.tokens, most, &choice.draft});
  }
  const Status proposed = guarded("the drafter", [&] { return drafter_->propose(requests_); });
  if (proposed) {
    failed_ = false;
    return;
  }
  if (!failed_) log::error("nothing is guessed: {}", proposed.error().message);
  failed_ = true;
  for (const DraftRequest& request : requests_) request.draft->clear();
}

void Speculation::forget(const Choice& choice) {
  if (drafter_ != nullptr) drafter_->forget(choice.id);
}

}  // namespace pagoda::engine
