#include "simulate/key_catalogue.h"

#include <algorithm>
#include <map>
#include <set>

namespace pagoda::simulate {
namespace {

// "a.{b,c}.d" → "a.b.d", "a.c.d".
void write_out(std::string_view head, std::string_view pattern, std::vector<std::string>& keys) {
  const size_t open = pattern.find('{');
  if (open == std::string_view::npos) {
    keys.push_back(std::string(head) + std::string(pattern));
    return;
  }
  const size_t close = pattern.find('}', open);
  const std::string before = std::string(head) + std::string(pattern.substr(0, open));
  size_t from = open + 1;
  while (from <= close) {
    const size_t to = std::min(pattern.find(',', from), close);
    write_out(before + std::string(pattern.substr(from, to - from)), pattern.substr(close + 1), keys);
    from = to + 1;
  }
}

struct Catalogue {
  std::map<std::string, const KeyRow*, std::less<>> rows;
  std::set<std::string, std::less<>> prefixes;
  std::vector<std::string> keys;

  Catalogue() {
    for (const KeyRow& row : key_rows()) {
      std::vector<std::string> written;
      write_out("", row.pattern, written);
      for (auto& key : written) {
        for (size_t dot = key.find('.'); dot != std::string::npos; dot = key.find('.', dot + 1))
          prefixes.insert(key.substr(0, dot));
        rows.emplace(key, &row);
        keys.push_back(std::move(key));
      }
    }
  }
};

const Catalogue& catalogue() {
  static const Catalogue built;
  return built;
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row[b.size()];
}

}  // namespace

const KeyRow* find_key(std::string_view key) {
  const auto& rows = catalogue().rows;
  if (const auto found = rows.find(key); found != rows.end()) return found->second;
  const size_t dot = key.rfind('.');
  if (dot == std::string_view::npos) return nullptr;
  const auto any = rows.find(std::string(key.substr(0, dot)) + ".*");
  return any == rows.end() ? nullptr : any->second;
}

bool is_key_prefix(std::string_view prefix) {
  return catalogue().prefixes.contains(prefix);
}

const std::vector<std::string>& all_keys() {
  return catalogue().keys;
}

std::string nearest_key(std::string_view key) {
  const std::string* best = nullptr;
  size_t least = std::max<size_t>(2, key.size() / 4) + 1;
  for (const auto& known : all_keys()) {
    const size_t distance = edit_distance(key, known);
    if (distance < least) {
      least = distance;
      best = &known;
    }
  }
  return best == nullptr ? std::string() : *best;
}

}  // namespace pagoda::simulate
