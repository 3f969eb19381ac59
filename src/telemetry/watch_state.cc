#include "telemetry/watch_state.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/format.h"

namespace pagoda::telemetry {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;

EntityId entity_from(const Json& word) {
  const auto text = word.get<std::string>();
  for (const EntityKind kind : {EntityKind::kGpu, EntityKind::kGpuInstance, EntityKind::kComputeInstance}) {
    const std::string prefix = to_word({kind, 0});
    const std::string stem = prefix.substr(0, prefix.size() - 1);
    if (text.starts_with(stem)) return {kind, static_cast<unsigned>(std::stoul(text.substr(stem.size())))};
  }
  throw std::invalid_argument(text);
}

Json to_json(const WatchState& state) {
  Json out;
  out["format"] = kFormat;
  out["next_group"] = state.next_group;
  out["next_field_group"] = state.next_field_group;
  out["groups"] = Json::array();
  for (const EntityGroup& group : state.groups) {
    Json words = Json::array();
    for (const EntityId id : group.entities) words.push_back(to_word(id));
    out["groups"].push_back({{"id", group.id}, {"name", group.name}, {"entities", words}});
  }
  out["field_groups"] = Json::array();
  for (const FieldGroup& group : state.field_groups)
    out["field_groups"].push_back({{"id", group.id}, {"name", group.name}, {"fields", group.fields}});
  out["health"] = Json::array();
  for (const auto& [group, watch] : state.health) {
    Json before = Json::array();
    for (const auto& [gpu, baseline] : watch.before) {
      Json counters = Json::array();
      for (const auto& [field, value] : baseline.counters) counters.push_back({field, value});
      before.push_back({{"gpu", gpu}, {"time_us", baseline.time_us}, {"counters", counters}});
    }
    out["health"].push_back({{"group", group}, {"systems", watch.systems}, {"before", before}});
  }
  out["policies"] = Json::array();
  for (const auto& [gpu, policy] : state.policies) {
    out["policies"].push_back({{"gpu", gpu},
                               {"conditions", policy.conditions},
                               {"max_pages", policy.max_pages},
                               {"max_temperature_c", policy.max_temperature_c},
                               {"max_power_w", policy.max_power_w},
                               {"action", policy.action},
                               {"validation", policy.validation}});
  }
  out["injected"] = Json::array();
  for (const InjectedValue& one : state.injected)
    out["injected"].push_back(
        {{"gpu", one.gpu}, {"field", one.field}, {"value", one.value}, {"time_us", one.time_us}});
  return out;
}

void read_health(const Json& in, WatchState& state) {
  for (const Json& row : in.at("health")) {
    HealthWatch& watch = state.health[row.at("group").get<unsigned>()];
    watch.systems = row.at("systems").get<unsigned>();
    for (const Json& gpu : row.at("before")) {
      HealthBaseline& baseline = watch.before[gpu.at("gpu").get<unsigned>()];
      baseline.time_us = gpu.at("time_us").get<std::int64_t>();
      for (const Json& counter : gpu.at("counters"))
        baseline.counters[counter.at(0).get<unsigned>()] = counter.at(1).get<double>();
    }
  }
}

// Throws what nlohmann throws where something is missing or of another type.
WatchState from_json(const Json& in) {
  WatchState state;
  state.next_group = in.at("next_group").get<unsigned>();
  state.next_field_group = in.at("next_field_group").get<unsigned>();
  for (const Json& row : in.at("groups")) {
    EntityGroup group{row.at("id").get<unsigned>(), row.at("name").get<std::string>(), {}};
    for (const Json& word : row.at("entities")) group.entities.push_back(entity_from(word));
    state.groups.push_back(std::move(group));
  }
  for (const Json& row : in.at("field_groups"))
    state.field_groups.push_back({row.at("id").get<unsigned>(), row.at("name").get<std::string>(),
                                  row.at("fields").get<std::vector<unsigned>>()});
  read_health(in, state);
  for (const Json& row : in.at("policies")) {
    state.policies[row.at("gpu").get<unsigned>()] = {row.at("conditions").get<unsigned>(),
                                                     row.at("max_pages").get<unsigned>(),
                                                     row.at("max_temperature_c").get<unsigned>(),
                                                     row.at("max_power_w").get<unsigned>(),
                                                     row.at("action").get<unsigned>(),
                                                     row.at("validation").get<unsigned>()};
  }
  for (const Json& row : in.at("injected"))
    state.injected.push_back({row.at("gpu").get<unsigned>(), row.at("field").get<unsigned>(),
                              row.at("value").get<std::string>(), row.at("time_us").get<std::int64_t>()});
  return state;
}

template <class Rows>
auto* find_by_id(Rows& rows, unsigned id) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.id == id; });
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace

EntityGroup* WatchState::find_group(unsigned id) {
  return find_by_id(groups, id);
}
FieldGroup* WatchState::find_field_group(unsigned id) {
  return find_by_id(field_groups, id);
}

std::string WatchStateFile::usual_path() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state == '/') return format("{}/pagoda/dcgmi.json", state);
  const char* home = std::getenv("HOME");
  return format("{}/.local/state/pagoda/dcgmi.json", home == nullptr ? "" : home);
}

Result<WatchState> WatchStateFile::read(bool set_aside, std::string* notice) const {
  const auto text = read_whole_file(path_);
  if (!text && text.error().code == ErrorCode::kNotFound) return WatchState{};
  if (!text) return Unexpected(text.error());
  const Json in = Json::parse(*text, nullptr, false);
  const bool dated = in.is_object() && in.contains("format") && in["format"].is_number_integer();
  if (dated && in["format"].get<int>() > kFormat)
    return fail(
        ErrorCode::kUnsupported,
        format("{} was written by a newer pagoda (format {}, this one knows {}); use that one, or move "
               "the file away",
               path_, in["format"].get<int>(), kFormat));
  if (dated && in["format"].get<int>() == kFormat) {
    try {
      return from_json(in);
    } catch (const std::exception&) {  // not what this format says: as good as unreadable
    }
  }
  *notice = format("{} is of an older format or damaged: groups, policies and watches begin anew", path_);
  if (set_aside && ::rename(path_.c_str(), (path_ + ".old").c_str()) == 0)
    *notice += format("; it is kept as {}.old", path_);
  return WatchState{};
}

Result<WatchState> WatchStateFile::load(std::string* notice) const {
  return read(false, notice);
}

Status WatchStateFile::change(const std::function<Status(WatchState&)>& body, std::string* notice) const {
  std::error_code fault;
  const auto folder = std::filesystem::path(path_).parent_path();
  if (std::filesystem::create_directories(folder, fault)) ::chmod(folder.c_str(), 0700);
  PAGODA_ASSIGN(const FileLock lock, FileLock::take(path_));
  PAGODA_ASSIGN(WatchState state, read(true, notice));
  PAGODA_TRY(body(state));
  return write_file_atomically(path_, to_json(state).dump(1) + "\n", 0600);
}

}  // namespace pagoda::telemetry
