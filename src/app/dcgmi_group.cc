// `dcgmi group`: GPUs and instances that other parts may be told to look at.
#include <algorithm>

#include "app/boxed_tree.h"
#include "app/dcgmi_commands.h"
#include "app/dcgmi_session.h"
#include "app/flag_values.h"
#include "base/format.h"

namespace pagoda::app {
namespace {

using telemetry::DcgmStatus;
using telemetry::WatchState;

constexpr size_t kMostGroups = 64;

struct GroupOptions {
  bool list = false, info = false, all_gpus = false, all_switches = false, json = false;
  std::string create, add, remove;
  int group = -1, destroy = -1;
};

BoxedRow group_row(const std::string& label, unsigned id, const std::string& name,
                   const std::vector<telemetry::EntityId>& entities) {
  std::string list;
  for (const telemetry::EntityId entity : entities)
    list += format("{}{}", list.empty() ? "" : ", ", telemetry::to_text(entity));
  return {label,
          {},
          {{"Group ID", {format("{}", id)}, {}},
           {"Group Name", {name}, {}},
           {"Entities", {list.empty() ? "None" : list}, {}}}};
}

void print(const BoxedTree& tree, bool json) {
  fmt::print("{}", json ? as_json(tree) : as_box(tree, 20, 60));
}

int list_groups(const DcgmiSession& session, bool json) {
  const auto state = session.load_state();
  if (!state) return state.error();
  BoxedRow groups{"Groups", {}, {}};
  for (const char* fixed : {"0", "1"}) {
    const auto group = session.group(fixed, *state);
    groups.rows.push_back(group_row(fixed, group->id, group->name, group->entities));
  }
  for (const telemetry::EntityGroup& group : state->groups)
    groups.rows.push_back(group_row(format("{}", group.id), group.id, group.name, group.entities));
  const std::string count = format("{} groups found.", groups.rows.size());
  print({{"GROUPS", count}, {std::move(groups)}}, json);
  return kExitOk;
}

int show_group(const DcgmiSession& session, const GroupOptions& o) {
  const auto state = session.load_state();
  if (!state) return state.error();
  const auto group = session.group(format("{}", o.group), *state);
  if (!group) return dcgmi_failure(DcgmStatus::kNotConfigured, group.error().message);
  print({{"GROUP INFO"}, {group_row(format("{}", group->id), group->id, group->name, group->entities)}},
        o.json);
  return kExitOk;
}

// What -a and -r name, or the reason why not, as dcgmi says it.
Result<std::vector<telemetry::EntityId>> named_entities(const DcgmiSession& session,
                                                        const std::string& list) {
  return telemetry::parse_entities(list, session.entities());
}

int create_group(const DcgmiSession& session, const GroupOptions& o) {
  unsigned id = 0;
  const auto done = session.change_state([&](WatchState& state) -> Status {
    if (state.groups.size() >= kMostGroups)
      return fail(ErrorCode::kInvalidArgument, format("Cannot create group {}. Return: {}", o.create,
                                                      telemetry::sentence_of(DcgmStatus::kMaxLimit)));
    telemetry::EntityGroup group{state.next_group++, o.create, {}};
    if (o.all_gpus) {
      PAGODA_ASSIGN(const ChosenGroup all, session.group("", state));
      group.entities = all.entities;
    } else if (!o.add.empty()) {
      PAGODA_ASSIGN(group.entities, named_entities(session, o.add));
    }
    id = group.id;
    state.groups.push_back(std::move(group));
    return {};
  });
  if (!done) return done.error();
  fmt::print("Successfully created group \"{}\" with a group ID of {}\n", o.create, id);
  if (!o.add.empty()) fmt::print("Add to group operation successful.\n");
  std::fflush(stdout);
  if (o.add.empty() && !o.all_gpus && !o.all_switches)
    fmt::print(
        stderr,
        "The group is empty: `group -g {} -a 0,1` adds GPUs, `group -c NAME --default` makes one of all. "
        "Other parts take all GPUs where no group is named.\n",
        id);
  return kExitOk;
}

Status add_to(telemetry::EntityGroup& group, const std::vector<telemetry::EntityId>& ids) {
  for (const telemetry::EntityId id : ids) {
    if (std::find(group.entities.begin(), group.entities.end(), id) != group.entities.end())
      return fail(
          ErrorCode::kInvalidArgument,
          format("Unable to perform add of {} into group {}. Return: {}.\nThe GPU was not found or is "
                 "already in the group.",
                 telemetry::to_text(id), group.id, telemetry::sentence_of(DcgmStatus::kBadParameter)));
    group.entities.push_back(id);
  }
  return {};
}
Status remove_from(telemetry::EntityGroup& group, const std::vector<telemetry::EntityId>& ids) {
  for (const telemetry::EntityId id : ids) {
    const auto found = std::find(group.entities.begin(), group.entities.end(), id);
    if (found == group.entities.end())
      return fail(
          ErrorCode::kInvalidArgument,
          format("Unable to perform remove of {} in group {}. Return: {}.\nThe GPU was not found or is "
                 "not part of the group.",
                 telemetry::to_text(id), group.id, telemetry::sentence_of(DcgmStatus::kBadParameter)));
    group.entities.erase(found);
  }
  return {};
}

int change_group(const DcgmiSession& session, const GroupOptions& o) {
  const bool adding = !o.add.empty();
  const auto done = session.change_state([&](WatchState& state) -> Status {
    auto* group = state.find_group(static_cast<unsigned>(o.group));
    if (group == nullptr)
      return fail(
          ErrorCode::kNotFound,
          format("Unable to perform {} group {}. Return: {}", adding ? "add to" : "remove from", o.group,
                 o.group <= 1 ? "The group is always that of all devices." : "The Group is not found."));
    PAGODA_ASSIGN(const auto ids, named_entities(session, adding ? o.add : o.remove));
    return adding ? add_to(*group, ids) : remove_from(*group, ids);
  });
  if (!done) return done.error();
  fmt::print("{} group operation successful.\n", adding ? "Add to" : "Remove from");
  return kExitOk;
}

int destroy_group(const DcgmiSession& session, unsigned id) {
  const auto done = session.change_state([&](WatchState& state) -> Status {
    if (state.find_group(id) == nullptr)
      return fail(ErrorCode::kNotFound, format("Cannot destroy group {}. Return: {}.", id,
                                               id <= 1 ? "It is always there" : "The Group is not found"));
    std::erase_if(state.groups, [&](const auto& group) { return group.id == id; });
    state.health.erase(id);
    return {};
  });
  if (!done) return done.error();
  fmt::print("Successfully removed group {}\n", id);
  return kExitOk;
}

}  // namespace

int run_dcgmi_group(const std::string& program, DcgmiWords words) {
  GroupOptions o;
  FlagTable table;
  table.usage =
      format("{} -l | -c NAME [--default | -a ENTITIES] | -g ID -i | -g ID -a|-r ENTITIES | -d ID", program);
  table.summary = "Groups of GPUs and MIG instances.";
  table.flags = {
      dcgmi_flag("list", {"l"}, "", to_switch(&o.list), "all groups"),
      dcgmi_flag("create", {"c"}, "NAME", to_text(&o.create),
                 "make one; empty unless --default or -a is there"),
      dcgmi_flag("default", {}, "", to_switch(&o.all_gpus), "with -c: of all GPUs"),
      dcgmi_flag("defaultnvswitches", {}, "", to_switch(&o.all_switches),
                 "with -c: of all NVSwitches, which NVML does not tell: empty"),
      dcgmi_flag("group", {"g"}, "ID", to_integer(&o.group, {0, 1 << 30}), "the group that -i, -a, -r mean"),
      dcgmi_flag("info", {"i"}, "", to_switch(&o.info), "what is in it"),
      dcgmi_flag("add", {"a"}, "ENTITIES", to_text(&o.add),
                 "put in: 0,gpu:1,instance:2,compute_instance:3,0/1/0"),
      dcgmi_flag("remove", {"r"}, "ENTITIES", to_text(&o.remove), "take out"),
      dcgmi_flag("delete", {"d"}, "ID", to_integer(&o.destroy, {0, 1 << 30}), "do away with a group"),
      dcgmi_flag("json", {"j"}, "", to_switch(&o.json), "-l and -i as JSON"),
  };
  const auto parsed = read_dcgmi_flags(table, words);
  if (!parsed) return parsed.error();
  const auto session = DcgmiSession::open();
  if (!session) return session.error();
  if (o.list) return list_groups(*session, o.json);
  if (!o.create.empty()) return create_group(*session, o);
  if (o.destroy >= 0) return destroy_group(*session, static_cast<unsigned>(o.destroy));
  if (o.group < 0) return dcgmi_failure(DcgmStatus::kBadParameter, "group needs -l, -c, -g or -d.");
  if (!o.add.empty() && !o.remove.empty())
    return dcgmi_failure(DcgmStatus::kBadParameter,
                         "Both add and remove device are set. Please use one at a time.");
  if (!o.add.empty() || !o.remove.empty()) return change_group(*session, o);
  if (o.info) return show_group(*session, o);
  return dcgmi_failure(DcgmStatus::kBadParameter, "No action has been specified for the group.");
}

}  // namespace pagoda::app
