#include "api/openai/error_body.h"

#include <array>

#include "api/openai/json_text.h"

namespace pagoda::api {
namespace {

struct TypeName {
  int status;
  std::string_view name;
};
constexpr std::array kTypeNames{
    TypeName{400, "BadRequestError"},       TypeName{401, "AuthenticationError"},
    TypeName{403, "PermissionDeniedError"}, TypeName{404, "NotFoundError"},
    TypeName{405, "MethodNotAllowedError"}, TypeName{408, "RequestTimeoutError"},
    TypeName{413, "RequestTooLargeError"},  TypeName{429, "RateLimitError"},
    TypeName{500, "InternalServerError"},   TypeName{503, "ServiceUnavailableError"},
};
constexpr std::string_view kRetryAfterSeconds = "1";

}  // namespace

int status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kUnsupported:
    case ErrorCode::kCorruptData:
      return 400;
    case ErrorCode::kUnauthorized:
      return 401;
    case ErrorCode::kNotFound:
      return 404;
    case ErrorCode::kTooLarge:
      return 413;
    case ErrorCode::kResourceExhausted:
      return 429;
    case ErrorCode::kUnavailable:
    case ErrorCode::kCancelled:
      return 503;
    case ErrorCode::kInternal:
      return 500;
  }
  return 500;
}

std::string_view error_type(int status) {
  for (const TypeName& type : kTypeNames) {
    if (type.status == status) return type.name;
  }
  return status >= 500 ? "InternalServerError" : "BadRequestError";
}

std::string error_json(int status, std::string_view message, std::string_view param) {
  std::string out = R"({"error":{"message":)";
  append_json_string(out, message);
  out += R"(,"type":)";
  append_json_string(out, error_type(status));
  out += R"(,"param":)";
  if (param.empty()) {
    out += "null";
  } else {
    append_json_string(out, param);
  }
  out += R"(,"code":)";
  append_json_number(out, int64_t{status});
  out += "}}";
  return out;
}

std::string error_json(const Error& error) {
  return error_json(status_of(error.code), error.message, error.param);
}

http::Response error_response(int status, std::string_view message, std::string_view param) {
  http::Response response;
  response.status = status;
  response.body = error_json(status, message, param);
  if (status == 429 || status == 503) response.headers.set("Retry-After", std::string(kRetryAfterSeconds));
  return response;
}

http::Response error_response(const Error& error) {
  return error_response(status_of(error.code), error.message, error.param);
}

}  // namespace pagoda::api
