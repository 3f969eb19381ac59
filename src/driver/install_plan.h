// How a machine gets its driver, as steps: what each is for, the command, and what takes it back.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/host_facts.h"
#include "driver/recommendation.h"

namespace pagoda::driver {

struct InstallStep {
  std::string title;                 // "install nvidia-driver-580-open"
  std::vector<std::string> command;  // empty: a file is written instead
  std::string file, content;         // path in the root, and what it holds
  bool may_fail = false;             // the next step puts right what it leaves
};

struct InstallPlan {
  std::vector<InstallStep> steps;
  std::vector<std::string> packages;  // what is there at the end and was not asked for by anybody else
  std::vector<std::string> notes;     // "Secure Boot is on: …"
  bool needs_reboot = true;
};

struct InstallChoice {
  std::string package;              // empty: the recommended one
  bool nvidia_source = false;       // add NVIDIA's apt source first
  bool repair = false;              // an earlier run was cut off: first let dpkg and apt finish
  std::vector<std::string> broken;  // packages of that run that dpkg cannot go on with
};

// `available`: of the packages that a plan may name beside the driver (headers, signed modules, fabric
// manager), those that apt has. kUnsupported: a machine of neither apt nor dnf, WSL, or no GPU; kNotFound: no
// such package.
Result<InstallPlan> plan_install(const HostFacts& facts, const Recommendation& recommendation,
                                 const std::vector<std::string>& available, const InstallChoice& choice);

// The names that plan_install would look for in `available`.
std::vector<std::string> companions(const HostFacts& facts, const DriverPackage& driver);

// The plan for a machine of dnf's: printed, never run (no such machine was there to try it on).
Result<InstallPlan> plan_install_with_dnf(const HostFacts& facts);

// One numbered line a step, the command below it.
std::string plan_text(const InstallPlan& plan);

}  // namespace pagoda::driver
