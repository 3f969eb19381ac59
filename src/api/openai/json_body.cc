#include "api/openai/json_body.h"

#include <array>

#include "base/format.h"

namespace pagoda::api {
namespace {

// 1-based, columns in bytes.
struct Place {
  int64_t line = 1, column = 1;
};

Place place_of(std::string_view body, size_t offset) {
  Place place;
  for (size_t i = 0; i < offset && i < body.size(); ++i) {
    if (body[i] == '\n') {
      ++place.line;
      place.column = 1;
    } else {
      ++place.column;
    }
  }
  return place;
}

Unexpected fault_at(std::string_view body, size_t offset, std::string_view what) {
  const Place place = place_of(body, offset);
  return fail(
      ErrorCode::kInvalidArgument,
      format("the request's JSON is not usable: {} at line {}, column {}", what, place.line, place.column));
}

// Walks the text once, before any tree is built. It knows only strings and brackets: the parser finds the
// rest.
class BoundsCheck {
 public:
  explicit BoundsCheck(std::string_view body) : body_(body) {}

  Status run() {
    for (size_t i = 0; i < body_.size(); ++i) {
      switch (body_[i]) {
        case '"':
          i = end_of_string(i);
          break;
        case '[':
        case '{':
          if (depth_ == kMaxJsonDepth) {
            return fault_at(body_, i, format("it is nested deeper than {} levels", kMaxJsonDepth));
          }
          keys_[static_cast<size_t>(depth_++)] = 0;
          ++values_;
          break;
        case ']':
        case '}':
          if (depth_ > 0) --depth_;
          break;
        case ',':
          ++values_;
          break;
        case ':':
          comparisons_ += depth_ > 0 ? keys_[static_cast<size_t>(depth_ - 1)]++ : 0;
          break;
        default:
          break;
      }
      if (values_ > kMaxJsonValues)
        return fault_at(body_, i, format("it holds more than {} values", kMaxJsonValues));
      if (comparisons_ > kMaxJsonKeyComparisons) return fault_at(body_, i, "its objects have too many keys");
    }
    return {};
  }

 private:
  size_t end_of_string(size_t i) const {
    for (++i; i < body_.size() && body_[i] != '"'; ++i) {
      if (body_[i] == '\\') ++i;
    }
    return i;
  }

  std::string_view body_;
  int depth_ = 0;
  std::array<int64_t, kMaxJsonDepth> keys_{};
  int64_t values_ = 1;
  int64_t comparisons_ = 0;
};

// The library's text is "[json.exception…] parse error at line 1, column 5: syntax error while parsing X -
// REASON; last read: '…'; expected …": the reason and what was expected are ours to tell, the echo of the
// input is not.
std::string reason_of(std::string_view what) {
  const size_t dash = what.find(" - ");
  std::string_view reason =
      dash == std::string_view::npos ? what.substr(what.rfind(": ") + 2) : what.substr(dash + 3);
  const size_t echo = reason.find("; last read:");
  const size_t expected = reason.rfind("; expected ");
  std::string text(reason.substr(0, echo));
  if (expected != std::string_view::npos && expected > echo) text += reason.substr(expected);
  return text;
}

}  // namespace

Result<Json> parse_json(std::string_view body) {
  PAGODA_TRY(BoundsCheck(body).run());
  try {
    return Json::parse(body);
  } catch (const Json::parse_error& error) {
    return fault_at(body, error.byte > 0 ? error.byte - 1 : 0, reason_of(error.what()));
  } catch (const Json::exception& error) {
    return fail(ErrorCode::kInvalidArgument,
                format("the request's JSON is not usable: a number is out of range ({})", error.id));
  }
}

Result<Json> parse_json_object(std::string_view body) {
  if (body.empty())
    return fail(ErrorCode::kInvalidArgument, "the request has no body; a JSON object is expected");
  PAGODA_ASSIGN(Json json, parse_json(body));
  if (!json.is_object()) {
    return fail(ErrorCode::kInvalidArgument,
                format("the request's body must be a JSON object, not {}", json_type_name(json)));
  }
  return json;
}

std::string_view json_type_name(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return "an array";
    case Json::value_t::string:
      return "a string";
    case Json::value_t::boolean:
      return "a boolean";
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
      return "an integer";
    case Json::value_t::number_float:
      return "a number";
    default:
      return "a value of no JSON type";
  }
}

}  // namespace pagoda::api
