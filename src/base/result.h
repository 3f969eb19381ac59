// Result<T>: a value or an Error. Every fault that can be expected travels as a value; only app/ decides
// that the program ends. Programmer's errors are PAGODA_CHECK (check.h).
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace pagoda {

// What kind of fault it is; api/ maps these to HTTP codes, app/ to exit codes.
enum class ErrorCode {
  kInvalidArgument,    // the caller's value is wrong: 400, exit 2
  kNotFound,           // no such file, model, route: 404
  kUnauthorized,       // 401
  kTooLarge,           // 413
  kResourceExhausted,  // queue full, does not fit in memory: 429
  kUnavailable,        // loading, draining, engine dead: 503
  kUnsupported,        // understood, but not there (yet): 400, exit 2
  kCorruptData,        // a file or message that breaks its own format
  kCancelled,          // the client went away
  kInternal,           // a bug of ours: 500
};

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;  // the thing and the cause, and the remedy where there is one; no trailing newline
  std::string param;    // the request field or flag at fault, or empty
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = tl::expected<void, Error>;
using Unexpected = tl::unexpected<Error>;

inline Unexpected fail(ErrorCode code, std::string message, std::string param = {}) {
  return Unexpected(Error{code, std::move(message), std::move(param)});
}

}  // namespace pagoda

// Returns the error of `expression` from the enclosing function, if it has one.
#define PAGODA_TRY(expression)                                        \
  do {                                                                \
    if (auto pagoda_status_ = (expression); !pagoda_status_)          \
      return ::pagoda::Unexpected(std::move(pagoda_status_).error()); \
  } while (0)

// PAGODA_ASSIGN(auto file, GgufFile::open(path)): the value, or returns the error.
#define PAGODA_ASSIGN(declaration, expression) \
  PAGODA_ASSIGN_(PAGODA_CONCAT_(pagoda_result_, __LINE__), declaration, expression)
#define PAGODA_CONCAT_(a, b) PAGODA_CONCAT2_(a, b)
#define PAGODA_CONCAT2_(a, b) a##b
#define PAGODA_ASSIGN_(result, declaration, expression)                \
  auto result = (expression);                                          \
  if (!result) return ::pagoda::Unexpected(std::move(result).error()); \
  declaration = std::move(*result)
