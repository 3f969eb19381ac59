#include "api/openai/choice_builder.h"

#include <algorithm>

#include "api/openai/json_text.h"

namespace pagoda::api {
namespace {

std::string_view name_of(engine::FinishReason reason) {
  switch (reason) {
    case engine::FinishReason::kStop:
      return "stop";
    case engine::FinishReason::kLength:
      return "length";
    case engine::FinishReason::kAbort:
      return "abort";
    case engine::FinishReason::kError:
      return "error";
  }
  return "error";
}

ChoiceEnding ending_of(const engine::Finish& finish) {
  ChoiceEnding ending{name_of(finish.reason), {}};
  if (finish.stop_string) {
    append_json_string(ending.stop_reason, *finish.stop_string);
  } else if (finish.stop_token) {
    append_json_number(ending.stop_reason, int64_t{*finish.stop_token});
  } else {
    ending.stop_reason = "null";
  }
  return ending;
}

// An end or stop token says that the answer is over; it is no part of its text.
bool ends_answer(const engine::Finish& finish, const engine::SampledToken& last,
                 const text::Tokenizer& tokenizer) {
  if (finish.reason != engine::FinishReason::kStop || finish.stop_string) return false;
  const std::vector<int32_t>& ends = tokenizer.end_tokens();
  return finish.stop_token.has_value() || std::find(ends.begin(), ends.end(), last.token) != ends.end();
}

}  // namespace

void ChoicePiece::append(ChoicePiece&& later) {
  text += later.text;
  chat_logprobs.append(later.chat_logprobs);
  completion_logprobs.append(later.completion_logprobs);
  token_ids.insert(token_ids.end(), later.token_ids.begin(), later.token_ids.end());
  tokens += later.tokens;
  if (later.ending) ending = std::move(later.ending);
}

ChoiceBuilder::ChoiceBuilder(AnswerKind kind, const AnswerOptions& options, int min_tokens,
                             const text::Tokenizer& tokenizer)
    : kind_(kind),
      options_(options),
      tokenizer_(tokenizer),
      detokenizer_(tokenizer, options.skip_special_tokens) {
  if (options.logprobs) logprobs_.emplace(tokenizer, *options.logprobs, options.tokens_as_ids);
  if (!options.stop.empty()) {
    stop_filter_.emplace(text::StopOptions{options.stop, min_tokens, options.skip_special_tokens},
                         options.include_stop_string);
  }
}

ChoicePiece ChoiceBuilder::echo(std::string_view text, std::span<const int32_t> tokens,
                                std::span<const engine::SampledToken> logprobs) {
  ChoicePiece piece;
  piece.text = text;
  if (logprobs_ && kind_ == AnswerKind::kCompletion && !tokens.empty()) {
    text::Detokenizer detokenizer(tokenizer_, options_.skip_special_tokens);
    int64_t offset = 0;
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (i == 0 || i - 1 >= logprobs.size()) {
        logprobs_->append_without_logprob(piece.completion_logprobs, tokens[i], offset);
      } else {
        logprobs_->append(piece.completion_logprobs, logprobs[i - 1], offset);
      }
      offset += count_characters(detokenizer.accept(tokens[i]));
    }
  }
  characters_ += count_characters(text);
  return piece;
}

ChoicePiece ChoiceBuilder::accept(const engine::Update& update) {
  ChoicePiece piece;
  const bool last_is_end = update.finish && !update.tokens.empty() &&
                           ends_answer(*update.finish, update.tokens.back(), tokenizer_);
  for (size_t i = 0; i < update.tokens.size(); ++i) {
    const engine::SampledToken& token = update.tokens[i];
    ++tokens_;
    ++piece.tokens;
    append_logprobs(piece, token);
    if (options_.return_token_ids) piece.token_ids.push_back(token.token);
    const bool is_end = last_is_end && i + 1 == update.tokens.size();
    if (!is_end || options_.include_stop_string) append_text(piece, token.token);
  }
  if (update.finish) {
    // An unfinished character that no token will complete is left out: clients get whole characters or
    // nothing.
    if (stop_filter_) piece.text += stop_filter_->finish(update.finish->stop_string);
    piece.ending = ending_of(*update.finish);
  }
  return piece;
}

void ChoiceBuilder::append_logprobs(ChoicePiece& piece, const engine::SampledToken& token) {
  if (!logprobs_) return;
  if (kind_ == AnswerKind::kChat) {
    logprobs_->append(piece.chat_logprobs, token);
  } else {
    logprobs_->append(piece.completion_logprobs, token, characters_);
  }
}

void ChoiceBuilder::append_text(ChoicePiece& piece, int32_t token) {
  std::string whole = detokenizer_.accept(token);
  if (logprobs_) characters_ += count_characters(whole);
  if (stop_filter_) {
    piece.text += stop_filter_->accept(whole, tokens_);
  } else {
    piece.text += whole;
  }
}

}  // namespace pagoda::api
