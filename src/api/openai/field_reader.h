// Typed fields of one JSON object. Reads on after a fault and keeps the first one, so that a parser is a list
// of fields and a single look at status(). null means absent, everywhere. Nothing is converted silently: "16"
// is not 16, though 16.0 is.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/openai/json_body.h"

namespace pagoda::api {

struct IntegerRange {
  int64_t low, high;
};
struct NumberRange {
  double low, high;
  bool low_excluded = false;
};

class FieldReader {
 public:
  // `path` stands before field names in messages: "messages[0]." or nothing.
  explicit FieldReader(const Json& object, std::string path = {}) : object_(object), path_(std::move(path)) {}

  // nullptr when absent or null.
  const Json* find(std::string_view name) const;

  std::optional<int64_t> integer(std::string_view name, IntegerRange range);
  int integer_or(std::string_view name, int fallback, IntegerRange range);
  std::optional<double> number(std::string_view name, NumberRange range);
  float number_or(std::string_view name, float fallback, NumberRange range);
  bool boolean_or(std::string_view name, bool fallback);
  std::optional<std::string> string(std::string_view name);
  // A string counts as a list of one where `one_allowed`.
  std::vector<std::string> strings(std::string_view name, bool one_allowed);
  std::vector<int32_t> token_ids(std::string_view name, int vocabulary);

  void fault(std::string_view name, std::string message, ErrorCode code = ErrorCode::kInvalidArgument);
  void keep(Status status);  // a fault found elsewhere
  bool good() const { return !error_; }
  Status status() const;

 private:
  void wrong_type(std::string_view name, std::string_view expected, const Json& got);

  const Json& object_;
  std::string path_;
  std::optional<Error> error_;
};

// An integer, or a float without a fraction. Empty when it is neither or does not fit.
std::optional<int64_t> integer_of(const Json& value);

// A token id of the vocabulary, or why not.
Result<int32_t> token_id_of(const Json& value, int vocabulary, std::string_view name);

}  // namespace pagoda::api
