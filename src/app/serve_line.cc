#include "app/serve_line.h"

#include <algorithm>

#include "app/serve_flags.h"
#include "base/format.h"

namespace pagoda::app {
namespace {

constexpr std::string_view kProgram = "pagoda serve";

// As a shell reads it back.
std::string quoted(const std::string& word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("-_./:=,+@%").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain) return word;
  std::string text = "'";
  for (char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

ServeLine serve_line(const std::string& model, const ServeFlags& flags) {
  ServeFlags kept;
  for (const auto& [name, value] : flags) {
    const auto same =
        std::find_if(kept.begin(), kept.end(), [&](const auto& flag) { return flag.first == name; });
    if (same != kept.end()) {
      same->second = value;
    } else {
      kept.emplace_back(name, value);
    }
  }
  std::vector<std::string> words = {model};
  for (const auto& [name, value] : kept) {
    words.push_back("--" + name);
    words.push_back(value);
  }
  ServeLine line{std::string(kProgram), ""};
  for (const std::string& word : words) line.text += " " + quoted(word);
  if (const auto parsed = parse_serve_flags(words, {}, std::string(kProgram)); !parsed)
    line.refusal = parsed.error().message;
  return line;
}

}  // namespace pagoda::app
