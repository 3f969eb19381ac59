// What a program prints, with a limit on time and size: an nvidia-smi on a dead GPU may never come back.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace pagoda::faults {

// Standard output and error together; found in PATH. Nothing: there is no such program. A program that is
// ended for its time has that said at the end of its output.
std::optional<std::string> output_of(const std::vector<std::string>& command, double timeout_s,
                                     size_t most_bytes);

}  // namespace pagoda::faults
