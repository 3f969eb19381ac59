#include "faults/memory_size.h"

#include <array>
#include <charconv>

#include "base/format.h"

namespace pagoda::faults {

std::optional<double> gib_of(std::string_view text) {
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc()) return std::nullopt;
  std::string_view unit(parsed.ptr, static_cast<size_t>(text.data() + text.size() - parsed.ptr));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  struct Unit {
    std::string_view name;
    double gib;
  };
  constexpr double kGib = 1024.0 * 1024 * 1024;
  constexpr std::array kUnits = {Unit{"GiB", 1},        Unit{"MiB", 1.0 / 1024}, Unit{"KiB", 1024 / kGib},
                                 Unit{"TiB", 1024},     Unit{"bytes", 1 / kGib}, Unit{"GB", 1e9 / kGib},
                                 Unit{"MB", 1e6 / kGib}};
  for (const Unit& row : kUnits) {
    if (unit.starts_with(row.name)) return value * row.gib;
  }
  return std::nullopt;
}

std::string words_of_gib(double gib) {
  const bool large = gib >= 1;
  std::string text = format("{:.2f}", large ? gib : gib * 1024);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text + (large ? " GiB" : " MiB");
}

}  // namespace pagoda::faults
