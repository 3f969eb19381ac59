#include "smi/output_style.h"

#include <charconv>

namespace pagoda::smi {

std::optional<OutputStyle> style_named(std::string_view name) {
  if (name.starts_with('R') || name.starts_with('r')) name.remove_prefix(1);
  int branch = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), branch);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  constexpr int kOldest = 550;  // before it the table was narrower
  if (branch < kOldest || branch > 999) return std::nullopt;
  return OutputStyle{branch};
}

OutputStyle style_of(const driver::DriverReadings& driver) {
  if (!driver.version) return {kNewestBranch};
  const std::string& version = *driver.version;
  return style_named(version.substr(0, version.find('.'))).value_or(OutputStyle{kNewestBranch});
}

}  // namespace pagoda::smi
