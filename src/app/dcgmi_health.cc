// `dcgmi health`: -s sets watches, -f tells them, -c checks them, --clear ends them.
#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <thread>

#include "app/boxed_tree.h"
#include "app/dcgmi_commands.h"
#include "app/dcgmi_session.h"
#include "app/flag_values.h"
#include "app/kernel_xids.h"
#include "base/format.h"
#include "telemetry/health_check.h"
#include "telemetry/injected_values.h"

namespace pagoda::app {
namespace {

using telemetry::DcgmStatus;
using telemetry::Health;
using telemetry::Incident;

// XIDs that the driver tells while it is asked.
constexpr std::chrono::milliseconds kListen(300);

struct Options {
  std::string set, group;
  bool fetch = false, check = false, clear = false, json = false;
};

struct LetterRow {
  char letter;
  unsigned systems;
};
constexpr std::array kLetters = {
    LetterRow{'a', telemetry::kAllHealth},
    LetterRow{'p', telemetry::kPcieHealth},
    LetterRow{'m', telemetry::kMemoryHealth},
    LetterRow{'i', telemetry::kInforomHealth},
    LetterRow{'t', telemetry::kThermalHealth | telemetry::kPowerHealth},
    LetterRow{'n', telemetry::kNvLinkHealth},
    LetterRow{'s', telemetry::kSmHealth},
    LetterRow{'d', telemetry::kDriverHealth},
};

std::optional<unsigned> systems_of(const std::string& letters) {
  unsigned systems = 0;
  for (const char c : letters) {
    const auto row =
        std::find_if(kLetters.begin(), kLetters.end(), [&](const LetterRow& r) { return r.letter == c; });
    if (row == kLetters.end()) return std::nullopt;
    systems |= row->systems;
  }
  return systems;
}

std::int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// Reads the group's GPUs once; with XIDs since `since_us`.
struct Look {
  telemetry::GpuSample sample;
  std::vector<telemetry::XidEvent> xids;
  std::int64_t time_us = 0;
};
Look look(const DcgmiSession& session, const ChosenGroup& group, unsigned systems, std::int64_t since_us,
          const std::vector<telemetry::InjectedValue>& injected) {
  telemetry::SampleNeeds needs = telemetry::health_needs(systems);
  needs.xids = since_us > 0;
  telemetry::GpuSampler sampler(session.nvml(), session.handles_of(session.gpus_of(group.entities)), needs);
  Look out;
  if (needs.xids) std::this_thread::sleep_for(kListen);
  out.sample = sampler.read();
  out.time_us = now_us();
  if (sampler.xids() != nullptr) out.xids = sampler.xids()->since({});
  if (needs.xids && !session.simulated()) {
    const auto told = kernel_xids(session.machine(), since_us);
    out.xids.insert(out.xids.end(), told.begin(), told.end());
  }
  const auto values = telemetry::standing(injected, out.time_us);
  const auto more = telemetry::inject(values, out.sample);
  out.xids.insert(out.xids.end(), more.begin(), more.end());
  for (const auto& value : values)
    fmt::print(stderr, "Injected: GPU {} {} stands as {}\n", value.gpu,
               telemetry::find_field(value.field)->name, value.value);
  return out;
}

void remember(const Look& seen, telemetry::HealthWatch& watch) {
  for (size_t i = 0; i < seen.sample.machine.gpus.size(); ++i)
    watch.before[seen.sample.machine.gpus[i].index] =
        telemetry::health_baseline({seen.sample, i, {}}, seen.time_us);
}

int set_watches(const DcgmiSession& session, const ChosenGroup& group, unsigned systems) {
  const Look seen = look(session, group, systems, 0, {});
  const auto done = session.change_state([&](telemetry::WatchState& state) -> Status {
    state.health.erase(group.id);
    if (systems == 0) return {};
    telemetry::HealthWatch& watch = state.health[group.id];
    watch.systems = systems;
    remember(seen, watch);
    return {};
  });
  if (!done) return done.error();
  fmt::print("Health monitor systems set successfully.\n");
  return kExitOk;
}

int fetch_watches(unsigned systems, bool json) {
  BoxedTree tree;
  for (const telemetry::HealthSystemRow& row : telemetry::health_systems()) {
    if (row.system == telemetry::kPmuHealth || row.system == telemetry::kMcuHealth)
      continue;  // nobody tells of them
    tree.rows.push_back({std::string(row.name), {(systems & row.system) != 0 ? "On" : "Off"}, {}});
  }
  if (json) {
    fmt::print("{}", as_json(tree));
  } else {
    fmt::print("Health monitor systems report\n{}", as_box(tree, 18, 70));
  }
  return kExitOk;
}

// One system's incidents: the worst of them, then the messages.
BoxedRow system_row(std::span<const Incident> incidents) {
  Health worst = Health::kPass;
  std::string messages;
  for (const Incident& incident : incidents) {
    worst = std::max(worst, incident.health);
    messages += format("{}{}", messages.empty() ? "" : ", ", incident.message);
  }
  const auto systems = telemetry::health_systems();
  const auto row = std::find_if(systems.begin(), systems.end(),
                                [&](const auto& r) { return r.system == incidents.front().system; });
  return {std::string(row->report), {std::string(telemetry::name_of(worst)), messages}, {}};
}

BoxedRow gpu_row(unsigned index, const std::vector<Incident>& incidents) {
  BoxedRow errors{"Errors", {}, {}};
  Health worst = Health::kPass;
  for (size_t begin = 0; begin < incidents.size();) {
    size_t end = begin;
    while (end < incidents.size() && incidents[end].system == incidents[begin].system) {
      worst = std::max(worst, incidents[end].health);
      ++end;
    }
    errors.rows.push_back(system_row(std::span(incidents).subspan(begin, end - begin)));
    begin = end;
  }
  return {format("{}", index), {std::string(telemetry::name_of(worst))}, {std::move(errors)}};
}

int check_watches(const DcgmiSession& session, const ChosenGroup& group, const telemetry::WatchState& state,
                  bool json) {
  const auto watch = state.health.find(group.id);
  if (watch == state.health.end() || watch->second.systems == 0)
    return dcgmi_failure(DcgmStatus::kGenericError, "Health watches not enabled. Please enable watches.");
  const auto& before = watch->second.before;
  std::int64_t since = now_us();
  for (const auto& [gpu, baseline] : before) since = std::min(since, baseline.time_us);
  const Look seen = look(session, group, watch->second.systems, since, state.injected);
  BoxedRow gpus{"GPU", {}, {}};
  Health overall = Health::kPass;
  for (size_t i = 0; i < seen.sample.machine.gpus.size(); ++i) {
    const unsigned index = seen.sample.machine.gpus[i].index;
    const auto baseline = before.find(index);
    const auto incidents = telemetry::check_health({seen.sample, i, {}}, watch->second.systems,
                                                   baseline == before.end() ? nullptr : &baseline->second,
                                                   seen.time_us, seen.xids);
    for (const Incident& incident : incidents) overall = std::max(overall, incident.health);
    if (!incidents.empty()) gpus.rows.push_back(gpu_row(index, incidents));
  }
  BoxedTree tree{{"Health Monitor Report"},
                 {{"Overall Health", {std::string(telemetry::name_of(overall))}, {}}}};
  if (!gpus.rows.empty()) tree.rows.push_back(std::move(gpus));
  fmt::print("{}", json ? as_json(tree) : as_box(tree, 28, 60));
  return kExitOk;
}

}  // namespace

int run_dcgmi_health(const std::string& program, DcgmiWords words) {
  Options o;
  FlagTable table;
  table.usage = format("{} -s LETTERS | -c | -f | --clear [-g GROUP] [-j]", program);
  table.summary = "Watches over GPUs. Counters are compared with those of when the watch was set.";
  table.flags = {
      dcgmi_flag("set", {"s"}, "LETTERS", to_text(&o.set),
                 "watch: a all, p PCIe, m memory, i infoROM, t heat and power, n NVLink, d driver, s SMs"),
      dcgmi_flag("check", {"c"}, "", to_switch(&o.check), "what the watches find now"),
      dcgmi_flag("fetch", {"f"}, "", to_switch(&o.fetch), "which watches are set"),
      dcgmi_flag("clear", {}, "", to_switch(&o.clear), "end all watches of the group"),
      dcgmi_flag("group", {"g"}, "GROUP", to_text(&o.group), "of this group (default: all GPUs)"),
      dcgmi_flag("json", {"j"}, "", to_switch(&o.json), "-c and -f as JSON"),
  };
  const auto parsed = read_dcgmi_flags(table, words);
  if (!parsed) return parsed.error();
  const auto systems = systems_of(o.set);
  if (!systems)
    return dcgmi_failure(DcgmStatus::kBadParameter,
                         format("Invalid flags detected in '{}'. Return: {}", o.set,
                                telemetry::sentence_of(DcgmStatus::kBadParameter)));
  const auto session = DcgmiSession::open();
  if (!session) return session.error();
  const auto state = session->load_state();
  if (!state) return state.error();
  const auto group = session->group(o.group, *state);
  if (!group)
    return dcgmi_failure(DcgmStatus::kGenericError,
                         format("Unable to get health watches. Return: {}", group.error().message));
  if (!o.set.empty() || o.clear) return set_watches(*session, *group, o.clear ? 0 : *systems);
  if (o.check) return check_watches(*session, *group, *state, o.json);
  if (o.fetch) {
    const auto watch = state->health.find(group->id);
    return fetch_watches(watch == state->health.end() ? 0 : watch->second.systems, o.json);
  }
  return dcgmi_failure(DcgmStatus::kBadParameter, "health needs -s, -c, -f or --clear.");
}

}  // namespace pagoda::app
