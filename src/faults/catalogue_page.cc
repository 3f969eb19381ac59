#include "faults/catalogue_page.h"

#include <algorithm>

#include "base/format.h"
#include "faults/fault_catalogue.h"
#include "faults/pattern_matcher.h"
#include "faults/remedies.h"
#include "faults/smi_section.h"

namespace pagoda::faults {
namespace {

// A template as a person reads it: {name} in italics, optional parts as they stand.
std::string readable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '{' || c == '}') {
      out += '*';
    } else if (c == '|') {
      out += "\\|";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c != '[' && c != ']') {
      out += c;
    }
  }
  return out;
}

std::string literals_of(const FaultRow& row) {
  std::vector<std::string_view> literals;
  for (const LogPattern& pattern : PatternMatcher::patterns()) {
    if (pattern.fault == row.id &&
        std::find(literals.begin(), literals.end(), pattern.literal) == literals.end())
      literals.push_back(pattern.literal);
  }
  std::string text;
  for (const std::string_view literal : literals) text += (text.empty() ? "" : " · ") + readable(literal);
  return text;
}

std::string remedies_of(const FaultRow& row) {
  std::string text;
  for (const std::string_view key : words_of(row.remedies)) {
    const Remedy* remedy = find_remedy(key);
    if (remedy != nullptr) text += (text.empty() ? "" : "; ") + readable(remedy->text);
  }
  return text;
}

std::string row_of(const FaultRow& row) {
  const std::string literals = literals_of(row);
  return format("| `{}` | {} | {} | {} | {}{} | {} |\n", row.id, static_cast<int>(row.step),
                name_of(row.severity), row.drain == Drain::kYes ? "yes" : "no", readable(row.cause),
                literals.empty() ? "" : "<br>Sentences: " + literals, remedies_of(row));
}

}  // namespace

std::string catalogue_page() {
  std::string page =
      "# What doctor knows\n\n"
      "Made from the program's own tables by `pagoda doctor --catalogue`; a test keeps it current. Step: 1 "
      "presence, 2 "
      "hardware, 3 load, 4 memory, 5 logs and configuration. Words in italics are filled in from the "
      "evidence.\n";
  for (const FaultTable& table : fault_tables()) {
    page += format(
        "\n## {}\n\n| Id | Step | Severity | Drain | Cause | What to do |\n|---|---|---|---|---|---|\n",
        table.title);
    for (const FaultRow& row : table.rows) page += row_of(row);
  }
  return page;
}

}  // namespace pagoda::faults
