// One choice's tokens → its text, logprobs and ending, piece by piece. A streamed answer sends the pieces, a
// whole one joins them: the two cannot differ.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/openai/generation_request.h"
#include "api/openai/logprob_writer.h"
#include "engine/request.h"
#include "text/detokenizer.h"
#include "text/stop_strings.h"

namespace pagoda::api {

enum class AnswerKind { kChat, kCompletion };

struct ChoiceEnding {
  std::string_view finish_reason;  // "stop", "length", "abort", "error"
  std::string stop_reason;         // JSON: a token id, a string, or null
};

// What a step added to a choice.
struct ChoicePiece {
  std::string text;
  ChatLogprobs chat_logprobs;  // by kind, where logprobs are wanted
  CompletionLogprobs completion_logprobs;
  std::vector<int32_t> token_ids;  // generated, where they are wanted
  int64_t tokens = 0;              // generated
  std::optional<ChoiceEnding> ending;

  void append(ChoicePiece&& later);
};

class ChoiceBuilder {
 public:
  ChoiceBuilder(AnswerKind kind, const AnswerOptions& options, int min_tokens,
                const text::Tokenizer& tokenizer);

  // The prompt in front of the answer (echo). `logprobs` are of tokens 1, 2, …; empty where none are wanted.
  ChoicePiece echo(std::string_view text, std::span<const int32_t> tokens,
                   std::span<const engine::SampledToken> logprobs);
  ChoicePiece accept(const engine::Update& update);

 private:
  void append_logprobs(ChoicePiece& piece, const engine::SampledToken& token);
  void append_text(ChoicePiece& piece, int32_t token);

  AnswerKind kind_;
  const AnswerOptions& options_;
  const text::Tokenizer& tokenizer_;
  std::optional<LogprobWriter> logprobs_;
  text::Detokenizer detokenizer_;
  std::optional<text::StopFilter> stop_filter_;
  int tokens_ = 0;          // generated so far
  int64_t characters_ = 0;  // of the text before stop strings are cut, echo included
};

}  // namespace pagoda::api
