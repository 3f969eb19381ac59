#include "api/openai/json_text.h"

#include <charconv>
#include <cmath>

#include "text/utf8.h"

namespace pagoda::api {
namespace {

constexpr float kLogprobFloor = -9999.f;
constexpr char kHexDigits[] = "0123456789abcdef";

void append_escape(std::string& out, unsigned char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out += kHexDigits[c >> 4];
      out += kHexDigits[c & 15];
  }
}

bool needs_escape(unsigned char c) {
  return c < 0x20 || c == '"' || c == '\\' || c == 0x7f;
}

}  // namespace

void append_json_string(std::string& out, std::string_view utf8) {
  out += '"';
  size_t plain = 0;  // first byte that is not written yet
  size_t i = 0;
  const auto write_plain = [&] { out.append(utf8, plain, i - plain); };
  while (i < utf8.size()) {
    const unsigned char c = static_cast<unsigned char>(utf8[i]);
    if (c < 0x80) {
      if (needs_escape(c)) {
        write_plain();
        append_escape(out, c);
        plain = i + 1;
      }
      ++i;
      continue;
    }
    const text::Utf8Char character = text::first_utf8_char(utf8.substr(i));
    if (!character.valid) {
      write_plain();
      out += text::kReplacementCharacter;
      plain = i + static_cast<size_t>(character.length);
    }
    i += static_cast<size_t>(character.length);
  }
  write_plain();
  out += '"';
}

void append_json_number(std::string& out, int64_t value) {
  char digits[24];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  out.append(digits, end);
}

void append_json_logprob(std::string& out, float value) {
  if (!(value > kLogprobFloor)) {
    out += "-9999.0";
    return;
  }
  if (std::isinf(value)) value = 0.f;  // +inf cannot be a logprob; never write what is not JSON
  char digits[48];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  out.append(digits, end);
}

void append_json_array(std::string& out, std::span<const int32_t> values) {
  out += '[';
  for (size_t i = 0; i < values.size(); ++i) {
    if (i) out += ',';
    append_json_number(out, int64_t{values[i]});
  }
  out += ']';
}

int64_t count_characters(std::string_view utf8) {
  int64_t count = 0;
  while (!utf8.empty()) {
    utf8.remove_prefix(static_cast<size_t>(text::first_utf8_char(utf8).length));
    ++count;
  }
  return count;
}

}  // namespace pagoda::api
