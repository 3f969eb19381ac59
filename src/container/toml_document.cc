#include "container/toml_document.h"

#include <fmt/format.h>
#include <stdexcept>

// toml++ 3.3 asserts, and in release builds assumes, what some texts do not keep ("[" before a line's end):
// such a text is a fault like any other.
namespace {
constexpr void require_of_text(bool condition) {
  if (!condition) throw std::logic_error("this text is beyond the parser");
}
}  // namespace
#define TOML_EXCEPTIONS 1
#define TOML_ASSERT(condition) ::require_of_text(static_cast<bool>(condition))
#pragma push_macro("NDEBUG")
#undef NDEBUG
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

#include <algorithm>
#include <sstream>

#include "base/format.h"

namespace pagoda::container {
namespace {

bool bare_key(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

Result<toml::table> parse_table(const std::string& text) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& fault) {
    return fail(ErrorCode::kCorruptData, format("line {}, column {}: {}", fault.source().begin.line,
                                                fault.source().begin.column, fault.description()));
  } catch (const std::logic_error&) {
    return fail(ErrorCode::kCorruptData, "no TOML: a table's header that ends in the middle");
  }
}

const toml::node* find(const toml::table& root, const TomlPath& path) {
  const toml::node* node = &root;
  for (const auto& key : path) {
    const toml::table* table = node->as_table();
    node = table == nullptr ? nullptr : table->get(key);
    if (node == nullptr) return nullptr;
  }
  return node;
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::string join_lines(const std::vector<std::string>& lines) {
  return lines.empty() ? "" : format("{}\n", fmt::join(lines, "\n"));
}

bool is_header(const std::string& line) {
  const size_t first = line.find_first_not_of(" \t");
  return first != std::string::npos && line[first] == '[';
}

// The path of a "[a.b]" line, or nullopt for anything else, arrays of tables among it.
std::optional<TomlPath> header_path(const std::string& line) {
  if (!is_header(line) || line.find("[[") != std::string::npos) return std::nullopt;
  const auto table = parse_table(line + "\n");
  if (!table) return std::nullopt;
  TomlPath path;
  const toml::table* inner = &*table;
  while (inner->size() == 1) {
    const auto only = inner->begin();
    path.emplace_back(only->first.str());
    inner = inner->get(path.back())->as_table();
    if (inner == nullptr) return std::nullopt;
  }
  return path;
}

// Lines [first, last) of a table's own section, behind its header; a value that spans lines may look like a
// header, which the check of the whole afterwards finds out.
struct Section {
  size_t header = 0, last = 0;
};
std::optional<Section> find_section(const std::vector<std::string>& lines, const TomlPath& table) {
  for (size_t i = 0; i < lines.size(); ++i) {
    if (header_path(lines[i]) != std::optional(table)) continue;
    size_t last = i + 1;
    while (last < lines.size() && !is_header(lines[last])) ++last;
    return Section{i, last};
  }
  return std::nullopt;
}

// Behind the last line of a section that says something: blank lines and comments before the next header are
// its.
size_t insertion_point(const std::vector<std::string>& lines, size_t first, size_t last) {
  while (last > first) {
    const size_t start = lines[last - 1].find_first_not_of(" \t");
    if (start != std::string::npos && lines[last - 1][start] != '#') break;
    --last;
  }
  return last;
}

std::string indent_of(const std::string& line) {
  return line.substr(0, std::min(line.find_first_not_of(" \t"), line.size()));
}

// Byte of a position that counts characters from 1.
size_t byte_of(const std::vector<std::string>& lines, const toml::source_position& place) {
  size_t byte = 0;
  for (size_t i = 0; i + 1 < place.line; ++i) byte += lines[i].size() + 1;
  const std::string& line = lines[place.line - 1];
  size_t characters = 1, at = 0;
  while (at < line.size() && characters < place.column) {
    ++at;
    while (at < line.size() && (static_cast<unsigned char>(line[at]) & 0xc0) == 0x80) ++at;
    ++characters;
  }
  return byte + at;
}

std::string as_toml(const toml::node& node) {
  std::ostringstream out;
  node.visit([&](const auto& value) { out << value; });
  return out.str();
}

void erase_at(toml::table& root, const TomlPath& path) {
  toml::table* table = &root;
  for (size_t i = 0; i + 1 < path.size() && table != nullptr; ++i) table = (*table)[path[i]].as_table();
  if (table != nullptr) table->erase(path.back());
}

// Tables that a change may leave behind, or need, count as nothing: equal but for empty ones.
void prune_empty(toml::table& table) {
  std::vector<std::string> empty;
  for (auto&& [key, node] : table) {
    toml::table* inner = node.as_table();
    if (inner == nullptr) continue;
    prune_empty(*inner);
    if (inner->empty()) empty.emplace_back(key.str());
  }
  for (const auto& key : empty) table.erase(key);
}

Unexpected cannot_change(const TomlPath& path) {
  return fail(
      ErrorCode::kUnsupported,
      format(
          "{} stands in a form that cannot be changed without rewriting the file (a table written inline, or "
          "dotted keys); write it as a [table] of its own, or use a drop-in file",
          toml_path_text(path)));
}

}  // namespace

Result<TomlDocument> TomlDocument::parse(std::string text) {
  if (!text.empty() && text.back() != '\n') text += '\n';
  PAGODA_TRY(parse_table(text));
  return TomlDocument(std::move(text));
}

std::optional<std::string> TomlDocument::string_at(const TomlPath& path) const {
  const auto root = parse_table(text_);
  const toml::node* node = find(*root, path);
  return node == nullptr ? std::nullopt : node->value<std::string>();
}

std::optional<bool> TomlDocument::bool_at(const TomlPath& path) const {
  const auto root = parse_table(text_);
  const toml::node* node = find(*root, path);
  return node == nullptr ? std::nullopt : node->value<bool>();
}

std::optional<int64_t> TomlDocument::integer_at(const TomlPath& path) const {
  const auto root = parse_table(text_);
  const toml::node* node = find(*root, path);
  return node == nullptr ? std::nullopt : node->value<int64_t>();
}

std::vector<std::string> TomlDocument::strings_at(const TomlPath& path) const {
  std::vector<std::string> texts;
  const auto root = parse_table(text_);
  const toml::node* node = find(*root, path);
  const toml::array* list = node == nullptr ? nullptr : node->as_array();
  if (list == nullptr) return texts;
  for (const auto& item : *list) {
    if (auto text = item.value<std::string>()) texts.push_back(std::move(*text));
  }
  return texts;
}

bool TomlDocument::has_table(const TomlPath& path) const {
  const auto root = parse_table(text_);
  const toml::node* node = find(*root, path);
  return node != nullptr && node->is_table();
}

std::vector<std::pair<std::string, std::string>> TomlDocument::values_of(const TomlPath& path) const {
  std::vector<std::pair<std::string, std::string>> values;
  const auto root = parse_table(text_);
  const toml::node* node = find(*root, path);
  const toml::table* table = node == nullptr ? nullptr : node->as_table();
  if (table == nullptr) return values;
  for (const auto& [key, value] : *table) {
    if (!value.is_table()) values.emplace_back(key.str(), as_toml(value));
  }
  return values;
}

Status TomlDocument::set(const TomlPath& path, const std::string& value) {
  PAGODA_ASSIGN(auto root, parse_table(text_));
  auto lines = split_lines(text_);
  const TomlPath table(path.begin(), path.end() - 1);
  const std::string line = format("{} = {}", toml_path_text({path.back()}), value);
  if (const toml::node* node = find(root, path)) {
    PAGODA_ASSIGN(const auto wanted, parse_table(format("value = {}\n", value)));
    if (as_toml(*node) == as_toml(*wanted.get("value"))) return {};
    const size_t first = byte_of(lines, node->source().begin), last = byte_of(lines, node->source().end);
    if (node->is_table() || last <= first) return cannot_change(path);
    std::string changed = text_;
    return accept(changed.replace(first, last - first, value), path);
  }
  if (table.empty()) {
    size_t end = 0;
    while (end < lines.size() && !is_header(lines[end])) ++end;
    const size_t point = insertion_point(lines, 0, end);
    lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(point), line);
  } else if (const auto section = find_section(lines, table)) {
    const size_t point = insertion_point(lines, section->header + 1, section->last);
    const size_t model = point - 1;
    const std::string indent =
        model > section->header ? indent_of(lines[model]) : indent_of(lines[section->header]);
    lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(point), indent + line);
  } else {
    if (!lines.empty() && !lines.back().empty()) lines.emplace_back();
    lines.push_back(format("[{}]", toml_path_text(table)));
    lines.push_back(line);
  }
  return accept(join_lines(lines), path);
}

Status TomlDocument::remove(const TomlPath& path) {
  PAGODA_ASSIGN(auto root, parse_table(text_));
  const toml::node* node = find(root, path);
  if (node == nullptr) return {};
  auto lines = split_lines(text_);
  const auto erase = [&](size_t first, size_t last) {
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(first),
                lines.begin() + static_cast<std::ptrdiff_t>(last));
  };
  if (!node->is_table()) {
    erase(node->source().begin.line - 1, node->source().end.line);
    return accept(join_lines(lines), path);
  }
  for (size_t i = 0; i < lines.size();) {
    const auto header = header_path(lines[i]);
    const bool below =
        header && header->size() >= path.size() && std::equal(path.begin(), path.end(), header->begin());
    if (!below) {
      ++i;
      continue;
    }
    size_t last = i + 1;
    while (last < lines.size() && !is_header(lines[last])) ++last;
    // Comments right above the next header belong to that one.
    last = last == lines.size() ? last : insertion_point(lines, i + 1, last);
    while (last < lines.size() && lines[last].empty()) ++last;
    erase(i, last);
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return accept(join_lines(lines), path);
}

// The new text must parse, and mean the same as before but at `path`.
Status TomlDocument::accept(std::string changed, const TomlPath& path) {
  auto before = parse_table(text_);
  auto after = parse_table(changed);
  if (!before || !after) return cannot_change(path);
  erase_at(*before, path);
  erase_at(*after, path);
  prune_empty(*before);
  prune_empty(*after);
  if (*before != *after) return cannot_change(path);
  text_ = std::move(changed);
  return {};
}

std::string toml_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      quoted += format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string toml_strings(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  for (const auto& text : texts) quoted.push_back(toml_string(text));
  return format("[{}]", fmt::join(quoted, ", "));
}

std::string toml_path_text(const TomlPath& path) {
  std::vector<std::string> keys;
  for (const auto& key : path) keys.push_back(bare_key(key) ? key : toml_string(key));
  return format("{}", fmt::join(keys, "."));
}

}  // namespace pagoda::container
