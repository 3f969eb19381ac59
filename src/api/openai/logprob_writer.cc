#include "api/openai/logprob_writer.h"

#include <algorithm>

#include "api/openai/json_text.h"
#include "api/openai/token_text.h"

namespace pagoda::api {
namespace {

void begin_element(std::string& list) {
  if (!list.empty()) list += ',';
}

void append_list(std::string& list, const std::string& later) {
  if (later.empty()) return;
  begin_element(list);
  list += later;
}

// A token the engine gave no logprob to is as unlikely as the floor.
engine::TokenLogprob chosen_of(const engine::SampledToken& token) {
  return token.chosen.value_or(engine::TokenLogprob{token.token, -9999.f, 0});
}

}  // namespace

void ChatLogprobs::append(const ChatLogprobs& later) {
  append_list(content, later.content);
}

void CompletionLogprobs::append(const CompletionLogprobs& later) {
  append_list(text_offset, later.text_offset);
  append_list(token_logprobs, later.token_logprobs);
  append_list(tokens, later.tokens);
  append_list(top_logprobs, later.top_logprobs);
}

void LogprobWriter::append_chat_entry(std::string& out, const engine::TokenLogprob& entry) const {
  out += R"({"token":)";
  append_json_string(out,
                     tokens_as_ids_ ? token_id_text(entry.token) : chat_token_text(tokenizer_, entry.token));
  out += R"(,"logprob":)";
  append_json_logprob(out, entry.logprob);
  out += R"(,"bytes":[)";
  bool first = true;
  for (unsigned char byte : tokenizer_.piece(entry.token)) {
    if (!first) out += ',';
    first = false;
    append_json_number(out, int64_t{byte});
  }
  out += ']';
}

void LogprobWriter::append(ChatLogprobs& out, const engine::SampledToken& token) const {
  begin_element(out.content);
  append_chat_entry(out.content, chosen_of(token));
  out.content += R"(,"top_logprobs":[)";
  for (size_t i = 0; i < std::min(alternatives_, token.top.size()); ++i) {
    if (i) out.content += ',';
    append_chat_entry(out.content, token.top[i]);
    out.content += '}';
  }
  out.content += "]}";
}

std::string LogprobWriter::completion_text(int32_t token) const {
  return tokens_as_ids_ ? token_id_text(token) : completion_token_text(tokenizer_, token);
}

// The alternatives, and the chosen token where it is not among them: up to one more than asked for.
std::string LogprobWriter::top_map(const engine::SampledToken& token) const {
  std::string map = "{";
  const auto add = [&](const engine::TokenLogprob& entry) {
    if (map.size() > 1) map += ',';
    append_json_string(map, completion_text(entry.token));
    map += ':';
    append_json_logprob(map, entry.logprob);
  };
  bool chosen_written = false;
  for (size_t i = 0; i < std::min(alternatives_, token.top.size()); ++i) {
    add(token.top[i]);
    chosen_written |= token.top[i].token == token.token;
  }
  if (!chosen_written) add(chosen_of(token));
  return map + '}';
}

void LogprobWriter::append(CompletionLogprobs& out, const engine::SampledToken& token,
                           int64_t text_offset) const {
  append_without_logprob(out, token.token, text_offset);
  // Overwrite the nulls that it left.
  constexpr size_t kNull = 4;
  out.token_logprobs.resize(out.token_logprobs.size() - kNull);
  append_json_logprob(out.token_logprobs, chosen_of(token).logprob);
  out.top_logprobs.resize(out.top_logprobs.size() - kNull);
  out.top_logprobs += top_map(token);
}

void LogprobWriter::append_without_logprob(CompletionLogprobs& out, int32_t token,
                                           int64_t text_offset) const {
  begin_element(out.text_offset);
  append_json_number(out.text_offset, text_offset);
  begin_element(out.tokens);
  append_json_string(out.tokens, completion_text(token));
  begin_element(out.token_logprobs);
  out.token_logprobs += "null";
  begin_element(out.top_logprobs);
  out.top_logprobs += "null";
}

std::string prompt_logprobs_json(const text::Tokenizer& tokenizer,
                                 std::span<const engine::SampledToken> tokens, int alternatives) {
  std::string out = "[null";
  for (const engine::SampledToken& token : tokens) {
    out += ",{";
    bool first = true;
    const auto add = [&](const engine::TokenLogprob& entry) {
      if (!first) out += ',';
      first = false;
      append_json_string(out, std::to_string(entry.token));
      out += R"(:{"logprob":)";
      append_json_logprob(out, entry.logprob);
      out += R"(,"rank":)";
      append_json_number(out, int64_t{entry.rank});
      out += R"(,"decoded_token":)";
      append_json_string(out, chat_token_text(tokenizer, entry.token));
      out += '}';
    };
    add(chosen_of(token));
    for (size_t i = 0; i < std::min(static_cast<size_t>(alternatives), token.top.size()); ++i) {
      if (token.top[i].token != token.token) add(token.top[i]);
    }
    out += '}';
  }
  return out + ']';
}

}  // namespace pagoda::api
