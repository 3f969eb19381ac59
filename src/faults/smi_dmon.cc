// What `nvidia-smi dmon` prints: a heading of column names, one of units, then a row for each GPU and second.
#include <algorithm>
#include <array>

#include "faults/smi_section.h"

namespace pagoda::faults {
namespace {

struct Column {
  std::string_view name;
  Quantity quantity;
};
constexpr std::array kColumns = {
    Column{"pwr", Quantity::kPowerDraw},     Column{"gtemp", Quantity::kTemperature},
    Column{"temp", Quantity::kTemperature},  Column{"mtemp", Quantity::kMemoryTemperature},
    Column{"sm", Quantity::kGpuUtilization}, Column{"mem", Quantity::kMemoryUtilization},
    Column{"fb", Quantity::kMemoryUsed},
};

class SmiDmon : public SmiSection {
 public:
  explicit SmiDmon(std::vector<std::string> columns) : columns_(std::move(columns)) {
    snapshot.kind = "nvidia-smi dmon";
  }

  bool take(std::string_view line, int64_t number) override {
    const auto words = words_of(line);
    if (words.empty()) return false;
    if (words[0].starts_with('#'))
      return words.size() == columns_.size() + 1;  // "# Idx W C …", and headings again
    const bool row = words.size() == columns_.size() && words[0].size() <= 3 &&
                     words[0].find_first_not_of("0123456789") == std::string_view::npos;
    if (!row) return false;
    GpuReadings gpu;
    gpu.index = words[0];
    gpu.line = number;
    gpu.evidence = line;
    for (size_t i = 1; i < words.size(); ++i) {
      const auto column = std::find_if(kColumns.begin(), kColumns.end(),
                                       [&](const Column& c) { return c.name == columns_[i]; });
      if (column != kColumns.end()) gpu.take(column->quantity, words[i], number, line);
    }
    snapshot.gpus.push_back(std::move(gpu));
    return true;
  }

  bool is_series() const override { return true; }

 private:
  std::vector<std::string> columns_;
};

}  // namespace

std::unique_ptr<SmiSection> begin_smi_dmon(std::string_view line, int64_t) {
  const auto words = words_of(line);
  if (words.size() < 3 || words[0] != "#" || words[1] != "gpu") return nullptr;
  const bool per_device = std::find(words.begin(), words.end(), "pid") == words.end();
  if (!per_device) return nullptr;
  return std::make_unique<SmiDmon>(std::vector<std::string>(words.begin() + 1, words.end()));
}

}  // namespace pagoda::faults
