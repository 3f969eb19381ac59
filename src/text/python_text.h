// Values as Python writes them: chat templates are written for jinja2, where str(), repr() and json.dumps()
// decide.
#pragma once

#include <jinja/value.h>

#include <string>
#include <string_view>

namespace pagoda::text {

// repr(float): the shortest digits that read back as the same value; "1e-07", "0.1", "2.0".
std::string python_float(double value);
// str(value): a string itself, "None", "True", "[1, 'a']", "{'k': 'v'}". Undefined is empty.
std::string python_str(const jinja::value& value);

struct JsonStyle {
  bool ensure_ascii = false;
  bool sort_keys = false;
  std::string indent;  // of one level; used where `pretty`
  bool pretty = false;
  std::string item_separator = ", ";  // of a pretty one "," is usual
  std::string key_separator = ": ";
};
// json.dumps. Throws std::runtime_error for what is no JSON (undefined values, functions, cycles).
std::string python_json(const jinja::value& value, const JsonStyle& style);

}  // namespace pagoda::text
