// What an installation did so far, on disk before and after each step: whoever comes after a crash, a power
// cut or a kill reads there what state the machine is in and how to go on or back.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "driver/host_root.h"
#include "driver/install_plan.h"

namespace pagoda::driver {

inline constexpr std::string_view kInstallJournal = "/var/lib/pagoda/driver-install.json";

enum class StepState { kPending, kRunning, kDone, kFailed };

struct JournalStep {
  std::string title;
  StepState state = StepState::kPending;
  std::string file;  // that the step writes, or empty
};

struct InstallJournal {
  std::map<std::string, std::string> packages_before;  // name → version, of the whole machine
  std::vector<JournalStep> steps;
  bool finished = false;  // all steps done, or all taken back

  // nullopt: no installation was begun here. kCorruptData: the journal cannot be read.
  static Result<std::optional<InstallJournal>> read(const HostRoot& root);
  Status write(const HostRoot& root) const;
};

// The machine's state in words: which step was reached, which packages are half-way, how to go on and back.
std::string state_text(const HostRoot& root, const InstallJournal& journal);

}  // namespace pagoda::driver
