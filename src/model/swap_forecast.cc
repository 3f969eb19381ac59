#include "model/swap_forecast.h"

#include <algorithm>
#include <deque>
#include <vector>

namespace pagoda::model {
namespace {

struct Stream {
  int known = 0;     // tokens: the prompt and what was answered
  int computed = 0;  // of them with KV
  int64_t blocks = 0;
  int pending() const { return known - computed; }
};

// The scheduler's loop for streams that only differ in their turn. Indices are turns: smaller goes first.
class Play {
 public:
  Play(const SwapLoad& load, const StepRates& rates, int64_t blocks)
      : load_(load), rates_(rates), total_(blocks), free_(blocks), swap_free_(load.swap_blocks) {
    streams_.resize(static_cast<size_t>(load.sequences));
    for (int i = 0; i < load.sequences; ++i) {
      streams_[static_cast<size_t>(i)].known = load.prompt;
      waiting_.push_back(i);
    }
  }

  double run() {
    double seconds = 0;
    while (!running_.empty() || !waiting_.empty() || !swapped_.empty()) seconds += step();
    return seconds;
  }
  int64_t preemptions() const { return preemptions_; }
  int64_t moved() const { return moved_; }

 private:
  Stream& at(int turn) { return streams_[static_cast<size_t>(turn)]; }
  int64_t blocks_for(int64_t tokens) const { return (tokens + load_.block_size - 1) / load_.block_size; }

  double step() {
    budget_ = load_.step_tokens;
    rows_ = 0;
    context_ = 0;
    const int64_t moved_before = moved_;
    if (go_on() && bring_back()) admit();
    const double seconds = rates_.step + rates_.row * static_cast<double>(rows_) +
                           rates_.kv_token * static_cast<double>(context_) +
                           rates_.swap_block * static_cast<double>(moved_ - moved_before);
    finish();
    return seconds;
  }

  void compute(int turn, int tokens) {
    Stream& stream = at(turn);
    stream.computed += tokens;
    budget_ -= tokens;
    rows_ += tokens;
    context_ += static_cast<int64_t>(tokens) * stream.computed;
  }

  // True when nobody had to go. Those that have caught up are granted their token first.
  bool go_on() {
    bool all_stay = true;
    int64_t one_each = 0;
    for (int turn : running_) one_each += at(turn).pending() == 1 ? 1 : 0;
    int64_t for_prompts = std::max<int64_t>(0, budget_ - one_each);
    for (size_t i = 0; i < running_.size(); ++i) {
      const int turn = running_[i];
      Stream& stream = at(turn);
      const int tokens =
          stream.pending() == 1 ? 1 : static_cast<int>(std::min<int64_t>(stream.pending(), for_prompts));
      if (tokens <= 0) continue;
      if (stream.pending() > 1) for_prompts -= tokens;
      const int64_t needed = blocks_for(stream.computed + tokens) - stream.blocks;
      while (i < running_.size() && needed > free_) {
        all_stay = false;
        preempt();
      }
      if (i >= running_.size()) break;
      free_ -= needed;
      stream.blocks += needed;
      compute(turn, tokens);
    }
    return all_stay;
  }

  void preempt() {
    const int turn = running_.back();
    running_.pop_back();
    ++preemptions_;
    Stream& stream = at(turn);
    free_ += stream.blocks;
    if (stream.blocks <= swap_free_) {
      swap_free_ -= stream.blocks;
      moved_ += stream.blocks;
      swapped_.insert(std::upper_bound(swapped_.begin(), swapped_.end(), turn), turn);
      return;
    }
    stream.blocks = 0;
    stream.computed = 0;
    waiting_.insert(std::upper_bound(waiting_.begin(), waiting_.end(), turn), turn);
  }

  // For all tokens of the newcomer beside what the running ones still miss, and a little to grow.
  bool has_room(const Stream& stream) {
    int64_t needed = blocks_for(stream.known + 1) + std::max<int64_t>(1, total_ / 100);
    for (int turn : running_)
      needed += std::max<int64_t>(0, blocks_for(at(turn).known + 1) - at(turn).blocks);
    return needed <= free_;
  }

  bool take_in(int turn, int64_t kept_blocks) {
    Stream& stream = at(turn);
    if (!running_.empty() && !has_room(stream)) return false;
    const int tokens = static_cast<int>(std::min<int64_t>(stream.pending(), budget_));
    const int64_t blocks = blocks_for(stream.computed + tokens);
    if (blocks > free_) return false;
    free_ -= blocks;
    stream.blocks = blocks;
    swap_free_ += kept_blocks;
    moved_ += kept_blocks;
    running_.insert(std::upper_bound(running_.begin(), running_.end(), turn), turn);
    compute(turn, tokens);
    return true;
  }

  bool open() const { return static_cast<int>(running_.size()) < load_.max_num_seqs && budget_ > 0; }

  bool bring_back() {
    while (!swapped_.empty()) {
      if (!open() || !take_in(swapped_.front(), at(swapped_.front()).blocks)) return false;
      swapped_.pop_front();
    }
    return true;
  }

  void admit() {
    while (!waiting_.empty() && open() && take_in(waiting_.front(), 0)) waiting_.pop_front();
  }

  // Those that have caught up have a new token, or are done.
  void finish() {
    std::erase_if(running_, [&](int turn) {
      Stream& stream = at(turn);
      if (stream.pending() > 0) return false;
      ++stream.known;
      if (stream.known < load_.prompt + load_.answer) return false;
      free_ += stream.blocks;
      return true;
    });
  }

  const SwapLoad& load_;
  const StepRates& rates_;
  std::vector<Stream> streams_;
  std::vector<int> running_;  // by turn
  std::deque<int> waiting_, swapped_;
  int64_t total_, free_, swap_free_;
  int64_t budget_ = 0, rows_ = 0, context_ = 0;
  int64_t preemptions_ = 0, moved_ = 0;
};

}  // namespace

SwapForecast forecast_swap(const SwapLoad& load, const StepRates& rates) {
  const int64_t one =
      (static_cast<int64_t>(load.prompt) + load.answer + load.block_size) / load.block_size + 1;
  const int64_t enough = one * load.sequences + one * load.sequences / 50 + load.sequences;
  SwapForecast forecast;
  forecast.seconds_with_room = Play(load, rates, enough).run();
  Play tight(load, rates, std::min(enough, std::max(load.blocks, one)));
  forecast.seconds = tight.run();
  forecast.preemptions = tight.preemptions();
  forecast.moved_blocks = tight.moved();
  return forecast;
}

}  // namespace pagoda::model
