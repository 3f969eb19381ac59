// `dcgmi policy`: --set, --get, --clear, and --reg, which stays and tells violations as they happen.
#include <algorithm>

#include "app/boxed_tree.h"
#include "app/dcgmi_commands.h"
#include "app/dcgmi_session.h"
#include "app/flag_values.h"
#include "app/policy_listener.h"
#include "base/format.h"

namespace pagoda::app {
namespace {

using telemetry::DcgmStatus;
using telemetry::Policy;

constexpr std::string_view kDifferent = "****";

struct Options {
  bool get = false, reg = false, clear = false, verbose = false, json = false;
  bool ecc = false, pcie = false, nvlink = false, xid = false;
  std::string set, group;
  int pages = -1, temperature = -1, power = -1;
};

std::vector<std::string> condition_words(const Policy& policy) {
  std::vector<std::string> words;
  const auto add = [&](unsigned condition, std::string word) {
    if ((policy.conditions & condition) != 0) words.push_back(std::move(word));
  };
  add(Policy::kDoubleBit, "Double-bit ECC errors");
  add(Policy::kPcie, "PCI errors and replays");
  add(Policy::kRetiredPages, format("Max retired pages threshold - {}", policy.max_pages));
  add(Policy::kThermal, format("Max temperature threshold - {}", policy.max_temperature_c));
  add(Policy::kPower, format("Max power threshold - {}", policy.max_power_w));
  add(Policy::kNvLink, "NVLink Errors");
  add(Policy::kXid, "XID error detected.");
  if (words.empty()) words.emplace_back("None");
  return words;
}

// The policies of one box: that of one GPU, or of a group, where stars say that they differ.
BoxedTree policy_tree(const std::string& head, const std::vector<Policy>& policies) {
  const auto row = [&](std::string label, const auto& words) {
    const std::vector<std::string> first = words(policies[0]);
    const bool same =
        std::all_of(policies.begin(), policies.end(), [&](const Policy& p) { return words(p) == first; });
    return BoxedRow{std::move(label), same ? first : std::vector<std::string>{std::string(kDifferent)}, {}};
  };
  const auto one = [](std::string_view text) { return std::vector<std::string>{std::string(text)}; };
  BoxedTree tree{{"Policy Information", head}, {}};
  tree.rows.push_back(row("Violation conditions", condition_words));
  tree.rows.push_back(row("Isolation mode", [&](const Policy&) { return one("Manual"); }));
  tree.rows.push_back(
      row("Action on violation", [&](const Policy& p) { return one(p.action == 0 ? "None" : "Reset GPU"); }));
  tree.rows.push_back(
      row("Validation after action", [&](const Policy& p) { return one(validation_words(p.validation)); }));
  tree.rows.push_back(row("Validation failure action", [&](const Policy&) { return one("None"); }));
  return tree;
}

std::vector<unsigned> gpu_numbers(const DcgmiSession& session, const ChosenGroup& group) {
  std::vector<unsigned> numbers;
  for (const size_t place : session.gpus_of(group.entities))
    numbers.push_back(session.machine().gpus[place].index);
  return numbers;
}

int get_policy(const DcgmiSession& session, const ChosenGroup& group, const telemetry::WatchState& state,
               const Options& o) {
  const auto numbers = gpu_numbers(session, group);
  if (numbers.empty()) return dcgmi_failure(DcgmStatus::kNoData, "The group has no GPUs.");
  std::vector<Policy> policies;
  for (const unsigned gpu : numbers) {
    const auto found = state.policies.find(gpu);
    policies.push_back(found == state.policies.end() ? Policy{} : found->second);
  }
  if (!o.json) fmt::print("Policy information\n");
  const auto print = [&](const BoxedTree& tree) {
    fmt::print("{}", o.json ? as_json(tree) : as_box(tree, 30, 50));
  };
  if (o.verbose) {
    for (size_t i = 0; i < numbers.size(); ++i)
      print(policy_tree(format("GPU ID: {}", numbers[i]), {policies[i]}));
    return kExitOk;
  }
  print(policy_tree(group.name, policies));
  if (!o.json) fmt::print("**** Non-homogenous settings across group. Use with -v flag to see details.\n");
  return kExitOk;
}

unsigned conditions_of(const Options& o) {
  unsigned conditions = 0;
  if (o.ecc) conditions |= Policy::kDoubleBit;
  if (o.pcie) conditions |= Policy::kPcie;
  if (o.pages >= 0) conditions |= Policy::kRetiredPages;
  if (o.temperature >= 0) conditions |= Policy::kThermal;
  if (o.power >= 0) conditions |= Policy::kPower;
  if (o.nvlink) conditions |= Policy::kNvLink;
  if (o.xid) conditions |= Policy::kXid;
  return conditions;
}

// "1,2": action, validation.
Result<Policy> policy_of(const Options& o) {
  Policy policy;
  policy.conditions = conditions_of(o);
  policy.max_pages = static_cast<unsigned>(std::max(o.pages, 0));
  policy.max_temperature_c = static_cast<unsigned>(std::max(o.temperature, 0));
  policy.max_power_w = static_cast<unsigned>(std::max(o.power, 0));
  if (policy.conditions == 0)
    return fail(ErrorCode::kInvalidArgument, "No conditions specified: -e, -p, -M, -T, -P, -n or -x.");
  if (o.set.size() != 3 || o.set[1] != ',')
    return fail(ErrorCode::kInvalidArgument, "Must use action,validation (csv) format, as in --set 0,1.");
  if (o.set[0] != '0' && o.set[0] != '1')
    return fail(ErrorCode::kInvalidArgument, "The action must be 0 or 1.");
  if (o.set[2] < '0' || o.set[2] > '3')
    return fail(ErrorCode::kInvalidArgument, "The validation must be between 0 and 3 (inclusive).");
  policy.action = static_cast<unsigned>(o.set[0] - '0');
  policy.validation = static_cast<unsigned>(o.set[2] - '0');
  return policy;
}

int set_policy(const DcgmiSession& session, const ChosenGroup& group, const Policy& policy) {
  const auto numbers = gpu_numbers(session, group);
  if (numbers.empty()) return dcgmi_failure(DcgmStatus::kNoData, "The group has no GPUs.");
  const auto done = session.change_state([&](telemetry::WatchState& state) -> Status {
    for (const unsigned gpu : numbers) {
      state.policies.erase(gpu);
      if (policy.conditions != 0) state.policies[gpu] = policy;
    }
    return {};
  });
  if (!done) return done.error();
  fmt::print("Policy successfully set.\n");
  return kExitOk;
}

int listen(const DcgmiSession& session, const ChosenGroup& group, const telemetry::WatchState& state) {
  std::map<unsigned, Policy> policies;
  std::vector<size_t> places;
  for (const size_t place : session.gpus_of(group.entities)) {
    const auto found = state.policies.find(session.machine().gpus[place].index);
    if (found == state.policies.end()) continue;
    policies.insert(*found);
    places.push_back(place);
  }
  if (policies.empty())
    return dcgmi_failure(
        DcgmStatus::kNotConfigured,
        "Cannot register to receive policy violations: no policy is set for a GPU of this group; "
        "`policy --set 0,0 -x` sets one.");
  listen_for_violations(session, places, std::move(policies));
  return kExitOk;
}

FlagTable policy_flags(const std::string& program, Options& o) {
  FlagTable table;
  table.usage = format("{} --set ACTION,VALIDATION CONDITIONS | --get | --reg | --clear [-g GROUP]", program);
  table.summary = "What may not happen to GPUs. --reg stays, tells violations as they happen, and acts.";
  table.flags = {
      dcgmi_flag("set", {}, "ACTION,VALIDATION", to_text(&o.set),
                 "action 0 none, 1 reset the GPU; validation 0 none, 1 to 3 the diagnostic of that level"),
      dcgmi_flag("get", {}, "", to_switch(&o.get), "what is set"),
      dcgmi_flag("reg", {}, "", to_switch(&o.reg), "listen for violations, until it is ended"),
      dcgmi_flag("clear", {}, "", to_switch(&o.clear), "nothing is a violation any more"),
      dcgmi_flag("group", {"g"}, "GROUP", to_text(&o.group), "of this group (default: all GPUs)"),
      dcgmi_flag("eccerrors", {"e"}, "", to_switch(&o.ecc), "violated by: a double-bit ECC error"),
      dcgmi_flag("pcierrors", {"p"}, "", to_switch(&o.pcie), "violated by: a PCIe replay"),
      dcgmi_flag("maxpages", {"M"}, "N", to_integer(&o.pages, {0, 1 << 30}),
                 "violated by: more retired pages"),
      dcgmi_flag("maxtemp", {"T"}, "C", to_integer(&o.temperature, {0, 1 << 30}),
                 "violated by: a higher temperature"),
      dcgmi_flag("maxpower", {"P"}, "W", to_integer(&o.power, {0, 1 << 30}),
                 "violated by: a higher power draw"),
      dcgmi_flag("nvlinkerrors", {"n"}, "", to_switch(&o.nvlink), "violated by: an NVLink error"),
      dcgmi_flag("xiderrors", {"x"}, "", to_switch(&o.xid), "violated by: an XID"),
      dcgmi_flag("verbose", {"v"}, "", to_switch(&o.verbose), "with --get: GPU by GPU"),
      dcgmi_flag("json", {"j"}, "", to_switch(&o.json), "--get as JSON"),
  };
  return table;
}

}  // namespace

int run_dcgmi_policy(const std::string& program, DcgmiWords words) {
  Options o;
  FlagTable table = policy_flags(program, o);
  const auto parsed = read_dcgmi_flags(table, words);
  if (!parsed) return parsed.error();
  Policy policy;
  if (!o.set.empty()) {
    const auto wanted = policy_of(o);
    if (!wanted) return dcgmi_failure(DcgmStatus::kBadParameter, wanted.error().message);
    policy = *wanted;
  }
  const auto session = DcgmiSession::open();
  if (!session) return session.error();
  const auto state = session->load_state();
  if (!state) return state.error();
  const auto group = session->group(o.group, *state);
  if (!group)
    return dcgmi_failure(DcgmStatus::kNotConfigured,
                         format("Cannot get group info. Return: {}", group.error().message));
  if (!o.set.empty() || o.clear) return set_policy(*session, *group, policy);
  if (o.get) return get_policy(*session, *group, *state, o);
  if (o.reg) return listen(*session, *group, *state);
  return dcgmi_failure(DcgmStatus::kBadParameter, "policy needs --set, --get, --reg or --clear.");
}

}  // namespace pagoda::app
