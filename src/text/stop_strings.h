// Stop strings: finds them across token borders, and keeps what may become one from being sent.
//
// A match counts when the token that completes it is at least the min_tokens-th. Of several matches the one
// that is complete first counts, of those that are complete with the same character the longest: the answer
// does not depend on where token borders fall. Watcher and filter read the same characters with the same
// automaton and so agree.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/constraint.h"
#include "text/detokenizer.h"
#include "text/stop_automaton.h"

namespace pagoda::text {

struct StopOptions {
  std::vector<std::string> strings;  // none empty, all UTF-8
  int min_tokens = 0;                // matches count from this token on
  bool skip_special = true;
};

// For the engine: ends the choice with the token that completes a stop string. The tokenizer must outlive it.
std::unique_ptr<engine::StopWatcher> make_stop_watcher(const Tokenizer& tokenizer, StopOptions options);

// For the answer's text: holds back what may be the beginning of a stop string.
class StopFilter {
 public:
  StopFilter(StopOptions options, bool include_stop_string);
  // The text that may go out now. `text` is what the Detokenizer gave for one token (or the rest, by its
  // flush()), `tokens` how many tokens were generated so far, this piece's included.
  std::string accept(std::string_view text, int tokens);
  // The rest: cut at the stop string where the engine says one ended the answer, else everything held.
  std::string finish(const std::optional<std::string>& stop_string);

 private:
  StopAutomaton automaton_;
  int min_tokens_;
  bool include_stop_string_;
  StopAutomaton::State state_ = StopAutomaton::kStart;
  std::string held_;                    // not sent yet
  std::optional<size_t> match_length_;  // of the stop string that held_ begins with, once one was found
};

}  // namespace pagoda::text
