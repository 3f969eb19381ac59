// `dcgmi fieldgroup`: fields that dmon may be told to show.
#include <algorithm>
#include <utility>

#include "app/boxed_tree.h"
#include "app/dcgmi_commands.h"
#include "app/dcgmi_field_words.h"
#include "app/dcgmi_session.h"
#include "app/flag_values.h"
#include "base/format.h"

namespace pagoda::app {
namespace {

using telemetry::DcgmStatus;
using telemetry::WatchState;

constexpr size_t kFieldsPerLine = 11;

void print(const BoxedTree& tree, bool json) {
  fmt::print("{}", json ? as_json(tree) : as_box(tree, 20, 60));
}

struct FieldGroupOptions {
  bool list = false, info = false, destroy = false, json = false;
  std::string create, fields;
  int group = -1;
};

BoxedTree field_group_tree(const telemetry::FieldGroup& group) {
  BoxedRow ids{"Field IDs", {}, {}};
  std::string line;
  for (size_t i = 0; i < group.fields.size(); ++i) {
    line += format("{}{}", group.fields[i], i + 1 < group.fields.size() ? ", " : "");
    if ((i + 1) % kFieldsPerLine == 0 || i + 1 == group.fields.size())
      ids.values.push_back(std::exchange(line, ""));
  }
  return {{"FIELD GROUPS"},
          {{"ID", {format("{}", group.id)}, {}}, {"Name", {group.name}, {}}, std::move(ids)}};
}

int create_field_group(const DcgmiSession& session, const FieldGroupOptions& o) {
  const auto fields = read_field_words(o.fields);
  if (!fields) return dcgmi_failure(DcgmStatus::kBadParameter, fields.error().message);
  unsigned id = 0;
  const auto done = session.change_state([&](WatchState& state) -> Status {
    const bool taken = std::any_of(state.field_groups.begin(), state.field_groups.end(),
                                   [&](const auto& group) { return group.name == o.create; });
    if (taken)
      return fail(ErrorCode::kInvalidArgument, format("Cannot create field group {}. Return: {}", o.create,
                                                      telemetry::sentence_of(DcgmStatus::kDuplicateKey)));
    telemetry::FieldGroup group{state.next_field_group++, o.create, {}};
    for (const telemetry::FieldRow* field : *fields) group.fields.push_back(field->id);
    id = group.id;
    state.field_groups.push_back(std::move(group));
    return {};
  });
  if (!done) return done.error();
  fmt::print("Successfully created field group \"{}\" with a field group ID of {}\n", o.create, id);
  return kExitOk;
}

int destroy_field_group(const DcgmiSession& session, int id) {
  const auto done = session.change_state([&](WatchState& state) -> Status {
    if (state.find_field_group(static_cast<unsigned>(id)) == nullptr)
      return fail(ErrorCode::kNotFound,
                  format("Cannot destroy field group {}. Return: The Group is not found.", id));
    std::erase_if(state.field_groups,
                  [&](const auto& group) { return group.id == static_cast<unsigned>(id); });
    return {};
  });
  if (!done) return done.error();
  fmt::print("Successfully removed field group {}\n", id);
  return kExitOk;
}

int show_field_groups(const DcgmiSession& session, const FieldGroupOptions& o) {
  auto state = session.load_state();
  if (!state) return state.error();
  if (o.info) {
    const auto* group = state->find_field_group(static_cast<unsigned>(o.group));
    if (group == nullptr)
      return dcgmi_failure(
          DcgmStatus::kNotConfigured,
          format("Unable to retrieve information about field group {}. Return: The Field Group is "
                 "not found.",
                 o.group));
    print(field_group_tree(*group), o.json);
    return kExitOk;
  }
  if (state->field_groups.empty()) {
    fmt::print("No field groups found. Please create one.\n");
    return kExitOk;
  }
  const size_t count = state->field_groups.size();
  if (!o.json) fmt::print("{} field group{}found.\n", count, count == 1 ? " " : "s ");
  for (const telemetry::FieldGroup& group : state->field_groups) print(field_group_tree(group), o.json);
  return kExitOk;
}

}  // namespace

int run_dcgmi_field_group(const std::string& program, DcgmiWords words) {
  FieldGroupOptions o;
  FlagTable table;
  table.usage = format("{} -l | -c NAME -f FIELDS | -i -g ID | -d -g ID", program);
  table.summary = "Groups of fields, for dmon -f.";
  table.flags = {
      dcgmi_flag("list", {"l"}, "", to_switch(&o.list), "all of them"),
      dcgmi_flag("create", {"c"}, "NAME", to_text(&o.create), "make one of the fields that -f names"),
      dcgmi_flag("fieldids", {"f"}, "FIELDS", to_text(&o.fields),
                 "by number or name: 150,DCGM_FI_DEV_POWER_USAGE"),
      dcgmi_flag("info", {"i"}, "", to_switch(&o.info), "what is in the one that -g names"),
      dcgmi_flag("delete", {"d"}, "", to_switch(&o.destroy), "do away with the one that -g names"),
      dcgmi_flag("fieldgroup", {"g"}, "ID", to_integer(&o.group, {0, 1 << 30}), "which"),
      dcgmi_flag("json", {"j"}, "", to_switch(&o.json), "-l and -i as JSON"),
  };
  const auto parsed = read_dcgmi_flags(table, words);
  if (!parsed) return parsed.error();
  const auto session = DcgmiSession::open();
  if (!session) return session.error();
  if (!o.create.empty()) {
    if (o.fields.empty())
      return dcgmi_failure(DcgmStatus::kBadParameter, "A field group needs fields: -f 150,155.");
    return create_field_group(*session, o);
  }
  if ((o.destroy || o.info) && o.group < 0)
    return dcgmi_failure(DcgmStatus::kBadParameter, "No field group ID given: -g names it.");
  if (o.destroy) return destroy_field_group(*session, o.group);
  if (o.list || o.info) return show_field_groups(*session, o);
  return dcgmi_failure(DcgmStatus::kBadParameter, "fieldgroup needs -l, -c, -i or -d.");
}

}  // namespace pagoda::app
