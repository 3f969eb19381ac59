#include "app/smi_command.h"

#include <unistd.h>

#include <array>

#include "app/flag_help.h"
#include "app/smi_session.h"
#include "app/smi_settings.h"
#include "app/smi_watch.h"
#include "app/terminal.h"
#include "base/format.h"
#include "smi/explain.h"
#include "smi/gpu_list.h"
#include "smi/mig_report.h"
#include "smi/monitor_columns.h"
#include "smi/nvlink_report.h"
#include "smi/query_report.h"
#include "smi/summary_table.h"
#include "smi/topology_matrix.h"
#include "smi/version_report.h"

namespace pagoda::app {
namespace {

int invalid(const Error& error) {
  fmt::print("{}\n", error.message);
  return NVML_ERROR_INVALID_ARGUMENT;
}

// Prints once, or again and again with -l.
int show(const SmiSession& session, const SmiOptions& options, unsigned sections,
         const std::function<std::string(const driver::MachineSnapshot&)>& render) {
  session.repeat(std::chrono::milliseconds(options.loop_ms), options.loop_ms == 0 ? 1 : 0, [&] {
    session.print(render(session.read(sections)));
    return true;
  });
  return session.report_lost();
}

int run_csv(const SmiSession& session, const SmiOptions& options) {
  const auto query = smi::read_csv_query(options.csv->kind, options.csv->columns);
  if (!query) return invalid(query.error());
  if (options.json) {
    return show(session, options, query->sections,
                [&](const auto& machine) { return smi::csv_as_json(*query, machine, session.style()); });
  }
  if (options.format.empty()) {
    return invalid({ErrorCode::kInvalidArgument,
                    "A query needs \"--format=csv\", with noheader and nounits if wanted.", ""});
  }
  const auto form = smi::read_csv_format(options.format);
  if (!form) return invalid(form.error());
  session.print(smi::csv_header(*query, *form));
  return show(session, options, query->sections,
              [&](const auto& machine) { return smi::csv_rows(*query, *form, machine, session.style()); });
}

int run_query(const SmiSession& session, const SmiOptions& options) {
  const auto displays = smi::read_displays(options.display);
  if (!displays) return invalid(displays.error());
  return show(session, options, smi::query_sections(*displays), [&](const driver::MachineSnapshot& machine) {
    const smi::ReportNode report = smi::query_report(machine, session.style(), *displays);
    if (options.json) return smi::report_as_json(report);
    return options.xml ? smi::report_as_xml(report) : smi::report_as_text(report, session.style());
  });
}

int run_list(const SmiSession& session, const SmiOptions& options) {
  return show(session, options, driver::kIdentitySection | driver::kMigSection, [&](const auto& machine) {
    return options.json ? smi::gpu_list_json(machine) : smi::gpu_list(machine);
  });
}

int run_settings(const SmiSession& session, const SmiOptions& options) {
  std::string out;
  const int code = apply_settings(options.settings, session.gpus(), out);
  session.print(out);
  return code;
}

int run_main(const SmiOptions& options) {
  if (options.help_of) {
    fmt::print("{}", smi::csv_help(*options.help_of));
    return kExitOk;
  }
  const auto session = SmiSession::open(options);
  if (!session) return session.error();
  if (options.version) {
    session->print(smi::version_report(driver::read_driver(session->nvml()), session->style()));
    return kExitOk;
  }
  if (!options.settings.empty()) return run_settings(*session, options);
  if (options.csv) return run_csv(*session, options);
  if (options.list) return run_list(*session, options);
  if (options.watch) return run_smi_watch(*session);
  if (options.explain) {
    return show(*session, options, smi::query_sections(0), [&](const auto& machine) {
      return options.json ? smi::explanations_json(machine) : smi::explanations(machine);
    });
  }
  if (options.query || options.json || options.xml || !options.display.empty())
    return run_query(*session, options);
  return show(*session, options, smi::summary_sections(),
              [&](const auto& machine) { return smi::summary_table(machine, session->style()); });
}

int run_topology(const SmiOptions& options) {
  if (!options.matrix) return invalid({ErrorCode::kInvalidArgument, "topo needs -m, the matrix.", ""});
  const auto session = SmiSession::open(options);
  if (!session) return session.error();
  return show(
      *session, options,
      driver::kTopologySection | driver::kNvLinkSection | driver::kPciSection | driver::kIdentitySection,
      [&](const auto& machine) {
        return options.json ? smi::topology_json(machine) : smi::topology_matrix(machine);
      });
}

int run_nvlink(const SmiOptions& options) {
  if (!options.status && !options.errors) {
    return invalid(
        {ErrorCode::kInvalidArgument, "nvlink needs -s, the status, or -e, the error counters.", ""});
  }
  const auto session = SmiSession::open(options);
  if (!session) return session.error();
  return show(*session, options, driver::kNvLinkSection | driver::kIdentitySection | driver::kModesSection,
              [&](const auto& machine) {
                if (options.json) return smi::nvlink_json(machine);
                return options.errors ? smi::nvlink_errors(machine) : smi::nvlink_status(machine);
              });
}

int run_mig(const SmiOptions& options) {
  const auto session = SmiSession::open(options);
  if (!session) return session.error();
  if (any(options.mig)) {
    std::string out;
    const int code = change_mig(options.mig, session->gpus(), out);
    session->print(out);
    return code;
  }
  const auto machine = session->read(driver::kMigProfilesSection | driver::kIdentitySection);
  if (options.json) {
    session->print(smi::mig_json(machine));
    return kExitOk;
  }
  struct List {
    bool wanted;
    std::string text;
    std::string_view what;
  };
  for (const List& list :
       {List{options.profiles, smi::mig_profiles(machine), "GPU instance profiles"},
        List{options.gpu_instances, smi::mig_gpu_instances(machine), "GPU instances"},
        List{options.compute_instances, smi::mig_compute_instances(machine), "compute instances"}}) {
    if (!list.wanted) continue;
    if (list.text.empty()) {
      session->print(format("No {} found: {}\n", list.what, driver::sentence_of(NVML_ERROR_NOT_FOUND)));
      return NVML_ERROR_NOT_FOUND;
    }
    session->print(list.text);
    return kExitOk;
  }
  return invalid({ErrorCode::kInvalidArgument, "mig needs -lgi, -lci, -lgip, -cgi, -cci, -dgi or -dci.", ""});
}

Result<smi::MonitorLayout> layout_of(const SmiOptions& options, std::string_view known,
                                     std::string_view usual) {
  smi::MonitorLayout layout;
  PAGODA_ASSIGN(layout.groups,
                smi::read_metric_groups(options.metrics.empty() ? usual : options.metrics, known));
  layout.date = options.stamps.find('D') != std::string::npos;
  layout.time = options.stamps.find('T') != std::string::npos;
  return layout;
}

int run_device_monitor(const SmiOptions& options) {
  const auto layout = layout_of(options, smi::kDeviceGroups, smi::kDeviceDefault);
  if (!layout) return invalid(layout.error());
  const auto session = SmiSession::open(options);
  if (!session) return session.error();
  if (!options.json) session->print(smi::device_monitor_header(*layout));
  std::optional<driver::MachineSnapshot> before;
  session->repeat(std::chrono::seconds(options.delay_s), options.count, [&] {
    auto now = session->read(smi::device_monitor_sections(*layout));
    const auto* earlier = before ? &*before : nullptr;
    session->print(options.json ? smi::device_monitor_json(*layout, now, earlier)
                                : smi::device_monitor_rows(*layout, now, earlier));
    before = std::move(now);
    return true;
  });
  return session->report_lost();
}

int run_process_monitor(const SmiOptions& options) {
  const auto layout = layout_of(options, smi::kProcessGroups, smi::kProcessDefault);
  if (!layout) return invalid(layout.error());
  const auto session = SmiSession::open(options);
  if (!session) return session.error();
  if (!options.json) session->print(smi::process_monitor_header(*layout));
  session->repeat(std::chrono::seconds(options.delay_s), options.count, [&] {
    const auto now = session->read(smi::process_monitor_sections());
    session->print(options.json ? smi::process_monitor_json(now) : smi::process_monitor_rows(*layout, now));
    return true;
  });
  return session->report_lost();
}

struct Word {
  std::string_view name;
  int (*run)(const SmiOptions&);
};
constexpr std::array kWords = {
    Word{"topo", run_topology},        Word{"nvlink", run_nvlink}, Word{"dmon", run_device_monitor},
    Word{"pmon", run_process_monitor}, Word{"mig", run_mig},
};

}  // namespace

int run_smi_command(const Invocation& invocation) {
  std::vector<std::string> words = with_loop_values(invocation.arguments);
  const Word* subcommand = nullptr;
  for (const Word& word : kWords) {
    if (!words.empty() && words[0] == word.name) subcommand = &word;
  }
  const std::string name(subcommand == nullptr ? "" : subcommand->name);
  if (subcommand != nullptr) words.erase(words.begin());
  SmiOptions options;
  const FlagTable table = smi_flag_table(invocation.program, name, options);
  const auto parsed = parse_flags(table, words);
  if (!parsed) return invalid(parsed.error());
  if (parsed->help) {
    fmt::print("{}", help_text(table, *parsed->help, Paint::for_descriptor(STDOUT_FILENO),
                               terminal_width(STDOUT_FILENO)));
    return kExitOk;
  }
  return subcommand == nullptr ? run_main(options) : subcommand->run(options);
}

}  // namespace pagoda::app
