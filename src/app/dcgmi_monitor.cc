// `dcgmi dmon`: values of fields, a line for each entity, again and again.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <set>
#include <thread>

#include "app/dcgmi_commands.h"
#include "app/dcgmi_field_words.h"
#include "app/dcgmi_session.h"
#include "app/flag_values.h"
#include "app/terminal.h"
#include "base/format.h"

namespace pagoda::app {
namespace {

using telemetry::DcgmStatus;
using telemetry::FieldRow;

constexpr size_t kEntityWidth = 10, kMore = 6, kGap = 2;  // as dcgmi: a value's width, 6 more, 2 between
constexpr int kLinesBetweenHeaders = 14;
constexpr std::string_view kAbsent = "N/A";

struct Options {
  std::string fields, field_group, group, entities;
  int count = 0, delay_ms = 1000;
  bool list = false;
};

std::atomic<bool> g_stop{false};

size_t width_of(const FieldRow& row) {
  return row.width + kMore;
}
std::string cell(std::string_view text, size_t width) {
  if (text.size() > width) return format("{}...", text.substr(0, width - 3)) + std::string(kGap, ' ');
  return format("{:<{}}", text, width + kGap);
}

void print_header(const std::vector<const FieldRow*>& fields) {
  std::string heads = format("{:<{}}", "#Entity", kEntityWidth), units = format("{:<{}}", "ID", kEntityWidth);
  for (const FieldRow* row : fields) {
    heads += cell(row->column, width_of(*row));
    units += cell(row->unit, width_of(*row));
  }
  fmt::print("{}\n{}\n", heads, units);
}

int list_fields() {
  const size_t width = std::max<size_t>(20, static_cast<size_t>(std::min(120, terminal_width(1))) - 30);
  fmt::print("{:_<{}}\n{:<{}}{:<20}{:<10}\n{:_<{}}\n", "", width + 30, "Long Name", width, "Short Name",
             "Field ID", "", width + 30);
  for (const FieldRow& row : telemetry::field_rows())
    fmt::print("{:<{}} {:<20}{}\n", row.tag, width, row.column, row.id);
  return kExitOk;
}

// Tells once, on standard error, why a column has no value for an entity.
class Reasons {
 public:
  void tell(const telemetry::EntityId id, const FieldRow& row, const driver::Absence& why) {
    if (!told_.insert(row.id).second) return;
    std::string_view words = driver::describe(why.reason);
    if (row.gpm != 0 && why.reason == driver::AbsenceReason::kUnsupported)
      words = "profiling metrics come with Hopper and later";
    pending_ += format("{} {}: {}: {}\n", telemetry::to_text(id), row.column, row.name, words);
  }
  void print() {
    if (!pending_.empty()) fmt::print(stderr, "{}", pending_);
    pending_.clear();
  }

 private:
  std::set<unsigned> told_;
  std::string pending_;
};

struct Monitor {
  std::vector<const FieldRow*> fields;
  std::vector<telemetry::EntityId> entities;
  std::vector<size_t> places;  // in the session's machine, of the GPUs that are sampled
};

void print_rows(const Monitor& monitor, const telemetry::GpuSample& sample, Reasons& reasons) {
  const auto now = telemetry::entities_of(sample.machine);
  for (const telemetry::Entity& entity : now) {
    if (std::find(monitor.entities.begin(), monitor.entities.end(), entity.id) == monitor.entities.end())
      continue;
    std::string line = format("{:<{}}", telemetry::to_text(entity.id), kEntityWidth);
    for (const FieldRow* row : monitor.fields) {
      const auto value = telemetry::read_field(*row, {sample, entity.gpu, entity.mig});
      if (!value) reasons.tell(entity.id, *row, value.error());
      line += cell(value ? telemetry::to_text(*value) : std::string(kAbsent), width_of(*row));
    }
    fmt::print("{}\n", line);
  }
}

int watch(const DcgmiSession& session, const Monitor& monitor, const Options& o) {
  g_stop = false;
  std::signal(SIGINT, [](int) { g_stop = true; });
  std::signal(SIGTERM, [](int) { g_stop = true; });
  telemetry::GpuSampler sampler(session.nvml(), session.handles_of(monitor.places),
                                telemetry::needs_of(monitor.fields));
  Reasons reasons;
  print_header(monitor.fields);
  std::fflush(stdout);
  int since_header = 0;
  for (int line = 0; !g_stop && (o.count == 0 || line < o.count); ++line) {
    const auto next = std::chrono::steady_clock::now() + std::chrono::milliseconds(o.delay_ms);
    if (line > 0) {
      if (since_header == kLinesBetweenHeaders) {
        print_header(monitor.fields);
        since_header = 0;
      }
      ++since_header;
    }
    print_rows(monitor, sampler.read(), reasons);
    std::fflush(stdout);
    reasons.print();
    if (o.count != 0 && line + 1 == o.count) break;
    while (!g_stop && std::chrono::steady_clock::now() < next)
      std::this_thread::sleep_for(std::min<std::chrono::steady_clock::duration>(
          std::chrono::milliseconds(50), next - std::chrono::steady_clock::now()));
  }
  if (g_stop) fmt::print("\n\ndmon was stopped do to receiving a signal\n");
  return kExitOk;
}

Result<Monitor> read_monitor(const DcgmiSession& session, telemetry::WatchState& state, const Options& o) {
  Monitor monitor;
  if (!o.fields.empty()) {
    PAGODA_ASSIGN(monitor.fields, read_field_words(o.fields));
  } else {
    const bool number =
        o.field_group.find_first_not_of("0123456789") == std::string::npos && o.field_group.size() < 9;
    const auto* group =
        number ? state.find_field_group(static_cast<unsigned>(std::stoul(o.field_group))) : nullptr;
    if (group == nullptr)
      return fail(
          ErrorCode::kInvalidArgument,
          format("Unable to retrieve information about field group {}. Error: The Field Group is not found",
                 o.field_group));
    for (const unsigned id : group->fields) {
      if (const FieldRow* row = telemetry::find_field(id)) monitor.fields.push_back(row);
    }
  }
  if (!o.entities.empty()) {
    PAGODA_ASSIGN(monitor.entities, telemetry::parse_entities(o.entities, session.entities()));
  } else {
    PAGODA_ASSIGN(ChosenGroup group, session.group(o.group, state));
    monitor.entities = std::move(group.entities);
  }
  monitor.places = session.gpus_of(monitor.entities);
  return monitor;
}

}  // namespace

int run_dcgmi_monitor(const std::string& program, DcgmiWords words) {
  Options o;
  FlagTable table;
  table.usage = format("{} -e FIELDS | -f FIELDGROUP [-g GROUP | -i ENTITIES] [-d MS] [-c N] | -l", program);
  table.summary = "Values of fields, line by line.";
  table.flags = {
      dcgmi_flag("field-id", {"e"}, "FIELDS", to_text(&o.fields),
                 "by number or name: 1001,1002,DCGM_FI_DEV_GPU_TEMP,power_usage"),
      dcgmi_flag("field-group-id", {"f"}, "ID", to_text(&o.field_group), "the fields of this field group"),
      dcgmi_flag("group-id", {"g"}, "GROUP", to_text(&o.group),
                 "of this group: its ID, all_gpus, all_instances, all_compute_instances (default: all GPUs)"),
      dcgmi_flag("entity-id", {"i", "gpu-id"}, "ENTITIES", to_text(&o.entities),
                 "of these: 0,gpu:1,instance:2,compute_instance:3,0/1/0"),
      dcgmi_flag("count", {"c"}, "N", to_integer(&o.count, {0, 1 << 30}),
                 "so many lines for each (default: no end)"),
      dcgmi_flag("delay", {"d"}, "MS", to_integer(&o.delay_ms, {1, 1 << 30}),
                 "milliseconds between lines (default: 1000; profiling fields take at least 100)"),
      dcgmi_flag("list", {"l"}, "", to_switch(&o.list),
                 "the fields there are: long name, short name, number"),
  };
  const auto parsed = read_dcgmi_flags(table, words);
  if (!parsed) return parsed.error();
  if (o.list) return list_fields();
  if (o.fields.empty() && o.field_group.empty())
    return dcgmi_failure(
        DcgmStatus::kBadParameter,
        "Either field group ID or a list of field IDs must be provided. See dcgmi dmon --help for usage.");
  const auto session = DcgmiSession::open();
  if (!session) return session.error();
  auto state = session->load_state();
  if (!state) return state.error();
  const auto monitor = read_monitor(*session, *state, o);
  if (!monitor) return dcgmi_failure(DcgmStatus::kBadParameter, monitor.error().message);
  if (monitor->places.empty())
    return dcgmi_failure(DcgmStatus::kNoData, "No data returned: the group has no entities.");
  return watch(*session, *monitor, o);
}

}  // namespace pagoda::app
