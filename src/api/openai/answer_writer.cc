#include "api/openai/answer_writer.h"

#include "api/openai/json_text.h"

namespace pagoda::api {
namespace {

void append_field(std::string& out, std::string_view name, std::string_view json) {
  out += ",\"";
  out += name;
  out += "\":";
  out += json;
}

void append_string_field(std::string& out, std::string_view name, std::string_view value) {
  append_field(out, name, {});
  append_json_string(out, value);
}

void append_ending(std::string& out, const std::optional<ChoiceEnding>& ending) {
  append_field(out, "finish_reason", ending ? "\"" : "null");
  if (!ending) return;
  out += ending->finish_reason;
  out += '"';
  append_field(out, "stop_reason", ending->stop_reason);
}

std::string head_fields(const AnswerHead& head, std::string_view object) {
  std::string out = R"({"id":)";
  append_json_string(out, head.id);
  append_string_field(out, "object", object);
  append_field(out, "created", {});
  append_json_number(out, head.created);
  append_string_field(out, "model", head.model);
  out += R"(,"choices":[)";
  return out;
}

}  // namespace

void append_usage(std::string& out, const Usage& usage) {
  out += R"({"prompt_tokens":)";
  append_json_number(out, usage.prompt_tokens);
  out += R"(,"total_tokens":)";
  append_json_number(out, usage.prompt_tokens + usage.completion_tokens);
  out += R"(,"completion_tokens":)";
  append_json_number(out, usage.completion_tokens);
  if (usage.cached_tokens) {
    out += R"(,"prompt_tokens_details":{"cached_tokens":)";
    append_json_number(out, *usage.cached_tokens);
    out += '}';
  }
  out += '}';
}

AnswerWriter::AnswerWriter(AnswerHead head, const AnswerOptions& options)
    : head_(std::move(head)), options_(options) {
  chunk_prefix_ = "data: ";
  chunk_prefix_ +=
      head_fields(head_, head_.kind == AnswerKind::kChat ? "chat.completion.chunk" : "text_completion");
}

void AnswerWriter::end_chunk(std::string& out, const Usage* usage) const {
  if (usage) {
    out += R"(,"usage":)";
    append_usage(out, *usage);
  }
  out += "}\n\n";
}

void AnswerWriter::role_chunk(std::string& out, int index, const PromptEcho& prompt,
                              const Usage* usage) const {
  out += chunk_prefix_;
  out += R"({"index":)";
  append_json_number(out, int64_t{index});
  out += R"(,"delta":{"role":)";
  append_json_string(out, head_.role);
  out += R"(,"content":""},"logprobs":null,"finish_reason":null}])";
  if (options_.return_token_ids) {
    append_field(out, "prompt_token_ids", {});
    append_json_array(out, prompt.token_ids);
  }
  end_chunk(out, usage);
}

void AnswerWriter::append_logprobs(std::string& out, const ChoicePiece& piece) const {
  append_field(out, "logprobs", {});
  if (head_.kind == AnswerKind::kChat) {
    if (!options_.logprobs || piece.chat_logprobs.content.empty()) {
      out += "null";
      return;
    }
    out += R"({"content":[)";
    out += piece.chat_logprobs.content;
    out += "]}";
    return;
  }
  if (!options_.logprobs) {
    out += "null";
    return;
  }
  const CompletionLogprobs& lists = piece.completion_logprobs;
  out += R"({"text_offset":[)" + lists.text_offset;
  out += R"(],"token_logprobs":[)" + lists.token_logprobs;
  out += R"(],"tokens":[)" + lists.tokens;
  out += R"(],"top_logprobs":[)" + lists.top_logprobs + "]}";
}

void AnswerWriter::piece_chunk(std::string& out, int index, const ChoicePiece& piece,
                               const PromptEcho* prompt, const Usage* usage) const {
  out += chunk_prefix_;
  out += R"({"index":)";
  append_json_number(out, int64_t{index});
  if (head_.kind == AnswerKind::kChat) {
    out += R"(,"delta":{"content":)";
    append_json_string(out, piece.text);
    out += '}';
  } else {
    append_string_field(out, "text", piece.text);
  }
  append_logprobs(out, piece);
  append_ending(out, piece.ending);
  if (options_.return_token_ids) {
    if (prompt && head_.kind == AnswerKind::kCompletion) {
      append_field(out, "prompt_token_ids", {});
      append_json_array(out, prompt->token_ids);
    }
    append_field(out, "token_ids", {});
    append_json_array(out, piece.token_ids);
  }
  out += "}]";
  end_chunk(out, usage);
}

void AnswerWriter::usage_chunk(std::string& out, const Usage& usage) const {
  out += chunk_prefix_;
  out += ']';
  end_chunk(out, &usage);
}

void AnswerWriter::append_whole_choice(std::string& out, int index, const WholeChoice& choice) const {
  out += R"({"index":)";
  append_json_number(out, int64_t{index});
  if (head_.kind == AnswerKind::kChat) {
    out += R"(,"message":{"role":)";
    append_json_string(out, head_.role);
    append_string_field(out, "content", choice.piece.text);
    out += R"(,"refusal":null,"reasoning":null})";
  } else {
    append_string_field(out, "text", choice.piece.text);
  }
  append_logprobs(out, choice.piece);
  append_ending(out, choice.piece.ending);
  append_field(out, "token_ids", options_.return_token_ids ? "" : "null");
  if (options_.return_token_ids) append_json_array(out, choice.piece.token_ids);
  if (head_.kind == AnswerKind::kCompletion) {
    append_field(out, "prompt_logprobs", choice.prompt->logprobs.empty() ? "null" : choice.prompt->logprobs);
    append_field(out, "prompt_token_ids", options_.return_token_ids ? "" : "null");
    if (options_.return_token_ids) append_json_array(out, choice.prompt->token_ids);
  }
  out += '}';
}

std::string AnswerWriter::whole(std::span<const WholeChoice> choices, const Usage& usage) const {
  std::string out =
      head_fields(head_, head_.kind == AnswerKind::kChat ? "chat.completion" : "text_completion");
  for (size_t i = 0; i < choices.size(); ++i) {
    if (i) out += ',';
    append_whole_choice(out, static_cast<int>(i), choices[i]);
  }
  out += R"(],"service_tier":null,"system_fingerprint":null,"usage":)";
  append_usage(out, usage);
  if (head_.kind == AnswerKind::kChat) {
    const PromptEcho& prompt = *choices.front().prompt;
    append_field(out, "prompt_logprobs", prompt.logprobs.empty() ? "null" : prompt.logprobs);
    append_field(out, "prompt_token_ids", options_.return_token_ids ? "" : "null");
    if (options_.return_token_ids) append_json_array(out, prompt.token_ids);
  }
  out += '}';
  return out;
}

}  // namespace pagoda::api
