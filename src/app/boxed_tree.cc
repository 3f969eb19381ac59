#include "app/boxed_tree.h"

#include <nlohmann/json.hpp>

#include "base/format.h"

namespace pagoda::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kArrow = "-> ";

std::string rule(char c, size_t left, size_t right) {
  return format("+{}+{}+\n", std::string(left - 1, c), std::string(right - 2, c));
}

std::string line(const std::string& label, const std::string& value, size_t left, size_t right) {
  return format("| {:<{}} | {:<{}} |\n", label, left - 3, value, right - 4);
}

void draw(const BoxedRow& row, size_t level, size_t left, size_t right, std::string& out) {
  // The arrow ends where a level's indentation does.
  std::string label = row.label;
  if (level > 0) label = format("{:>{}}{}", kArrow, level * kArrow.size(), row.label);
  std::vector<std::string> lines;
  for (const std::string& value : row.values) {
    for (std::string& part : broken_lines(value, right - 4)) lines.push_back(std::move(part));
  }
  if (lines.empty()) lines.emplace_back();
  for (size_t i = 0; i < lines.size(); ++i) out += line(i == 0 ? label : "", lines[i], left, right);
  for (const BoxedRow& below : row.rows) draw(below, level + 1, left, right, out);
}

Json row_as_json(const BoxedRow& row) {
  Json out = Json::object();
  if (!row.rows.empty()) {
    out["children"] = Json::object();
    for (const BoxedRow& below : row.rows) out["children"][below.label] = row_as_json(below);
  }
  for (size_t i = 1; i < row.values.size(); ++i) out["overflow"].push_back(row.values[i]);
  if (!row.values.empty()) out["value"] = row.values[0];
  return out;
}

}  // namespace

std::vector<std::string> broken_lines(const std::string& text, size_t width) {
  std::vector<std::string> lines;
  std::string rest = text;
  while (rest.size() > width) {
    size_t end = rest.rfind(' ', width);
    if (end == std::string::npos || end == 0) end = width;
    lines.push_back(rest.substr(0, end));
    rest = rest.substr(rest[end] == ' ' ? end + 1 : end);
  }
  lines.push_back(rest);
  return lines;
}

std::string as_box(const BoxedTree& tree, size_t left, size_t right) {
  std::string out = rule('-', left, right);
  for (const std::string& header : tree.header) out += format("| {:<{}}|\n", header, left + right - 3);
  if (!tree.header.empty()) out += rule('=', left, right);
  for (const BoxedRow& row : tree.rows) draw(row, 0, left, right, out);
  return out + rule('-', left, right);
}

std::string as_json(const BoxedTree& tree) {
  Json out;
  out["body"] = Json::object();
  for (const BoxedRow& row : tree.rows) out["body"][row.label] = row_as_json(row);
  if (!tree.header.empty()) out["header"] = tree.header;
  return out.dump(4) + "\n";
}

}  // namespace pagoda::app
