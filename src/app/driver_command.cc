#include "app/driver_command.h"

#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>

#include "app/command_words.h"
#include "app/driver_install.h"
#include "app/driver_report.h"
#include "app/driver_stack.h"
#include "app/flag_values.h"
#include "base/format.h"
#include "driver/recommendation.h"

namespace pagoda::app {
namespace {

using namespace driver;

struct CheckOptions {
  std::string root = "/";
  std::string cuda;
  bool json = false;
};

FlagTable check_table(CheckOptions& options, const Invocation& invocation, std::string summary) {
  FlagTable table;
  table.usage = invocation.program + " [flags]";
  table.summary = std::move(summary);
  table.flags = {
      flag_row("root", "DIR", to_text(&options.root), "look at the machine under this folder (default: /)"),
      flag_row("cuda", "VERSION", to_text(&options.cuda),
               "also: does the driver run this CUDA release (12.8)"),
      switch_row("json", &options.json, "print JSON"),
  };
  return table;
}

Result<std::vector<Finding>> findings_of(const HostFacts& facts, const CheckOptions& options) {
  auto findings = judge_host(facts);
  if (!options.cuda.empty()) {
    PAGODA_ASSIGN(auto finding, judge_cuda(facts, options.cuda));
    findings.push_back(std::move(finding));
  }
  return findings;
}

int run_check(const Invocation& invocation) {
  CheckOptions options;
  const auto outcome =
      read_flags(check_table(options, invocation,
                             "What GPUs are here, what holds them, and whether the driver is whole."),
                 invocation);
  if (outcome.exit) return *outcome.exit;
  const auto root = HostRoot::open(options.root);
  if (!root) return report_error(invocation, root.error());
  const HostFacts facts = read_host_facts(*root);
  const auto findings = findings_of(facts, options);
  if (!findings) return report_error(invocation, findings.error());
  if (options.json) {
    fmt::print("{}\n", driver_report_json(facts, *findings).dump(2));
  } else {
    fmt::print("{}", driver_report_text(facts, *findings, Paint::for_descriptor(STDOUT_FILENO)));
  }
  return has_fault(*findings) ? kExitFailure : kExitOk;
}

// After the reboot: only what is wrong, or one line that all is well.
int run_verify(const Invocation& invocation) {
  CheckOptions options;
  const auto outcome =
      read_flags(check_table(options, invocation,
                             "After an installation and a reboot: is the driver whole and at work?"),
                 invocation);
  if (outcome.exit) return *outcome.exit;
  const auto root = HostRoot::open(options.root);
  if (!root) return report_error(invocation, root.error());
  const HostFacts facts = read_host_facts(*root);
  auto findings = findings_of(facts, options);
  if (!findings) return report_error(invocation, findings.error());
  if (options.json) {
    fmt::print("{}\n", driver_report_json(facts, *findings).dump(2));
    return has_fault(*findings) ? kExitFailure : kExitOk;
  }
  if (const std::string unfinished = unfinished_install(*root); !unfinished.empty()) {
    fmt::print("fault: an installation was begun here and did not end\n{}", unfinished);
    return kExitFailure;
  }
  for (const auto& finding : *findings) {
    if (finding.severity == Severity::kOk || finding.severity == Severity::kNote) continue;
    fmt::print("{}: {}\n  → {}\n", severity_name(finding.severity), finding.text, finding.remedy);
  }
  if (has_fault(*findings)) return kExitFailure;
  fmt::print("driver {} works: {} GPU{}\n",
             facts.loaded    ? facts.loaded->version.text()
             : facts.libcuda ? facts.libcuda->version.text()
                             : "none",
             facts.gpus.size(), facts.gpus.size() == 1 ? "" : "s");
  return kExitOk;
}

int recommend_as(const Invocation& invocation, bool annotated) {
  std::string folder = "/";
  FlagTable table;
  table.usage = invocation.program + " [flags]";
  table.summary = "The driver packages for this machine's GPUs, the recommended one first.";
  table.flags = {
      flag_row("root", "DIR", to_text(&folder), "look at the machine under this folder (default: /)")};
  const auto outcome = read_flags(table, invocation);
  if (outcome.exit) return *outcome.exit;
  const auto root = HostRoot::open(folder);
  if (!root) return report_error(invocation, root.error());
  const HostFacts facts = read_host_facts(*root);
  if (facts.gpus.empty()) {
    if (!annotated) return kExitOk;  // ubuntu-drivers prints nothing
    return report_error(
        invocation,
        {ErrorCode::kNotFound,
         facts.system.wsl ? "WSL 2: the driver belongs into Windows; there is none to install here"
                          : "no NVIDIA GPU on the PCI bus: there is no driver to recommend",
         ""});
  }
  const auto packages = find_driver_packages(*root, facts.system);
  if (!packages) return report_error(invocation, packages.error());
  const Recommendation recommendation = recommend(facts.gpus, *packages);
  fmt::print("{}", recommendation_text(recommendation, annotated));
  if (annotated && recommendation.wanted_branch) {
    fmt::print("{}.\nNVIDIA's own apt source has R{}: pagoda driver install --nvidia-source\n",
               recommendation.reason, *recommendation.wanted_branch);
  } else if (annotated && !recommendation.reason.empty()) {
    fmt::print("{}.\n", recommendation.reason);
  }
  return kExitOk;
}

int run_recommend(const Invocation& invocation) {
  return recommend_as(invocation, true);
}

int run_devices(const Invocation& invocation) {
  return recommend_as(invocation, false);
}

constexpr std::array kCommands = {
    CommandWords{"check", "GPUs, kernel module, libraries, device nodes, CUDA: what is well and what is not",
                 run_check},
    CommandWords{"recommend", "the driver packages for this machine, the recommended one first",
                 run_recommend},
    CommandWords{"install", "install the driver, step by step; --dry-run prints the steps",
                 run_driver_install},
    CommandWords{"verify", "after the reboot: is the driver whole and at work?", run_verify},
    CommandWords{"stack", "floor by floor what is found, from the hardware to monitoring", run_driver_stack},
};

constexpr std::array kUbuntuCommands = {
    CommandWords{"devices", "GPUs and the driver packages for them", run_devices},
    CommandWords{"install", "install the recommended driver", run_driver_install},
};

}  // namespace

int run_driver_command(const Invocation& invocation) {
  if (invocation.program == "ubuntu-drivers") {
    return run_by_words(kUbuntuCommands, "Driver packages for this machine.", invocation);
  }
  return run_by_words(kCommands, "From the bare machine to a working GPU driver.", invocation);
}

}  // namespace pagoda::app
