#include "app/nearest.h"

#include <algorithm>
#include <vector>

namespace pagoda::app {

int edit_distance(std::string_view from, std::string_view to) {
  const size_t columns = to.size() + 1;
  // Three rows of the dynamic programme: before last, last, current.
  std::vector<int> older(columns), last(columns), row(columns);
  for (size_t j = 0; j < columns; ++j) last[j] = static_cast<int>(j);
  for (size_t i = 1; i <= from.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j < columns; ++j) {
      const int changed = from[i - 1] == to[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + changed});
      const bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) row[j] = std::min(row[j], older[j - 2] + 1);
    }
    std::swap(older, last);
    std::swap(last, row);
  }
  return last[to.size()];
}

std::optional<std::string_view> nearest(std::string_view word, std::span<const std::string_view> names) {
  std::optional<std::string_view> best;
  int best_distance = std::max(2, static_cast<int>(word.size()) / 3) + 1;
  for (std::string_view name : names) {
    const int distance = edit_distance(word, name);
    // A distance of the whole word is no likeness.
    if (distance < best_distance && distance < static_cast<int>(std::max(word.size(), name.size()))) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace pagoda::app
