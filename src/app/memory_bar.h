// Memory as a picture: one row of cells, a mark where the part that may be used ends, and what the cells
// mean.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "app/terminal.h"

namespace pagoda::app {

struct BarPart {
  std::string_view label;
  int64_t bytes = 0;
  std::string_view cell;  // one column wide
  Ink ink = Ink::kBold;
};

// Lines of at most `width` columns, each ended. `capacity` is the whole row, unless the parts need more;
// `budget` is where the mark stands.
std::string memory_bar(std::span<const BarPart> parts, int64_t capacity, int64_t budget, int width,
                       const Paint& paint);

}  // namespace pagoda::app
