// The running kernel's log, as text with "[seconds] " before each line, whatever may read it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"

namespace pagoda::faults {

// /dev/kmsg below `root` (a plain file in a laid-out tree). kUnauthorized: this user may not read it.
Result<std::string> read_kernel_log(const std::filesystem::path& root);

// Whether this log still has its first lines: the kernel's ring forgets the oldest.
bool begins_at_boot(std::string_view log);
// The kernel's messages of this boot as the journal keeps them; nullopt: there is no journal, or it is closed
// to this user.
std::optional<std::string> read_journal_of_kernel();

// One record of /dev/kmsg ("6,1234,5678901,-;message") as dmesg prints it; other text is returned as it is.
std::string dmesg_line(std::string_view record);

}  // namespace pagoda::faults
