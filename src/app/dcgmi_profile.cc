// `dcgmi profile`: which profiling metrics a GPU has; `dcgmi test`: values in place of readings.
#include <chrono>
#include <nlohmann/json.hpp>

#include "app/dcgmi_commands.h"
#include "app/dcgmi_field_words.h"
#include "app/dcgmi_session.h"
#include "app/flag_values.h"
#include "base/format.h"
#include "telemetry/injected_values.h"

namespace pagoda::app {
namespace {

using telemetry::DcgmStatus;
using telemetry::FieldRow;

constexpr unsigned kProfileGroup = 1;  // all metrics of GPM can be read together

struct ProfileOptions {
  bool list = false, pause = false, resume = false, json = false;
  std::string group, entities;
};

std::vector<const FieldRow*> profiling_fields() {
  std::vector<const FieldRow*> rows;
  for (const FieldRow& row : telemetry::field_rows()) {
    if (row.gpm != 0 && row.name.starts_with("DCGM_FI_PROF_")) rows.push_back(&row);
  }
  return rows;
}

// The metrics that the first GPU with any has; GPUs of one machine are alike in this.
int list_metrics(const DcgmiSession& session, const std::vector<size_t>& places, bool json) {
  const auto fields = profiling_fields();
  telemetry::GpuSampler sampler(session.nvml(), session.handles_of(places), telemetry::needs_of(fields));
  const telemetry::GpuSample sample = sampler.read();
  driver::Absence why = driver::kNotRead;
  for (size_t i = 0; i < places.size(); ++i) {
    if (!sample.activity[i].profile) {
      why = sample.activity[i].profile.error();
      continue;
    }
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    const std::string rule =
        format("+{}+{}+{}+\n", std::string(16, '-'), std::string(10, '-'), std::string(66, '-'));
    std::string out =
        rule + format("| {:<14} | {:<8} | {:<64} |\n", "Group.Subgroup", "Field ID", "Field Tag") + rule;
    for (const FieldRow* row : fields) {
      if (!telemetry::read_field(*row, {sample, i, {}})) continue;
      out += format("| A.{:<12} | {:<8} | {:<64} |\n", kProfileGroup, row->id, row->tag);
      list.push_back({{"group", format("A.{}", kProfileGroup)}, {"field_id", row->id}, {"tag", row->tag}});
    }
    fmt::print("{}", json ? list.dump(4) + "\n" : out + rule);
    return kExitOk;
  }
  const bool none = why.reason == driver::AbsenceReason::kUnsupported;
  return dcgmi_failure(
      none ? DcgmStatus::kNotSupported : DcgmStatus::kNvmlError,
      none ? "Unable to Get supported metric groups: profiling metrics come with Hopper and later "
             "GPUs, and there is none here."
           : format("Unable to Get supported metric groups: {}.", driver::sentence_of(why.code)));
}

struct TestOptions {
  bool inject = false, introspect = false;
  std::string field, value;
  int gpu = 0, offset_s = 0;
};

int inject_value(const DcgmiSession& session, const TestOptions& o) {
  const auto fields = read_field_words(o.field);
  if (!fields || fields->size() != 1)
    return dcgmi_failure(
        DcgmStatus::kBadParameter,
        fields ? "-f names one field." : format("Unable to parse fieldId. {}", fields.error().message));
  if (const auto value = telemetry::parse_value(*fields->front(), o.value); !value)
    return dcgmi_failure(DcgmStatus::kBadParameter,
                         format("Unable to parse value. {}", value.error().message));
  const auto gpu = static_cast<unsigned>(o.gpu);
  if (telemetry::find_entity(session.entities(), {telemetry::EntityKind::kGpu, gpu}) == nullptr)
    return dcgmi_failure(DcgmStatus::kBadParameter,
                         format("Unable to inject info. There is no GPU {}.", gpu));
  const auto now = std::chrono::duration_cast<std::chrono::microseconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  const auto done = session.change_state([&](telemetry::WatchState& state) -> Status {
    std::erase_if(state.injected, [&](const telemetry::InjectedValue& one) {
      return one.time_us + telemetry::kInjectionLastsUs < now ||
             (one.gpu == gpu && one.field == fields->front()->id);
    });
    state.injected.push_back({gpu, fields->front()->id, o.value, now + o.offset_s * std::int64_t{1'000'000}});
    return {};
  });
  if (!done) return done.error();
  fmt::print("Successfully injected field info.\n");
  return kExitOk;
}

}  // namespace

int run_dcgmi_profile(const std::string& program, DcgmiWords words) {
  ProfileOptions o;
  FlagTable table;
  table.usage = format("{} -l [-g GROUP | -i ENTITIES] [-j] | --pause | --resume", program);
  table.summary = "Profiling metrics.";
  table.flags = {
      dcgmi_flag("list", {"l"}, "", to_switch(&o.list), "the metrics that the GPUs have"),
      dcgmi_flag("group-id", {"g"}, "GROUP", to_text(&o.group), "of this group (default: all GPUs)"),
      dcgmi_flag("entity-id", {"i", "gpu-id"}, "ENTITIES", to_text(&o.entities), "of these"),
      dcgmi_flag("pause", {}, "", to_switch(&o.pause),
                 "nothing to do: metrics are read only while somebody asks"),
      dcgmi_flag("resume", {}, "", to_switch(&o.resume), "the same"),
      dcgmi_flag("json", {"j"}, "", to_switch(&o.json), "as JSON"),
  };
  const auto parsed = read_dcgmi_flags(table, words);
  if (!parsed) return parsed.error();
  if (o.pause || o.resume) {
    fmt::print("Successfully {} profiling.\n", o.pause ? "paused" : "resumed");
    fmt::print(stderr, "Nothing was running: without a daemon, metrics are read only while somebody asks.\n");
    return kExitOk;
  }
  if (!o.list) return dcgmi_failure(DcgmStatus::kBadParameter, "profile needs -l, --pause or --resume.");
  const auto session = DcgmiSession::open();
  if (!session) return session.error();
  const auto state = session->load_state();
  if (!state) return state.error();
  Result<std::vector<telemetry::EntityId>> ids = telemetry::parse_entities(o.entities, session->entities());
  if (o.entities.empty()) ids = session->group(o.group, *state).map([](ChosenGroup g) { return g.entities; });
  if (!ids) return dcgmi_failure(DcgmStatus::kBadParameter, ids.error().message);
  const auto places = session->gpus_of(*ids);
  if (places.empty()) return dcgmi_failure(DcgmStatus::kNoData, "No supported GPUs were found.");
  return list_metrics(*session, places, o.json);
}

int run_dcgmi_test(const std::string& program, DcgmiWords words) {
  TestOptions o;
  FlagTable table;
  table.usage = format("{} --inject --gpuid ID -f FIELD -v VALUE [-o SECONDS]", program);
  table.summary =
      "A value that stands for a reading of one GPU for a minute: health -c and policy --reg meet it.";
  table.flags = {
      dcgmi_flag("inject", {}, "", to_switch(&o.inject), "do it"),
      dcgmi_flag("gpuid", {}, "ID", to_integer(&o.gpu, {0, 1 << 20}), "of this GPU (default: 0)"),
      dcgmi_flag("field", {"f"}, "FIELD", to_text(&o.field), "the field, by number or name"),
      dcgmi_flag("value", {"v"}, "VALUE", to_text(&o.value), "what it is"),
      dcgmi_flag("offset", {"o"}, "SECONDS", to_integer(&o.offset_s, {-60, 1 << 20}),
                 "from so many seconds on"),
  };
  const auto parsed = read_dcgmi_flags(table, words);
  if (!parsed) return parsed.error();
  if (!o.inject || o.field.empty() || o.value.empty())
    return dcgmi_failure(DcgmStatus::kBadParameter, "test needs --inject, -f FIELD and -v VALUE.");
  const auto session = DcgmiSession::open();
  if (!session) return session.error();
  return inject_value(*session, o);
}

}  // namespace pagoda::app
