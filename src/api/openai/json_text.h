// JSON written by hand, for answers: one chunk per token must not cost a document tree.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace pagoda::api {

// Quoted and escaped. Broken UTF-8 becomes U+FFFD, so that the output always is JSON.
void append_json_string(std::string& out, std::string_view utf8);
void append_json_number(std::string& out, int64_t value);
// The shortest digits that read back as the same float. What is not finite, or below the floor of the API's
// logprobs, is written as -9999.0.
void append_json_logprob(std::string& out, float value);
// "[1,2,3]"
void append_json_array(std::string& out, std::span<const int32_t> values);

// Characters (code points) of a text; broken bytes count one each.
int64_t count_characters(std::string_view utf8);

}  // namespace pagoda::api
