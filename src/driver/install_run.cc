#include "driver/install_run.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/atomic_file.h"
#include "base/format.h"
#include "base/subprocess.h"
#include "driver/installed_packages.h"

namespace pagoda::driver {
namespace {

constexpr const char* kPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

Result<int> run_in_root(const HostRoot& root, const std::vector<std::string>& words) {
  Command command;
  if (!root.is_this_machine()) command.arguments = {"chroot", root.folder()};
  command.arguments.insert(command.arguments.end(), words.begin(), words.end());
  command.environment = {kPath, "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C.UTF-8", "HOME=/root"};
  return run_visible(command);
}

Status do_step(const HostRoot& root, const InstallStep& step) {
  if (step.command.empty()) return write_file_atomically(root.outside(step.file), step.content);
  PAGODA_TRY(wait_for_dpkg(root));
  PAGODA_ASSIGN(const int code, run_in_root(root, step.command));
  if (code == 0 || step.may_fail) return {};
  return fail(ErrorCode::kUnavailable, format("{} ended with {}", shell_words(step.command), code));
}

std::map<std::string, std::string> package_versions(const HostRoot& root) {
  std::map<std::string, std::string> versions;
  for (const auto& package : installed_packages(root)) versions[package.name] = package.version;
  return versions;
}

// A journal that was cut off keeps what was there before the first try.
Result<InstallJournal> begin_journal(const HostRoot& root, const InstallPlan& plan) {
  PAGODA_ASSIGN(const auto earlier, InstallJournal::read(root));
  InstallJournal journal;
  if (earlier && !earlier->finished) {
    journal.packages_before = earlier->packages_before;
    for (const auto& step : earlier->steps) {
      if (!step.file.empty()) journal.steps.push_back({step.title, StepState::kDone, step.file});
    }
  } else {
    journal.packages_before = package_versions(root);
  }
  for (const auto& step : plan.steps) journal.steps.push_back({step.title, StepState::kPending, step.file});
  return journal;
}

Status check_root_user() {
  if (geteuid() == 0) return {};
  return fail(ErrorCode::kUnauthorized, "installing packages needs root: sudo pagoda driver install");
}

}  // namespace

Status wait_for_dpkg(const HostRoot& root) {
  const std::string path = root.outside("/var/lib/dpkg/lock-frontend");
  constexpr int kSeconds = 120;
  for (int tries = 0; tries < kSeconds * 10; ++tries) {
    const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) return {};  // no dpkg has run here yet
    struct flock held {};
    held.l_type = F_WRLCK;
    held.l_whence = SEEK_SET;
    const bool free = fcntl(file, F_GETLK, &held) != 0 || held.l_type == F_UNLCK;
    close(file);
    if (free) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return fail(ErrorCode::kUnavailable,
              format("another dpkg or apt has held {} for {} seconds; run it again when that has ended", path,
                     kSeconds));
}

Status run_install(const HostRoot& root, const InstallPlan& plan, const StepListener& before_step) {
  PAGODA_TRY(check_root_user());
  PAGODA_ASSIGN(const auto lock, FileLock::take(root.outside(kInstallJournal), 0));
  PAGODA_ASSIGN(auto journal, begin_journal(root, plan));
  const size_t offset = journal.steps.size() - plan.steps.size();
  PAGODA_TRY(journal.write(root));
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    JournalStep& record = journal.steps[offset + i];
    before_step(i + 1, plan.steps.size(), plan.steps[i]);
    record.state = StepState::kRunning;
    PAGODA_TRY(journal.write(root));
    const Status done = do_step(root, plan.steps[i]);
    record.state = done ? StepState::kDone : StepState::kFailed;
    PAGODA_TRY(journal.write(root));
    if (done) continue;
    return fail(done.error().code,
                format("step {} of {} ({}) failed: {}\n{}", i + 1, plan.steps.size(), plan.steps[i].title,
                       done.error().message, state_text(root, journal)));
  }
  journal.finished = true;
  return journal.write(root);
}

Result<std::vector<std::string>> undo_install(const HostRoot& root, const StepListener& before_step) {
  PAGODA_TRY(check_root_user());
  PAGODA_ASSIGN(const auto lock, FileLock::take(root.outside(kInstallJournal), 0));
  PAGODA_ASSIGN(auto journal, InstallJournal::read(root));
  if (!journal)
    return fail(ErrorCode::kNotFound,
                "pagoda driver install was not run here: there is nothing to take back");
  std::vector<std::string> changed;
  // A package that cannot be configured is about to go: that it fails stops nothing.
  const InstallStep repair{
      "finish what dpkg was doing", {"dpkg", "--configure", "-a", "--force-confold"}, "", "", true};
  // By dpkg itself: apt refuses to touch what was cut off while it was unpacked.
  InstallStep purge{"remove what was added", {"dpkg", "--purge", "--force-remove-reinstreq"}, "", "", false};
  const size_t fixed_words = purge.command.size();
  for (const auto& package : installed_packages(root)) {
    const auto before = journal->packages_before.find(package.name);
    if (before == journal->packages_before.end()) {
      purge.command.push_back(package.name);
    } else if (before->second != package.version) {
      changed.push_back(format("{} ({} before, {} now)", package.name, before->second, package.version));
    }
  }
  before_step(1, 2, repair);
  PAGODA_TRY(do_step(root, repair));
  if (purge.command.size() > fixed_words) {
    before_step(2, 2, purge);
    PAGODA_TRY(do_step(root, purge));
  }
  for (const auto& step : journal->steps) {
    if (!step.file.empty()) unlink(root.outside(step.file).c_str());
  }
  journal->finished = true;
  PAGODA_TRY(journal->write(root));
  return changed;
}

}  // namespace pagoda::driver
