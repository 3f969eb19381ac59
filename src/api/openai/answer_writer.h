// Answers as JSON: the chunks of a stream and the whole of one, for chat and for completions. What is the
// same in every chunk is escaped once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/openai/choice_builder.h"

namespace pagoda::api {

struct Usage {
  int64_t prompt_tokens = 0;
  int64_t completion_tokens = 0;
  std::optional<int64_t> cached_tokens;  // written as prompt_tokens_details
};

struct AnswerHead {
  AnswerKind kind = AnswerKind::kChat;
  std::string id;       // "chatcmpl-…" or "cmpl-…"
  int64_t created = 0;  // Unix seconds
  std::string model;
  std::string role;  // of a chat answer
};

// What the answer tells about a prompt; empty members are not wanted.
struct PromptEcho {
  std::span<const int32_t> token_ids;  // return_token_ids
  std::string logprobs;                // prompt_logprobs as JSON
};

struct WholeChoice {
  ChoicePiece piece;
  const PromptEcho* prompt = nullptr;
};

class AnswerWriter {
 public:
  AnswerWriter(AnswerHead head, const AnswerOptions& options);

  // Each appends one event, "data: …\n\n", to `out`.
  void role_chunk(std::string& out, int index, const PromptEcho& prompt, const Usage* usage) const;
  // `prompt`: in the first chunk of a completion's choice only.
  void piece_chunk(std::string& out, int index, const ChoicePiece& piece, const PromptEcho* prompt,
                   const Usage* usage) const;
  void usage_chunk(std::string& out, const Usage& usage) const;

  std::string whole(std::span<const WholeChoice> choices, const Usage& usage) const;

 private:
  void append_logprobs(std::string& out, const ChoicePiece& piece) const;
  void append_whole_choice(std::string& out, int index, const WholeChoice& choice) const;
  void end_chunk(std::string& out, const Usage* usage) const;

  AnswerHead head_;
  const AnswerOptions& options_;
  std::string chunk_prefix_;  // up to and with "choices":[
};

// {"prompt_tokens":…,"total_tokens":…,"completion_tokens":…}
void append_usage(std::string& out, const Usage& usage);

}  // namespace pagoda::api
