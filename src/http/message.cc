#include "http/message.h"

#include <algorithm>

namespace pagoda::http {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

bool same_field_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view Headers::get(std::string_view name) const {
  for (const auto& [field, value] : fields) {
    if (same_field_name(field, name)) return value;
  }
  return {};
}

void Headers::set(std::string name, std::string value) {
  std::erase_if(fields, [&](const auto& field) { return same_field_name(field.first, name); });
  fields.emplace_back(std::move(name), std::move(value));
}

}  // namespace pagoda::http
