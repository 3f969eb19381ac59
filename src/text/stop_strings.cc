#include "text/stop_strings.h"

namespace pagoda::text {
namespace {

class StopWatcher final : public engine::StopWatcher {
 public:
  StopWatcher(const Tokenizer& tokenizer, StopOptions options)
      : detokenizer_(tokenizer, options.skip_special),
        automaton_(std::move(options.strings)),
        min_tokens_(options.min_tokens) {}

  std::optional<std::string> accept(int32_t token) override {
    ++tokens_;
    for (const char byte : detokenizer_.accept(token)) {
      state_ = automaton_.next(state_, static_cast<unsigned char>(byte));
      const std::string_view match = automaton_.match(state_);
      if (!match.empty() && tokens_ >= min_tokens_) return std::string(match);
    }
    return std::nullopt;
  }

 private:
  Detokenizer detokenizer_;
  StopAutomaton automaton_;
  StopAutomaton::State state_ = StopAutomaton::kStart;
  int min_tokens_;
  int tokens_ = 0;
};

}  // namespace

std::unique_ptr<engine::StopWatcher> make_stop_watcher(const Tokenizer& tokenizer, StopOptions options) {
  return std::make_unique<StopWatcher>(tokenizer, std::move(options));
}

StopFilter::StopFilter(StopOptions options, bool include_stop_string)
    : automaton_(std::move(options.strings)),
      min_tokens_(options.min_tokens),
      include_stop_string_(include_stop_string) {}

std::string StopFilter::accept(std::string_view text, int tokens) {
  size_t read = 0;
  while (!match_length_ && read < text.size()) {
    held_ += text[read];
    state_ = automaton_.next(state_, static_cast<unsigned char>(text[read++]));
    const size_t match = automaton_.match(state_).size();
    if (match > 0 && tokens >= min_tokens_) match_length_ = match;
  }
  // A stop string that was found begins what is held from now on; `after` is the rest of its token.
  const std::string_view after = text.substr(read);
  std::string out;
  if (read > 0) {
    const size_t kept = match_length_ ? *match_length_ : automaton_.open_bytes(state_);
    out = held_.substr(0, held_.size() - kept);
    held_.erase(0, out.size());
  }
  held_ += after;
  return out;
}

std::string StopFilter::finish(const std::optional<std::string>& stop_string) {
  std::string rest = std::move(held_);
  held_.clear();
  if (!stop_string) return rest;
  // Where the engine saw a match that this filter did not, the string still may not leak.
  const size_t found = match_length_ ? 0 : rest.find(*stop_string);
  if (found == std::string::npos) return rest;
  const size_t length = match_length_.value_or(stop_string->size());
  rest.erase(found + (include_stop_string_ ? length : 0));
  return rest;
}

}  // namespace pagoda::text
