#include "driver/install_journal.h"

#include <fmt/format.h>
#include <array>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/format.h"
#include "driver/installed_packages.h"

namespace pagoda::driver {
namespace {

constexpr std::array<std::string_view, 4> kStateNames = {"pending", "running", "done", "failed"};

StepState state_named(const std::string& name) {
  for (size_t i = 0; i < kStateNames.size(); ++i) {
    if (kStateNames[i] == name) return static_cast<StepState>(i);
  }
  return StepState::kFailed;
}

}  // namespace

Result<std::optional<InstallJournal>> InstallJournal::read(const HostRoot& root) {
  const auto text = root.read(kInstallJournal);
  if (!text) return std::nullopt;
  const auto value = nlohmann::json::parse(*text, nullptr, false);
  const auto corrupt = [] {
    return fail(ErrorCode::kCorruptData,
                format("{} cannot be read; look at dpkg -l 'nvidia*', then remove it", kInstallJournal));
  };
  if (!value.is_object()) return corrupt();
  InstallJournal journal;
  try {
    journal.packages_before = value.at("packages_before").get<std::map<std::string, std::string>>();
    for (const auto& step : value.at("steps")) {
      journal.steps.push_back({step.at("title").get<std::string>(),
                               state_named(step.at("state").get<std::string>()), step.value("file", "")});
    }
    journal.finished = value.at("finished").get<bool>();
  } catch (const nlohmann::json::exception&) {
    return corrupt();
  }
  return journal;
}

Status InstallJournal::write(const HostRoot& root) const {
  nlohmann::ordered_json value;
  value["finished"] = finished;
  value["steps"] = nlohmann::ordered_json::array();
  for (const auto& step : steps) {
    nlohmann::ordered_json row = {{"title", step.title},
                                  {"state", kStateNames[static_cast<size_t>(step.state)]}};
    if (!step.file.empty()) row["file"] = step.file;
    value["steps"].push_back(std::move(row));
  }
  value["packages_before"] = packages_before;
  return write_file_atomically(root.outside(kInstallJournal), value.dump(1) + "\n", 0600);
}

std::string state_text(const HostRoot& root, const InstallJournal& journal) {
  std::string text;
  for (const auto& step : journal.steps) {
    if (step.state == StepState::kDone) continue;
    const std::string_view word = step.state == StepState::kPending   ? "not begun"
                                  : step.state == StepState::kRunning ? "begun and cut off"
                                                                      : "failed";
    text += format("  {}: {}\n", step.title, word);
  }
  std::vector<std::string> halfway, added;
  for (const auto& package : installed_packages(root)) {
    if (!package.whole) halfway.push_back(package.name);
    if (!journal.packages_before.contains(package.name)) added.push_back(package.name);
  }
  if (!halfway.empty()) text += format("  half-way installed: {}\n", fmt::join(halfway, " "));
  text += added.empty() ? std::string("  no package was added yet\n")
                        : format("  added so far: {}\n", fmt::join(added, " "));
  text += "  the running kernel and its modules are as they were until the next start\n";
  text += "To go on: pagoda driver install. To go back: pagoda driver install --undo.\n";
  return text;
}

}  // namespace pagoda::driver
