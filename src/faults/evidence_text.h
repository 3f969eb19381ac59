// A stranger's bytes as a line that may be shown: valid UTF-8, no control characters or escape sequences.
#pragma once

#include <string>
#include <string_view>

namespace pagoda::faults {

// At most kEvidenceBytes, cut between characters with "…".
std::string evidence_text(std::string_view bytes);
// Removes terminal escape sequences (ESC [ … letter).
std::string without_escapes(std::string_view bytes);

}  // namespace pagoda::faults
