// Stop strings: finds them across token borders, and keeps what may become one from being sent.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/constraint.h"
#include "text/detokenizer.h"

namespace pagoda::text {

struct StopOptions {
  std::vector<std::string> strings;  // none empty
  int min_tokens = 0;                // matches count from this token on
  bool skip_special = true;
};

// For the engine: ends the choice with the token that completes a stop string.
std::unique_ptr<engine::StopWatcher> make_stop_watcher(const Tokenizer& tokenizer, StopOptions options);

// For the answer's text: holds back what may be the beginning of a stop string.
class StopFilter {
 public:
  StopFilter(StopOptions options, bool include_stop_string);
  // The text that may go out now. `tokens` is how many tokens were generated so far, this piece's included.
  std::string accept(std::string_view text, int tokens);
  // The rest: cut at the stop string where the engine says one ended the answer, else everything held.
  std::string finish(const std::optional<std::string>& stop_string);

 private:
  StopOptions options_;
  bool include_stop_string_;
  std::string held_;
};

}  // namespace pagoda::text
