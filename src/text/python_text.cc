#include "text/python_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "base/format.h"
#include "text/utf8.h"

namespace pagoda::text {
namespace {

constexpr int kDeepest = 500;

[[noreturn]] void too_deep() {
  throw std::runtime_error("a value is nested too deeply, or contains itself");
}

// repr(str): single quotes, unless that saves escaping.
std::string quoted(const std::string& text) {
  const bool has_single = text.find('\'') != std::string::npos,
             has_double = text.find('"') != std::string::npos;
  const char quote = has_single && !has_double ? '"' : '\'';
  std::string out(1, quote);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') {
      out.append(1, '\\').append(1, c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + quote;
}

std::string repr(const jinja::value& value, int depth) {
  if (depth > kDeepest) too_deep();
  if (jinja::is_val<jinja::value_string>(value)) return quoted(value->as_string().str());
  if (jinja::is_val<jinja::value_array>(value)) {
    const bool tuple = jinja::is_val<jinja::value_tuple>(value);
    const auto& items = value->as_array();
    std::string out(tuple ? "(" : "[");
    for (size_t i = 0; i < items.size(); ++i)
      out.append(i == 0 ? "" : ", ").append(repr(items[i], depth + 1));
    return out.append(tuple && items.size() == 1 ? "," : "").append(tuple ? ")" : "]");
  }
  if (jinja::is_val<jinja::value_object>(value)) {
    std::string out = "{";
    for (const auto& [key, item] : value->as_ordered_object()) {
      out.append(out.size() == 1 ? "" : ", ")
          .append(repr(key, depth + 1))
          .append(": ")
          .append(repr(item, depth + 1));
    }
    return out + "}";
  }
  if (value->is_undefined()) return "Undefined";
  if (value->is_none()) return "None";
  if (jinja::is_val<jinja::value_float>(value)) return python_float(value->as_float());
  if (jinja::is_val<jinja::value_int>(value) || jinja::is_val<jinja::value_bool>(value)) {
    return value->as_string().str();
  }
  return "<" + value->type() + ">";
}

class JsonWriter {
 public:
  explicit JsonWriter(const JsonStyle& style) : style_(style) {}
  std::string take() { return std::move(out_); }

  void write(const jinja::value& value, int depth) {
    if (depth > kDeepest) too_deep();
    if (jinja::is_val<jinja::value_string>(value)) return write_string(value->as_string().str());
    if (jinja::is_val<jinja::value_array>(value)) return write_array(value->as_array(), depth);
    if (jinja::is_val<jinja::value_object>(value)) return write_object(value->as_ordered_object(), depth);
    if (value->is_none()) {
      out_ += "null";
    } else if (jinja::is_val<jinja::value_bool>(value)) {
      out_ += value->as_bool() ? "true" : "false";
    } else if (jinja::is_val<jinja::value_int>(value)) {
      out_ += value->as_string().str();
    } else if (jinja::is_val<jinja::value_float>(value)) {
      write_float(value->as_float());
    } else {
      throw std::runtime_error("Object of type " + value->type() + " is not JSON serializable");
    }
  }

 private:
  void write_float(double value) {
    if (std::isnan(value)) {
      out_ += "NaN";
    } else if (std::isinf(value)) {
      out_ += value < 0 ? "-Infinity" : "Infinity";
    } else {
      out_ += python_float(value);
    }
  }

  void write_string(std::string_view text) {
    out_ += '"';
    while (!text.empty()) {
      const Utf8Char character = first_utf8_char(text);
      const std::string_view bytes = text.substr(0, static_cast<size_t>(character.length));
      if (character.valid && character.code_point < 0x80) {
        write_ascii(bytes[0]);
      } else if (style_.ensure_ascii) {
        write_escaped(character.valid ? character.code_point : 0xFFFD);
      } else {
        out_ += bytes;
      }
      text.remove_prefix(bytes.size());
    }
    out_ += '"';
  }
  void write_ascii(char c) {
    constexpr std::string_view kSpecial = "\"\\\b\f\n\r\t", kLetters = "\"\\bfnrt";
    const size_t at = kSpecial.find(c);
    if (at != std::string_view::npos) {
      out_.append(1, '\\').append(1, kLetters[at]);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      write_escaped(static_cast<unsigned char>(c));
    } else {
      out_ += c;
    }
  }
  void write_escaped(char32_t c) {
    const auto unit = [&](uint32_t value) { out_ += format("\\u{:04x}", value); };
    if (c < 0x10000) return unit(c);
    unit(0xD800 + ((c - 0x10000) >> 10));
    unit(0xDC00 + ((c - 0x10000) & 0x3FF));
  }

  void line(int depth) {
    if (!style_.pretty) return;
    out_ += '\n';
    for (int i = 0; i < depth; ++i) out_ += style_.indent;
  }

  void write_array(const std::vector<jinja::value>& items, int depth) {
    out_ += '[';
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out_ += style_.item_separator;
      line(depth + 1);
      write(items[i], depth + 1);
    }
    if (!items.empty()) line(depth);
    out_ += ']';
  }

  void write_object(std::vector<std::pair<jinja::value, jinja::value>> members, int depth) {
    const auto key_of = [](const jinja::value& key) {
      if (jinja::is_val<jinja::value_bool>(key)) return std::string(key->as_bool() ? "true" : "false");
      return key->is_none() ? std::string("null") : python_str(key);
    };
    if (style_.sort_keys) {
      std::stable_sort(members.begin(), members.end(),
                       [&](const auto& a, const auto& b) { return key_of(a.first) < key_of(b.first); });
    }
    out_ += '{';
    bool first = true;
    for (const auto& [key, value] : members) {
      if (!first) out_ += style_.item_separator;
      first = false;
      line(depth + 1);
      write_string(key_of(key));
      out_ += style_.key_separator;
      write(value, depth + 1);
    }
    if (!first) line(depth);
    out_ += '}';
  }

  const JsonStyle& style_;
  std::string out_;
};

}  // namespace

std::string python_float(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[32];
  const auto scientific = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  std::string text(buffer, scientific.ptr);
  const int exponent = std::stoi(text.substr(text.find('e') + 1));
  // Python changes to scientific notation at 1e16 and below 1e-4.
  if (exponent >= -4 && exponent < 16) {
    const auto fixed = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed);
    text.assign(buffer, fixed.ptr);
    if (text.find('.') == std::string::npos) text += ".0";
  }
  return text;
}

std::string python_str(const jinja::value& value) {
  if (jinja::is_val<jinja::value_string>(value)) return value->as_string().str();
  return value->is_undefined() ? std::string() : repr(value, 0);
}

std::string python_json(const jinja::value& value, const JsonStyle& style) {
  JsonWriter writer(style);
  writer.write(value, 0);
  return writer.take();
}

}  // namespace pagoda::text
