#include "app/flag_help.h"

#include <algorithm>
#include <cctype>

#include "base/format.h"

namespace pagoda::app {
namespace {

constexpr int kTextColumn = 38;

std::string lower_dashed(std::string text) {
  for (char& c : text) c = c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string left_side(const Flag& flag) {
  std::string text;
  for (std::string_view alias : flag.aliases) {
    if (alias.size() <= 3) text += format("-{}, ", alias);
  }
  text += format("--{}", flag.name);
  if (!flag.value_name.empty())
    text += format(" {}{}", flag.value_name, flag.takes == Takes::kValues ? " …" : "");
  return text;
}

std::string explanation(const Flag& flag) {
  switch (flag.standing) {
    case Standing::kWorks:
      return flag.help;
    case Standing::kWithoutMeaning:
      return format("no effect here: {}", flag.reason);
    case Standing::kNotYet:
      return std::string(flag.reason);
  }
  return {};
}

// Words of `text` in lines of at most `width`, every line but the first indented to kTextColumn.
std::string wrapped(std::string_view text, int width) {
  const size_t room = static_cast<size_t>(std::max(20, width - kTextColumn));
  std::string out;
  size_t column = 0;
  while (!text.empty()) {
    const size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, space);
    if (column > 0 && column + 1 + word.size() > room) {
      out += "\n" + std::string(kTextColumn, ' ');
      column = 0;
    } else if (column > 0) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return out;
}

size_t columns_of(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string row(const Flag& flag, const Paint& paint, int width) {
  const std::string left = left_side(flag);
  const size_t used = columns_of(left) + 2;
  std::string text = "  " + paint(Ink::kCyan, left);
  if (used + 1 >= kTextColumn) {
    text += "\n" + std::string(kTextColumn, ' ');
  } else {
    text += std::string(kTextColumn - used, ' ');
  }
  return text + wrapped(explanation(flag), width) + "\n";
}

std::vector<std::string_view> groups_of(const FlagTable& table) {
  std::vector<std::string_view> groups;
  for (const Flag& flag : table.flags) {
    if (std::find(groups.begin(), groups.end(), flag.group) == groups.end()) groups.push_back(flag.group);
  }
  return groups;
}

template <class Wanted>
std::string listing(const FlagTable& table, const Paint& paint, int width, Wanted wanted) {
  std::string text;
  for (std::string_view group : groups_of(table)) {
    std::string rows;
    for (const Flag& flag : table.flags) {
      if (flag.group == group && wanted(flag)) rows += row(flag, paint, width);
    }
    if (!rows.empty()) text += format("\n{}\n{}", paint(Ink::kBold, group), rows);
  }
  return text;
}

std::string heading(const FlagTable& table, const Paint& paint) {
  std::string text = format("{}\n{}\n", paint(Ink::kBold, "Usage: " + table.usage), table.summary);
  if (!table.examples.empty()) text += format("\n{}\n", paint(Ink::kBold, "Examples"));
  for (const Example& example : table.examples) {
    text += format("  {}\n      {}\n", paint(Ink::kCyan, example.command), example.meaning);
  }
  return text;
}

std::string group_names(const FlagTable& table) {
  std::string names;
  for (std::string_view group : groups_of(table)) names += (names.empty() ? "" : ", ") + std::string(group);
  return names;
}

}  // namespace

std::string help_text(const FlagTable& table, const std::string& word, const Paint& paint, int width) {
  const std::string wanted = lower_dashed(word);
  if (wanted == "all")
    return heading(table, paint) + listing(table, paint, width, [](const Flag&) { return true; });
  if (wanted.empty()) {
    std::string text = heading(table, paint);
    text += listing(table, paint, width, [](const Flag& flag) { return flag.standing == Standing::kWorks; });
    return text +
           "\n--help=all also lists what is accepted without effect or not there yet; --help=WORD narrows to "
           "a\n"
           "group or a name. `_` and `-` are the same in a flag, --no-X turns a switch off.\n";
  }
  const auto of_group = [&](const Flag& flag) { return lower_dashed(std::string(flag.group)) == wanted; };
  std::string text = listing(table, paint, width, of_group);
  if (text.empty()) {
    text = listing(table, paint, width,
                   [&](const Flag& flag) { return flag.name.find(wanted) != std::string::npos; });
  }
  if (text.empty())
    return format("No group and no flag matches '{}'. Groups: {}\n", word, group_names(table));
  return text.substr(1);
}

}  // namespace pagoda::app
