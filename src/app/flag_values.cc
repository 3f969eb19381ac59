#include "app/flag_values.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/format.h"

namespace pagoda::app {
namespace {

Unexpected invalid(std::string message) {
  return fail(ErrorCode::kInvalidArgument, std::move(message));
}

template <class T>
std::optional<T> whole_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string in_words(IntegerRange range) {
  constexpr IntegerRange kAny;
  if (range.min == kAny.min && range.max == kAny.max) return "a whole number";
  if (range.max == kAny.max) return format("a whole number of at least {}", range.min);
  return format("a whole number from {} to {}", range.min, range.max);
}

std::string in_words(NumberRange range) {
  const std::string upper = std::isinf(range.max) ? "" : format(" up to {}", range.max);
  if (!std::isinf(range.above)) return format("a number above {}{}", range.above, upper);
  if (!std::isinf(range.min)) return format("a number from {}{}", range.min, upper.empty() ? " on" : upper);
  return "a number" + upper;
}

template <class T, class Parse>
Setter integer_setter(T* field, IntegerRange range, Parse parse) {
  return [field, range, parse](std::span<const std::string> values) -> Status {
    for (const std::string& value : values) {
      const Result<int64_t> parsed = parse(value);
      if (!parsed) return Unexpected(parsed.error());
      if (*parsed < range.min || *parsed > range.max) {
        return invalid(format("{} is out of range; expected {}", value, in_words(range)));
      }
      *field = static_cast<T>(*parsed);
    }
    return {};
  };
}

template <class T>
Setter plain_integer_setter(T* field, IntegerRange range) {
  return integer_setter(field, range, [range](const std::string& text) -> Result<int64_t> {
    const auto value = whole_number<int64_t>(text);
    if (!value) return invalid(format("'{}' is not {}", text, in_words(range)));
    return *value;
  });
}

std::optional<bool> truth(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (text == "true" || text == "yes" || text == "on" || text == "1") return true;
  if (text == "false" || text == "no" || text == "off" || text == "0") return false;
  return std::nullopt;
}

Setter switch_setter(bool* field, bool inverted) {
  return [field, inverted](std::span<const std::string> values) -> Status {
    for (const std::string& value : values) {
      const auto parsed = truth(value);
      if (!parsed) return invalid(format("'{}' is neither true nor false", value));
      *field = *parsed != inverted;
    }
    return {};
  };
}

Result<std::vector<std::string>> texts_of_json_list(const std::string& text) {
  const auto parsed = nlohmann::json::parse(text, nullptr, false);
  if (!parsed.is_array()) return invalid(format("'{}' is not a JSON list", text));
  std::vector<std::string> texts;
  for (const auto& item : parsed) {
    if (!item.is_string()) return invalid(format("'{}' holds something other than texts", text));
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

}  // namespace

Result<int64_t> human_integer(const std::string& text) {
  constexpr std::string_view kSuffixes = "kmgtKMGT";
  const size_t place = text.empty() ? std::string_view::npos : kSuffixes.find(text.back());
  if (place == std::string_view::npos) {
    if (const auto value = whole_number<int64_t>(text)) return *value;
    return invalid(format("'{}' is not a whole number such as 8192, 8k (8,000) or 8K (8,192)", text));
  }
  const bool binary = place >= 4;
  const int power = static_cast<int>(place % 4) + 1;
  const std::string digits = text.substr(0, text.size() - 1);
  const double scale = std::pow(binary ? 1024.0 : 1000.0, power);
  const auto value = number(digits);
  if (!value || *value < 0) return invalid(format("'{}' is not a number with a suffix", text));
  if (binary && !whole_number<int64_t>(digits)) {
    return invalid(format("'{}': no decimals before {}; did you mean {}{}?", text, text.back(), digits,
                          static_cast<char>(std::tolower(text.back()))));
  }
  if (*value * scale >= 9.2e18) return invalid(format("'{}' is too large", text));
  return static_cast<int64_t>(*value * scale);
}

Setter to_switch(bool* field) {
  return switch_setter(field, false);
}
Setter to_inverted_switch(bool* field) {
  return switch_setter(field, true);
}

Setter to_text(std::string* field) {
  return [field](std::span<const std::string> values) -> Status {
    if (!values.empty()) *field = values.back();
    return {};
  };
}

Setter to_texts(std::vector<std::string>* field) {
  return [field](std::span<const std::string> values) -> Status {
    std::vector<std::string> texts;
    for (const std::string& value : values) {
      if (value.empty()) return invalid("an empty value");
      if (!value.starts_with('[')) {
        texts.push_back(value);
        continue;
      }
      PAGODA_ASSIGN(const auto listed, texts_of_json_list(value));
      texts.insert(texts.end(), listed.begin(), listed.end());
    }
    *field = std::move(texts);
    return {};
  };
}

Setter to_integer(int* field, IntegerRange range) {
  range.min = std::max<int64_t>(range.min, std::numeric_limits<int>::min());
  range.max = std::min<int64_t>(range.max, std::numeric_limits<int>::max());
  return plain_integer_setter(field, range);
}

Setter to_integer(int64_t* field, IntegerRange range) {
  return plain_integer_setter(field, range);
}

Setter to_optional_integer(std::optional<int>* field, IntegerRange range) {
  return [field, range](std::span<const std::string> values) -> Status {
    int value = 0;
    PAGODA_TRY(to_integer(&value, range)(values));
    if (!values.empty()) *field = value;
    return {};
  };
}

Setter to_seed(uint64_t* field) {
  return [field](std::span<const std::string> values) -> Status {
    for (const std::string& value : values) {
      const auto parsed = whole_number<uint64_t>(value);
      if (!parsed) return invalid(format("'{}' is not a whole number from 0 to 2^64 - 1", value));
      *field = *parsed;
    }
    return {};
  };
}

Setter to_human_integer(int64_t* field, IntegerRange range) {
  return integer_setter(field, range, human_integer);
}

Setter to_number(double* field, NumberRange range) {
  return [field, range](std::span<const std::string> values) -> Status {
    for (const std::string& value : values) {
      const auto parsed = number(value);
      if (!parsed) return invalid(format("'{}' is not {}", value, in_words(range)));
      if (*parsed <= range.above || *parsed < range.min || *parsed > range.max) {
        return invalid(format("{} is out of range; expected {}", value, in_words(range)));
      }
      *field = *parsed;
    }
    return {};
  };
}

Setter to_json_object(nlohmann::ordered_json* field) {
  return [field](std::span<const std::string> values) -> Status {
    for (const std::string& value : values) {
      auto parsed = nlohmann::ordered_json::parse(value, nullptr, false);
      if (!parsed.is_object()) return invalid(format("'{}' is not a JSON object", value));
      *field = std::move(parsed);
    }
    return {};
  };
}

}  // namespace pagoda::app
