#include "app/driver_install.h"

#include <unistd.h>

#include <algorithm>

#include "app/command_words.h"
#include "app/flag_values.h"
#include "app/terminal.h"
#include "base/format.h"
#include "driver/install_run.h"
#include "driver/installed_packages.h"

namespace pagoda::app {
namespace {

using namespace driver;

struct InstallOptions {
  std::string root = "/";
  InstallChoice choice;
  bool dry_run = false, undo = false, yes = false;
};

FlagTable install_table(InstallOptions& options, const Invocation& invocation) {
  FlagTable table;
  table.usage = invocation.program + " [PACKAGE] [flags]";
  table.summary = "Installs the recommended driver, or PACKAGE, with the system's package tool.";
  table.positional = "package";
  table.flags = {
      flag_row("package", "PACKAGE", to_text(&options.choice.package), "another than the recommended one"),
      switch_row("dry-run", &options.dry_run, "print the steps, do nothing"),
      switch_row("nvidia-source", &options.choice.nvidia_source, "add NVIDIA's own apt source first"),
      switch_row("undo", &options.undo, "take back what an earlier run added"),
      switch_row("yes", &options.yes, "do not ask"),
      flag_row("root", "DIR", to_text(&options.root),
               "the machine under this folder, by chroot (default: /)"),
  };
  return table;
}

// The package that the plan will be for; nullptr: none here.
const DriverPackage* planned_package(const std::vector<DriverPackage>& packages,
                                     const Recommendation& recommendation, const InstallChoice& choice) {
  const std::string name = !choice.package.empty() ? choice.package
                           : recommendation.best   ? recommendation.best->name
                                                   : "";
  const auto found =
      std::find_if(packages.begin(), packages.end(), [&](const auto& p) { return p.name == name; });
  return found == packages.end() ? nullptr : &*found;
}

Result<InstallPlan> make_plan(const HostRoot& root, InstallChoice choice) {
  const HostFacts facts = read_host_facts(root);
  if (facts.system.packages == PackageTool::kDnf) return plan_install_with_dnf(facts);
  PAGODA_ASSIGN(const auto journal, InstallJournal::read(root));
  choice.repair = journal && !journal->finished;
  for (const auto& package : choice.repair ? installed_packages(root) : std::vector<InstalledPackage>{}) {
    if (package.must_be_reinstalled && !journal->packages_before.contains(package.name))
      choice.broken.push_back(package.name);
  }
  Recommendation recommendation;
  std::vector<std::string> available;
  if (!facts.gpus.empty() && facts.system.packages == PackageTool::kApt) {
    PAGODA_ASSIGN(const auto packages, find_driver_packages(root, facts.system));
    recommendation = recommend(facts.gpus, packages);
    const DriverPackage* package = planned_package(packages, recommendation, choice);
    PAGODA_ASSIGN(available,
                  installable(root, companions(facts, package == nullptr ? DriverPackage{} : *package)));
  }
  return plan_install(facts, recommendation, available, choice);
}

void announce(size_t number, size_t count, const InstallStep& step) {
  const Paint paint = Paint::for_descriptor(STDOUT_FILENO);
  fmt::print("{} {}\n", paint(Ink::kBold, format("[{}/{}]", number, count)), step.title);
  std::fflush(stdout);
}

bool confirmed(const InstallOptions& options) {
  if (options.yes || !is_terminal(STDIN_FILENO)) return true;
  fmt::print("Go on? [y/N] ");
  std::fflush(stdout);
  char answer[16] = {};
  return std::fgets(answer, sizeof answer, stdin) != nullptr && (answer[0] == 'y' || answer[0] == 'Y');
}

int undo(const Invocation& invocation, const HostRoot& root) {
  if (const Status idle = wait_for_dpkg(root); !idle) return report_error(invocation, idle.error());
  const auto changed = undo_install(root, announce);
  if (!changed) return report_error(invocation, changed.error());
  fmt::print("what was added is removed\n");
  for (const auto& package : *changed) fmt::print("left at its newer version: {}\n", package);
  return kExitOk;
}

int install(const Invocation& invocation, const HostRoot& root, const InstallOptions& options) {
  if (!options.dry_run) {
    if (const Status idle = wait_for_dpkg(root); !idle) return report_error(invocation, idle.error());
  }
  const auto plan = make_plan(root, options.choice);
  if (!plan) return report_error(invocation, plan.error());
  fmt::print("{}", plan_text(*plan));
  if (options.dry_run) return kExitOk;
  if (read_host_system(root).packages == PackageTool::kDnf) {
    return report_error(
        invocation,
        {ErrorCode::kUnsupported,
         "these steps are not run on a dnf system: run them yourself (--dry-run prints them)", ""});
  }
  if (!confirmed(options)) return kExitFailure;
  std::fflush(stdout);
  if (const Status done = run_install(root, *plan, announce); !done)
    return report_error(invocation, done.error());
  fmt::print("installed; a reboot is due: reboot, then pagoda driver verify\n");
  return kExitOk;
}

}  // namespace

int run_driver_install(const Invocation& invocation) {
  InstallOptions options;
  const auto outcome = read_flags(install_table(options, invocation), invocation);
  if (outcome.exit) return *outcome.exit;
  const auto root = HostRoot::open(options.root);
  if (!root) return report_error(invocation, root.error());
  return options.undo ? undo(invocation, *root) : install(invocation, *root, options);
}

std::string unfinished_install(const HostRoot& root) {
  const auto journal = InstallJournal::read(root);
  if (!journal) return journal.error().message + "\n";
  return *journal && !(*journal)->finished ? state_text(root, **journal) : "";
}

}  // namespace pagoda::app
