// Models whose control tokens swallow the white space after them. GGUF has no key for it; the model's name
// tells.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include "model/weight_metadata.h"

namespace pagoda::text {

inline constexpr std::string_view kNamesThatStripAfterSpecial[] = {"phi-3", "phi3"};
inline constexpr std::string_view kTokensThatNeverStrip[] = {"<s>", "<unk>", "<|endoftext|>"};

inline bool strips_after_special(const model::WeightMetadata& metadata) {
  std::string name(metadata.text("general.name").value_or(""));
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::any_of(std::begin(kNamesThatStripAfterSpecial), std::end(kNamesThatStripAfterSpecial),
                     [&](std::string_view part) { return name.find(part) != std::string::npos; });
}

}  // namespace pagoda::text
