#include "smi/json_cell.h"

#include <algorithm>
#include <charconv>

#include "base/format.h"

namespace pagoda::smi {
namespace {

nlohmann::ordered_json value_of(const Cell& cell) {
  if (cell.absent) return nullptr;
  if (!cell.numeric) return cell.text;
  const char* end = cell.text.data() + cell.text.size();
  if (cell.text.find('.') == std::string::npos) {
    std::int64_t whole = 0;
    if (std::from_chars(cell.text.data(), end, whole).ptr == end) return whole;
  }
  double number = 0;
  if (std::from_chars(cell.text.data(), end, number).ptr == end) return number;
  return cell.text;
}

}  // namespace

std::string unit_in_key(std::string_view unit) {
  if (unit == "%") return "percent";
  std::string key;
  for (const char c : unit) {
    if (c == '/') key += "_per_";
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      key += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return key;
}

void put_cell(nlohmann::ordered_json& object, std::string_view key, const Cell& cell) {
  const std::string name =
      cell.unit.empty() ? std::string(key) : format("{}_{}", key, unit_in_key(cell.unit));
  object[name] = value_of(cell);
  if (cell.absent) object[format("{}_absent", key)] = driver::describe(cell.absent->reason);
}

}  // namespace pagoda::smi
