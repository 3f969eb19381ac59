// Errors as the wire wants them: {"error":{"message","type","param","code"}}.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "http/message.h"

namespace pagoda::api {

int status_of(ErrorCode code);
// "BadRequestError" for 400 and so on.
std::string_view error_type(int status);

// The object without HTTP around it; `param` null when empty.
std::string error_json(int status, std::string_view message, std::string_view param = {});
std::string error_json(const Error& error);

// With Retry-After on 429 and 503.
http::Response error_response(int status, std::string_view message, std::string_view param = {});
http::Response error_response(const Error& error);

}  // namespace pagoda::api
