// Sizes as logs write them: "330.10 MiB", "1.75 GiB", "512.00 KiB".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pagoda::faults {

std::optional<double> gib_of(std::string_view text);
// "1.75 GiB", "512 MiB": two decimals at most, none that are zero.
std::string words_of_gib(double gib);

}  // namespace pagoda::faults
