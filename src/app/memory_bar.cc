#include "app/memory_bar.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "model/memory_plan.h"

namespace pagoda::app {
namespace {

constexpr std::string_view kIndent = "  ";
constexpr std::string_view kFree = "·";

}  // namespace

std::string memory_bar(std::span<const BarPart> parts, int64_t capacity, int64_t budget, int width,
                       const Paint& paint) {
  double needed = 0;
  for (const BarPart& part : parts) needed += static_cast<double>(part.bytes);
  const double whole = std::max({static_cast<double>(capacity), needed, 1.0});
  const int cells = std::max(20, width - static_cast<int>(kIndent.size()));
  const auto cell_at = [&](double bytes) { return static_cast<int>(std::lround(bytes / whole * cells)); };

  std::string bar(kIndent), legend(kIndent);
  double sum = 0;
  int drawn = 0;
  for (const BarPart& part : parts) {
    if (part.bytes <= 0) continue;
    sum += static_cast<double>(part.bytes);
    const int end = std::clamp(std::max(cell_at(sum), drawn + 1), drawn, cells);
    std::string run;
    for (; drawn < end; ++drawn) run += part.cell;
    bar += paint(part.ink, run);
    legend += format("{} {}   ", paint(part.ink, part.cell), part.label);
  }
  for (; drawn < cells; ++drawn) bar += kFree;
  legend += format("{} free", kFree);

  const int mark = std::min(cells - 1, cell_at(static_cast<double>(budget)));
  const std::string words = format("{} may be used", model::bytes_text(budget));
  const int before = std::max(0, mark - static_cast<int>(words.size()) - 1);
  std::string limit(kIndent);
  limit += mark > static_cast<int>(words.size())
               ? std::string(static_cast<size_t>(before), ' ') + words + " ▲"
               : std::string(static_cast<size_t>(mark), ' ') + "▲ " + words;
  return bar + "\n" + limit + "\n" + legend + "\n";
}

}  // namespace pagoda::app
