// A Drafter for tests: it knows what FakeRunner will say, and errs at regular places.
#pragma once

#include <algorithm>
#include <set>
#include <vector>

#include "engine/drafter.h"
#include "engine/fake_runner.h"

namespace pagoda::engine {

class OracleDrafter final : public Drafter {
 public:
  OracleDrafter(int vocabulary, model::KvLayout layout, int right_in_a_row)
      : row_(static_cast<size_t>(vocabulary)), layout_(std::move(layout)), right_in_a_row_(right_in_a_row) {}

  Status propose(std::span<const DraftRequest> requests) override {
    for (const DraftRequest& request : requests) {
      if (!request.draft->empty() || request.most < 1 || forgotten_.contains(request.sequence)) {
        return fail(ErrorCode::kInternal, "a request for a draft that makes no sense");
      }
      std::vector<int32_t> history(request.tokens.begin(), request.tokens.end());
      for (int i = 0; i < request.most; ++i) {
        FakeRunner::expected_logits(history, layout_, row_);
        auto guess = static_cast<int32_t>(std::ranges::max_element(row_) - row_.begin());
        if (++guesses_ % (right_in_a_row_ + 1) == 0) guess = (guess + 1) % static_cast<int32_t>(row_.size());
        history.push_back(guess);
        request.draft->push_back(guess);
      }
    }
    return {};
  }
  void forget(uint64_t sequence) override { forgotten_.insert(sequence); }

 private:
  std::vector<float> row_;
  const model::KvLayout layout_;
  const int right_in_a_row_;
  int guesses_ = 0;
  std::set<uint64_t> forgotten_;
};

}  // namespace pagoda::engine
