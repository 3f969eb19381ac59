// How a token is written in logprobs.
#pragma once

#include <cstdint>
#include <string>

#include "text/tokenizer.h"

namespace pagoda::api {

// "token_id:123"
std::string token_id_text(int32_t token);
// The token's bytes as text; what is not UTF-8 by itself becomes U+FFFD (chat: its `bytes` are exact).
std::string chat_token_text(const text::Tokenizer& tokenizer, int32_t token);
// The same, but a piece that is no whole text is "bytes:\xe2\x96": completions have no `bytes` beside it, and
// the alternatives of one position must not fall together.
std::string completion_token_text(const text::Tokenizer& tokenizer, int32_t token);

}  // namespace pagoda::api
