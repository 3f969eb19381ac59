// The head of an answer: its id, when, by which model.
#pragma once

#include <string>
#include <string_view>

#include "api/openai/answer_writer.h"
#include "http/message.h"

namespace pagoda::api {

// 32 hexadecimal digits.
std::string random_id();

// The id is made of the client's X-Request-Id or request_id where it sent one, as vLLM does.
AnswerHead make_answer_head(AnswerKind kind, const http::Request& request, std::string_view request_id_field,
                            const std::string& model_name);

}  // namespace pagoda::api
