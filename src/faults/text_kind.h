// What a source is, told from its beginning, for the list of what was read.
#pragma once

#include <string_view>

namespace pagoda::faults {

enum class TextKind {
  kKernelLog,
  kJournal,
  kServingLog,
  kSmi,
  kJsonDocument,
  kBinary,
  kUtf16,
  kBinaryJournal,
  kEmpty,
  kText
};

TextKind kind_of_text(std::string_view beginning);
std::string_view name_of(TextKind kind);
// Why such a source is not read, or what was odd; empty: nothing.
std::string_view remark_on(TextKind kind);
bool is_readable(TextKind kind);

}  // namespace pagoda::faults
