// Logprobs as OpenAI shapes them, written token by token as fragments of JSON: the fragments of a stream's
// chunks, joined by commas, are those of the whole answer.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "engine/request.h"
#include "text/tokenizer.h"

namespace pagoda::api {

// Comma-separated elements, without brackets.
struct ChatLogprobs {
  std::string content;
  void append(const ChatLogprobs& later);
};
struct CompletionLogprobs {
  std::string text_offset, token_logprobs, tokens, top_logprobs;
  void append(const CompletionLogprobs& later);
};

class LogprobWriter {
 public:
  // `alternatives`: how many to write per token. `tokens_as_ids`: "token_id:123" instead of the text.
  LogprobWriter(const text::Tokenizer& tokenizer, int alternatives, bool tokens_as_ids)
      : tokenizer_(tokenizer),
        alternatives_(static_cast<size_t>(alternatives)),
        tokens_as_ids_(tokens_as_ids) {}

  void append(ChatLogprobs& out, const engine::SampledToken& token) const;
  // `text_offset`: characters of the answer's text before this token.
  void append(CompletionLogprobs& out, const engine::SampledToken& token, int64_t text_offset) const;
  // A prompt's first token has no logprob.
  void append_without_logprob(CompletionLogprobs& out, int32_t token, int64_t text_offset) const;

 private:
  void append_chat_entry(std::string& out, const engine::TokenLogprob& entry) const;
  std::string completion_text(int32_t token) const;
  std::string top_map(const engine::SampledToken& token) const;

  const text::Tokenizer& tokenizer_;
  size_t alternatives_;
  bool tokens_as_ids_;
};

// The field prompt_logprobs: [null, {"ID": {"logprob", "rank", "decoded_token"}, …}, …], one entry per prompt
// token.
std::string prompt_logprobs_json(const text::Tokenizer& tokenizer,
                                 std::span<const engine::SampledToken> tokens, int alternatives);

}  // namespace pagoda::api
