#include "app/flags.h"

#include <algorithm>
#include <map>

#include "app/config_file.h"
#include "app/json_pieces.h"
#include "app/nearest.h"
#include "base/format.h"

namespace pagoda::app {
namespace {

Unexpected invalid(std::string message, std::string_view flag) {
  return fail(ErrorCode::kInvalidArgument, std::move(message), std::string(flag));
}

std::string with_dashes(std::string_view name) {
  std::string dashed(name);
  std::replace(dashed.begin(), dashed.end(), '_', '-');
  return dashed;
}

bool is_truth_word(std::string_view word) {
  return word == "true" || word == "True" || word == "false" || word == "False";
}

// A word that can only be a flag; -1 and - can be values.
bool looks_like_flag(std::string_view word) {
  if (word.size() < 2 || word[0] != '-') return false;
  const bool negative_number = word[1] == '.' || (word[1] >= '0' && word[1] <= '9');
  return !negative_number;
}

// What one source (the command line, the config file) says: the values of each flag it names.
struct Gathered {
  std::map<const Flag*, std::vector<JsonPiece>> values;
  std::optional<std::string> help;
};

// Walks the words of a command line.
class CommandLine {
 public:
  CommandLine(const FlagTable& table, std::span<const std::string> words) : table_(table), words_(words) {}

  Result<Gathered> read() {
    while (next_ < words_.size()) {
      const std::string& word = words_[next_++];
      if (flags_ended_ || !looks_like_flag(word)) {
        PAGODA_TRY(take_positional(word));
      } else if (word == "--") {
        flags_ended_ = true;
      } else if (word == "-h" || word == "--help") {
        gathered_.help = "";
      } else if (word.starts_with("--help=")) {
        gathered_.help = word.substr(7);
      } else {
        PAGODA_TRY(take_flag(word));
      }
    }
    return std::move(gathered_);
  }

 private:
  Status take_positional(const std::string& word) {
    const Flag* flag = table_.positional.empty() ? nullptr : find_flag(table_, table_.positional);
    if (flag == nullptr) return invalid(format("unexpected argument '{}'", word), "");
    if (has_positional_) {
      return invalid(format("two arguments where one {} is expected: '{}' and '{}'", flag->value_name,
                            gathered_.values[flag].back().value, word),
                     flag->name);
    }
    has_positional_ = true;
    gathered_.values[flag].push_back({"", word});
    return {};
  }

  Status take_flag(const std::string& word) {
    const std::string_view dashes = word.starts_with("--") ? "--" : "-";
    std::string_view body = std::string_view(word).substr(dashes.size());
    std::optional<std::string> attached;
    if (const size_t equals = body.find('='); equals != std::string_view::npos) {
      attached = std::string(body.substr(equals + 1));
      body = body.substr(0, equals);
    }
    const size_t dot = body.find('.');
    const std::string path(dot == std::string_view::npos ? "" : body.substr(dot + 1));
    const std::string_view name = body.substr(0, dot);
    // A flag whose name has a dot of its own (--cdi.enabled) goes before a piece of a JSON value.
    if (const Flag* flag = find_flag(table_, body)) return take_values(*flag, dashes, body, "", attached);
    if (const Flag* flag = find_flag(table_, name)) return take_values(*flag, dashes, name, path, attached);
    if (dashes == "--" && with_dashes(name).starts_with("no-")) {
      const Flag* negated = find_flag(table_, name.substr(3));
      if (negated != nullptr && negated->takes == Takes::kNothing)
        return take_negated(*negated, word, attached);
    }
    if (dashes == "-" && !name.empty()) {  // -O3
      const Flag* letter = find_flag(table_, name.substr(0, 1));
      if (letter != nullptr && letter->takes != Takes::kNothing) {
        return take_values(*letter, dashes, name.substr(0, 1), "", word.substr(2));
      }
    }
    return Unexpected(unknown_flag(table_, dashes, body));
  }

  Status take_negated(const Flag& flag, const std::string& word, const std::optional<std::string>& attached) {
    if (attached)
      return invalid(format("{}: takes no value; write --{} or --no-{}", word, flag.name, flag.name),
                     flag.name);
    gathered_.values[&flag].push_back({"", "false"});
    return {};
  }

  Status take_values(const Flag& flag, std::string_view dashes, std::string_view name,
                     const std::string& path, const std::optional<std::string>& attached) {
    std::vector<JsonPiece>& values = gathered_.values[&flag];
    if (!path.empty() && flag.takes != Takes::kJson) {
      return invalid(format("{}{}: its value has no parts; '.{}' is out of place", dashes, name, path),
                     flag.name);
    }
    if (attached) {
      values.push_back({path, *attached});
      return {};
    }
    if (flag.takes == Takes::kNothing) {
      const bool stated = next_ < words_.size() && is_truth_word(words_[next_]);
      values.push_back({"", stated ? words_[next_++] : "true"});
      return {};
    }
    if (next_ >= words_.size() || looks_like_flag(words_[next_])) {
      return invalid(format("{}{} needs a value: {}", dashes, name, flag.value_name), flag.name);
    }
    values.push_back({path, words_[next_++]});
    while (flag.takes == Takes::kValues && next_ < words_.size() && !looks_like_flag(words_[next_])) {
      values.push_back({"", words_[next_++]});
    }
    return {};
  }

  const FlagTable& table_;
  std::span<const std::string> words_;
  size_t next_ = 0;
  bool flags_ended_ = false;
  bool has_positional_ = false;
  Gathered gathered_;
};

// Adds what the config file says about flags that the command line does not name.
Status add_config(const FlagTable& table, const std::string& path, Gathered& gathered) {
  PAGODA_ASSIGN(const auto entries, read_config_file(path));
  std::map<const Flag*, std::vector<JsonPiece>> from_file;
  for (const ConfigEntry& entry : entries) {
    const Flag* flag = find_flag(table, entry.key);
    if (flag == nullptr) {
      Error error = unknown_flag(table, "", entry.key);
      error.message = format("{}:{}: {}", path, entry.line, error.message);
      return Unexpected(std::move(error));
    }
    if (flag->name == table.config) {
      return invalid(format("{}:{}: a config file cannot name another one", path, entry.line), flag->name);
    }
    if (entry.values.size() > 1 && flag->takes != Takes::kValues) {
      return invalid(format("{}:{}: {} takes one value, not a list", path, entry.line, entry.key),
                     flag->name);
    }
    for (const std::string& value : entry.values) from_file[flag].push_back({"", value});
  }
  for (auto& [flag, values] : from_file) gathered.values.try_emplace(flag, std::move(values));
  return {};
}

// One flag's values as its setter wants them.
Result<std::vector<std::string>> final_values(const Flag& flag, const std::vector<JsonPiece>& pieces) {
  std::vector<std::string> values;
  if (flag.takes == Takes::kJson) {
    PAGODA_ASSIGN(std::string json, assemble_json(pieces));
    values.push_back(std::move(json));
    return values;
  }
  for (const JsonPiece& piece : pieces) values.push_back(piece.value);
  return values;
}

bool asks_for_nothing(const Flag& flag, const std::vector<std::string>& values) {
  return std::all_of(values.begin(), values.end(), [&](const std::string& value) {
    return std::find(flag.harmless.begin(), flag.harmless.end(), value) != flag.harmless.end() ||
           (flag.takes == Takes::kNothing && (value == "false" || value == "False"));
  });
}

Status apply(const Flag& flag, const std::vector<JsonPiece>& pieces, ParsedFlags& parsed) {
  auto values = final_values(flag, pieces);
  if (!values) return invalid(format("--{}: {}", flag.name, values.error().message), flag.name);
  parsed.given.insert(flag.name);
  switch (flag.standing) {
    case Standing::kWithoutMeaning:
      parsed.warnings.push_back(format("--{} has no effect here: {}", flag.name, flag.reason));
      return {};
    case Standing::kNotYet: {
      if (asks_for_nothing(flag, *values)) return {};
      const std::string shown = flag.takes == Takes::kNothing ? "" : " " + values->back();
      return fail(ErrorCode::kUnsupported, format("--{}{}: {}", flag.name, shown, flag.reason),
                  std::string(flag.name));
    }
    case Standing::kWorks:
      break;
  }
  if (const Status set = flag.set(*values); !set) {
    return invalid(format("--{}: {}", flag.name, set.error().message), flag.name);
  }
  return {};
}

}  // namespace

const Flag* find_flag(const FlagTable& table, std::string_view name) {
  const std::string dashed = with_dashes(name);
  for (const Flag& flag : table.flags) {
    if (flag.name == dashed) return &flag;
    if (std::find(flag.aliases.begin(), flag.aliases.end(), dashed) != flag.aliases.end()) return &flag;
  }
  return nullptr;
}

Error unknown_flag(const FlagTable& table, std::string_view dashes, std::string_view name) {
  std::vector<std::string_view> names;
  for (const Flag& flag : table.flags) {
    names.push_back(flag.name);
    names.insert(names.end(), flag.aliases.begin(), flag.aliases.end());
  }
  const std::string dashed = with_dashes(name);
  std::string message = format("unknown flag {}{}", dashes, dashed);
  if (const auto close = nearest(dashed, names)) {
    const bool is_short = close->size() <= 3 && find_flag(table, *close)->name != *close;
    const std::string_view prefix = dashes.empty() ? "" : is_short ? "-" : "--";
    message += format("; did you mean {}{}?", prefix, *close);
  } else {
    message += "; --help lists those there are";
  }
  return {ErrorCode::kInvalidArgument, std::move(message), dashed};
}

Result<ParsedFlags> parse_flags(const FlagTable& table, std::span<const std::string> arguments) {
  PAGODA_ASSIGN(Gathered gathered, CommandLine(table, arguments).read());
  ParsedFlags parsed;
  parsed.help = gathered.help;
  if (parsed.help) return parsed;
  const Flag* config = table.config.empty() ? nullptr : find_flag(table, table.config);
  if (const auto found = gathered.values.find(config); config != nullptr && found != gathered.values.end()) {
    if (found->second.size() > 1) return invalid(format("--{} is given twice", config->name), config->name);
    PAGODA_TRY(add_config(table, found->second.back().value, gathered));
  }
  // In the table's order, so that the first error does not depend on addresses.
  for (const Flag& flag : table.flags) {
    const auto found = gathered.values.find(&flag);
    if (found != gathered.values.end()) PAGODA_TRY(apply(flag, found->second, parsed));
  }
  return parsed;
}

}  // namespace pagoda::app
