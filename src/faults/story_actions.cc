#include "faults/story_actions.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "faults/remedies.h"

namespace pagoda::faults {
namespace {

// Consequences of these kinds end with their cause: nothing of their own is to be done.
bool ends_with_cause(Kind kind) {
  constexpr std::array kKinds = {Kind::kCleanup,       Kind::kServerEnd, Kind::kNcclSymptom, Kind::kCudaStart,
                                 Kind::kDriverSymptom, Kind::kReading,   Kind::kNccl,        Kind::kCudaFault,
                                 Kind::kContainer,     Kind::kOffBus,    Kind::kFabric,      Kind::kDriver};
  return std::find(kKinds.begin(), kKinds.end(), kind) != kKinds.end();
}

// Where one makes the other superfluous or wrong.
struct Supersedes {
  std::string_view kept, dropped;
};
constexpr std::array kSupersedes = {
    Supersedes{"reset-gpu", "reset-gpu-later"},
    Supersedes{"reboot-node", "reset-gpu-later"},
    Supersedes{"recover", "reboot-node"},
    Supersedes{"recover", "reset-gpu"},
    Supersedes{"recover", "reset-gpu-later"},
    Supersedes{"drain-node", "keep-node"},
    Supersedes{"reset-gpu", "keep-node"},
    Supersedes{"replace-gpu", "replace-if-again"},
    Supersedes{"check-slot-hardware", "check-slot-power-heat"},
    Supersedes{"check-slot-hardware", "board-if-again"},
};

// Before everything else, and after it.
constexpr std::array<std::string_view, 3> kFirst = {"stop-application", "restart-application", "drain-node"};
constexpr std::array<std::string_view, 8> kLast = {
    "fix-application", "keep-node",       "board-if-again", "replace-if-again",
    "pin-driver",      "update-firmware", "update-driver",  "check-nvlink-hardware"};

template <size_t N>
bool is_one_of(const std::array<std::string_view, N>& keys, std::string_view key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

int rank_of(std::string_view key) {
  return is_one_of(kFirst, key) ? 0 : is_one_of(kLast, key) ? 2 : 1;
}

struct ToDo {
  std::string_view key;
  const Fields* fields;
};

std::vector<ToDo> steps_of(const std::vector<Finding>& findings) {
  std::vector<ToDo> steps;
  for (size_t i = 0; i < findings.size(); ++i) {
    if (i > 0 && ends_with_cause(findings[i].fault->kind)) continue;
    if (i > 0 && findings[i].fault == findings.front().fault) continue;
    for (const std::string& key : findings[i].remedies) {
      const bool known = std::any_of(steps.begin(), steps.end(), [&](const ToDo& s) { return s.key == key; });
      if (!known) steps.push_back({key, &findings[i].fields});
    }
  }
  return steps;
}

}  // namespace

std::vector<Action> actions_of(const std::vector<Finding>& findings) {
  std::vector<ToDo> steps = steps_of(findings);
  const auto has = [&](std::string_view key) {
    return std::any_of(steps.begin(), steps.end(), [&](const ToDo& s) { return s.key == key; });
  };
  std::vector<std::string_view> dropped;
  for (const Supersedes& rule : kSupersedes) {
    if (has(rule.kept)) dropped.push_back(rule.dropped);
  }
  // What the driver asks for after a fall off the bus says that the slot is not what it suspects.
  if (has("recover") && findings.front().fault->kind == Kind::kOffBus)
    dropped.push_back("check-slot-power-heat");
  std::erase_if(steps, [&](const ToDo& s) {
    return std::find(dropped.begin(), dropped.end(), s.key) != dropped.end();
  });
  std::stable_sort(steps.begin(), steps.end(),
                   [](const ToDo& a, const ToDo& b) { return rank_of(a.key) < rank_of(b.key); });
  std::vector<Action> actions;
  for (const ToDo& step : steps) {
    const Remedy* remedy = find_remedy(step.key);
    if (remedy != nullptr)
      actions.push_back({fill(remedy->text, *step.fields), fill(remedy->command, *step.fields)});
  }
  return actions;
}

}  // namespace pagoda::faults
