// What a machine's facts mean: each rule looks at one thing and says what is well, what is not, and what to
// do.
#pragma once

#include <string>
#include <vector>

#include "driver/host_facts.h"

namespace pagoda::driver {

enum class Severity {
  kOk,
  kNote,     // worth knowing; nothing to do
  kWarning,  // works, but not as it should
  kFault,    // keeps GPUs from working
};

struct Finding {
  Severity severity = Severity::kOk;
  std::string text;    // one sentence: the thing and the cause
  std::string remedy;  // one line, a command where there is one; empty for kOk
};

// In the order from the hardware up. Every machine gets at least one finding.
std::vector<Finding> judge_host(const HostFacts& facts);

std::string_view severity_name(Severity severity);  // "ok", "note", "warning", "fault"
bool has_fault(const std::vector<Finding>& findings);

// Whether the loaded driver runs programs of this CUDA release, as a finding. kInvalidArgument: no such
// release.
Result<Finding> judge_cuda(const HostFacts& facts, std::string_view cuda);

}  // namespace pagoda::driver
