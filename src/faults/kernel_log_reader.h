// The running kernel's log, as text with "[seconds] " before each line, whatever may read it.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace pagoda::faults {

// /dev/kmsg below `root` (a plain file in a laid-out tree). kUnauthorized: this user may not read it.
Result<std::string> read_kernel_log(const std::filesystem::path& root);

// One record of /dev/kmsg ("6,1234,5678901,-;message") as dmesg prints it; other text is returned as it is.
std::string dmesg_line(std::string_view record);

}  // namespace pagoda::faults
