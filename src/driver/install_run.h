// Carries an installation plan out, step by step, with the journal kept ahead of it.
#pragma once

#include <functional>

#include "driver/install_journal.h"

namespace pagoda::driver {

// Called before each step with its number (from 1), the number of steps and its title.
using StepListener = std::function<void(size_t, size_t, const InstallStep&)>;

// Returns when no dpkg or apt works in the root: dpkg outlives a parent that was killed (apt gives it a
// session of its own). kUnavailable after two minutes. Call it before the plan is made, which reads dpkg's
// files.
Status wait_for_dpkg(const HostRoot& root);

// The commands run in the root (chroot(8) where it is not /), their output goes to ours. Stops at the first
// that fails; the error says at which step, what state the machine is in, and how to go on or back.
Status run_install(const HostRoot& root, const InstallPlan& plan, const StepListener& before_step);

// Takes back what the journal says was added: packages that were not there before are purged, files removed.
// Packages that only changed their version keep the new one, and are named in the result.
Result<std::vector<std::string>> undo_install(const HostRoot& root, const StepListener& before_step);

}  // namespace pagoda::driver
