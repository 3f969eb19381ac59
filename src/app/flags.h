// The flags of a subcommand as a table, and the parser that walks it. Spelling is vLLM's: `-` and `_` are the
// same in a name, --no-X negates, `--flag value` and `--flag=value`, short forms of several letters (-tp 2),
// lists
// (--served-model-name a b), JSON values that may come in pieces (--speculative-config.method ngram), and
// --config FILE.yaml, over which the command line wins.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pagoda::app {

enum class Takes {
  kNothing,  // a switch; also --no-X, --X=false
  kValue,
  kValues,  // one or more words, up to the next flag; may be repeated
  kJson,    // one JSON text, or --flag.key value …
};

enum class Standing {
  kWorks,
  kWithoutMeaning,  // understood; there is nothing here that it could change: one warning that says why
  kNotYet,          // would change the answer or the service: refused, unless its value asks for nothing
};

// Takes the values of one flag, in order; a switch gets "true" or "false". Its error states the value and
// what would be right; the parser puts the flag's name before it.
using Setter = std::function<Status(std::span<const std::string>)>;

struct Flag {
  std::string_view name;                  // "max-model-len", without dashes
  std::vector<std::string_view> aliases;  // "tp" is -tp and --tp
  std::string_view group;
  Takes takes = Takes::kValue;
  std::string_view value_name;  // for the help: "TOKENS"
  std::string help;             // what it does and its default
  Setter set;                   // kWorks only
  Standing standing = Standing::kWorks;
  std::string_view reason;                 // of kWithoutMeaning, kNotYet
  std::vector<std::string_view> harmless;  // values of a kNotYet flag that ask for nothing: "1", "false"
};

struct Example {
  std::string_view command, meaning;
};

struct FlagTable {
  std::string usage;  // "pagoda serve [MODEL] [flags]"
  std::string summary;
  std::vector<Example> examples;
  std::string_view positional;  // the flag that one word without dashes sets; empty: no such word
  std::string_view config;      // the flag that names a YAML file; empty: none
  std::vector<Flag> flags;
};

struct ParsedFlags {
  std::optional<std::string> help;    // --help: empty; --help=WORD: a group, a part of a name, or "all"
  std::set<std::string_view> given;   // names of flags that were set, by whatever spelling
  std::vector<std::string> warnings;  // one line each
};

// Sets what is given. On error nothing may be relied upon; Error::param is the flag's name. With --help
// nothing is set.
Result<ParsedFlags> parse_flags(const FlagTable& table, std::span<const std::string> arguments);

// By name or alias, `_` and `-` alike; without leading dashes. nullptr: no such flag.
const Flag* find_flag(const FlagTable& table, std::string_view name);

// "unknown flag --prot; did you mean --port?"
Error unknown_flag(const FlagTable& table, std::string_view dashes, std::string_view name);

}  // namespace pagoda::app
