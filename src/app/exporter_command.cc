#include "app/exporter_command.h"

#include <malloc.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "app/exporter_flags.h"
#include "app/exporter_server.h"
#include "app/flag_help.h"
#include "app/terminal.h"
#include "app/version.h"
#include "base/format.h"
#include "faults/fault_catalogue.h"

namespace pagoda::app {
namespace {

// Where dcgm-exporter's packages and images put theirs.
constexpr const char* kUsualCountersFile = "/etc/dcgm-exporter/default-counters.csv";

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, number);
  return set;
}

// One worker for each GPU, threads for each reading: with an arena for every thread the C library would keep
// memory that it never needs again.
void keep_memory_small() {
  ::mallopt(M_ARENA_MAX, 2);
  ::mallopt(M_TRIM_THRESHOLD, 1 << 20);
}

int report(const Invocation& invocation, const Error& error) {
  const Paint paint = Paint::for_descriptor(STDERR_FILENO);
  fmt::print(stderr, "{} {}\n", paint(Ink::kRed, invocation.program + ":"), error.message);
  const bool askers_fault =
      error.code == ErrorCode::kInvalidArgument || error.code == ErrorCode::kUnsupported;
  return askers_fault ? kExitUsage : kExitFailure;
}

Result<telemetry::ExporterPlan> read_plan(const ExporterOptions& options) {
  std::string file = options.counters_file;
  std::error_code unreadable;
  if (file.empty() && std::filesystem::exists(kUsualCountersFile, unreadable)) file = kUsualCountersFile;
  const std::string source = file.empty() ? "the built-in counters" : file;
  PAGODA_ASSIGN(const auto lines, file.empty()
                                      ? telemetry::parse_counters(telemetry::built_in_counters(), source)
                                      : telemetry::read_counters_file(file));
  PAGODA_ASSIGN(telemetry::ExporterPlan plan, telemetry::plan_export(lines, source));
  for (const std::string& warning : plan.warnings) log::warning("{}", warning);
  return plan;
}

std::string host_name() {
  if (const char* const node = std::getenv("NODE_NAME"); node != nullptr && *node != '\0') return node;
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

std::string xid_words(unsigned xid) {
  const faults::FaultRow* row = faults::find_fault(format("xid-{}", xid));
  return row == nullptr ? "" : std::string(row->title);
}

telemetry::ExporterSettings settings_of(const ExporterOptions& options) {
  telemetry::ExporterSettings settings;
  settings.interval = options.interval;
  settings.labels = {options.hostname ? host_name() : "", options.old_names, options.replace_blanks};
  settings.devices = options.devices;
  settings.xid_window = options.xid_window;
  settings.clock_event_window = options.clock_event_window;
  settings.job_mapping_folder = options.job_mapping_folder;
  settings.xid_words = xid_words;
  settings.version = version();
  return settings;
}

Result<driver::Nvml> open_gpus() {
  auto nvml = driver::Nvml::open();
  if (!nvml) {
    return fail(ErrorCode::kUnavailable,
                format("no GPU can be read: {}. Without a GPU: pagoda --simulate h100x8 exporter",
                       nvml.error().message));
  }
  if (nvml->gpus().empty())
    return fail(ErrorCode::kUnavailable, "the driver has no GPU; `pagoda doctor` looks for the cause");
  return *std::move(nvml);
}

// Until SIGTERM or SIGINT; SIGHUP reads the counters file anew.
void run_until_signal(const ExporterOptions& options, telemetry::Exporter& exporter) {
  const sigset_t set = watched_signals();
  for (;;) {
    int number = 0;
    if (::sigwait(&set, &number) != 0) continue;
    if (number != SIGHUP) return;
    auto plan = read_plan(options);
    if (plan) {
      log::info("counters read anew: {} series", plan->series.size());
      exporter.change_plan(*std::move(plan));
    } else {
      log::error("{}; the fields stay as they were", plan.error().message);
    }
  }
}

Status run(const ExporterOptions& options) {
  PAGODA_ASSIGN(telemetry::ExporterPlan plan, read_plan(options));
  PAGODA_ASSIGN(driver::Nvml nvml, open_gpus());
  const size_t gpus = nvml.gpus().size(), fields = plan.series.size();
  const auto exporter = telemetry::Exporter::start(std::move(nvml), std::move(plan), settings_of(options));
  PAGODA_ASSIGN(const auto server, start_exporter_server(options, *exporter));
  log::info("{} GPU{}, {} fields each, read every {} s; http://{}:{}/metrics", gpus, gpus == 1 ? "" : "s",
            fields, std::chrono::duration<double>(options.interval).count(), options.host, server->port());
  run_until_signal(options, *exporter);
  log::info("ended by a signal");
  return {};
}

}  // namespace

int run_exporter_command(const Invocation& invocation) {
  const auto request = parse_exporter_flags(invocation.arguments, invocation.program);
  if (!request) return report(invocation, request.error());
  ExporterOptions shown;
  if (request->help) {
    fmt::print("{}", help_text(exporter_flag_table(shown, invocation.program), *request->help,
                               Paint::for_descriptor(STDOUT_FILENO), terminal_width(STDOUT_FILENO)));
    return kExitOk;
  }
  if (request->options.print_counters) {
    fmt::print("{}", telemetry::built_in_counters());
    return kExitOk;
  }
  log::configure(request->options.log_level, request->options.log_style);
  for (const std::string& warning : request->warnings) log::warning("{}", warning);
  keep_memory_small();
  // Before any thread starts, so that all of them leave these signals to sigwait.
  const sigset_t set = watched_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  const Status done = run(request->options);
  return done ? kExitOk : report(invocation, done.error());
}

}  // namespace pagoda::app
