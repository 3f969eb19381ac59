// Blocks of one text, recognised by several threads at once and handed back in their order; a few megabytes
// are under way, however long the text.
#pragma once

#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "faults/line_recogniser.h"

namespace pagoda::faults {

struct TextBlock {
  std::string text;  // with the bytes that follow it, for sentences that go on
  size_t end = 0;    // of what is its own
  RecognisedBlock recognised;
};

class BlockPipeline {
 public:
  explicit BlockPipeline(const PatternMatcher& matcher);

  // Begins on another thread, unless `alone`: then it is done at once, on this one.
  void put(TextBlock block, bool alone);
  // The next block in order, waited for; nullopt: none is under way.
  std::optional<TextBlock> take();
  // As many as keep all threads busy are under way: take() before the next put().
  bool is_full() const { return under_way_.size() >= most_; }

 private:
  // Recognisers that no thread uses right now.
  struct Recognisers {
    explicit Recognisers(const PatternMatcher& of) : matcher(of) {}
    const PatternMatcher& matcher;
    std::mutex mutex;
    std::vector<std::unique_ptr<LineRecogniser>> idle;
  };
  static TextBlock recognise(Recognisers& recognisers, TextBlock block);

  std::shared_ptr<Recognisers> recognisers_;
  const size_t most_;
  std::deque<std::future<TextBlock>> under_way_;
};

}  // namespace pagoda::faults
