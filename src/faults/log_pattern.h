// A sentence that doctor knows in a log. The tables stand in kernel_patterns.cc, cuda_patterns.cc,
// serving_patterns.cc and container_patterns.cc.
#pragma once

#include <span>
#include <string_view>

namespace pagoda::faults {

// How the named groups become an event's fields.
enum class Reader {
  kPlain,   // group → field of the same name; addresses of GPUs are brought to one form
  kXid,     // the row is "xid-N" (xid_line.h)
  kSxid,    // "sxid-fatal" or "sxid-non-fatal"
  kChip,    // adds chip and branch from the PCI device id
  kMemory,  // sums and shares of an out-of-memory text
  kCuda,    // adds the driver that a CUDA version needs
};

struct LogPattern {
  // The line holds this, in any case: how a line is found among a gigabyte of others. At least 4 bytes.
  std::string_view literal;
  // PCRE2, in any case, searched for in the line. Named groups become fields. Empty: the literal says enough.
  std::string_view expression;
  std::string_view fault;  // id of its row; for kXid and kSxid: of the row for unknown numbers
  Reader reader = Reader::kPlain;
  // The driver breaks this sentence over several lines, each after "NVRM:": they are joined first.
  bool wrapped = false;
};

std::span<const LogPattern> kernel_patterns();
std::span<const LogPattern> cuda_patterns();
std::span<const LogPattern> serving_patterns();
std::span<const LogPattern> container_patterns();

}  // namespace pagoda::faults
