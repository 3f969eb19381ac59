#include "app/doctor_command.h"

#include <unistd.h>

#include <string>
#include <vector>

#include "app/doctor_options.h"
#include "app/doctor_report.h"
#include "app/doctor_watch.h"
#include "app/flag_help.h"
#include "app/simulated_gpus.h"
#include "app/terminal.h"
#include "base/format.h"
#include "faults/catalogue_page.h"
#include "faults/collection.h"
#include "faults/live_examination.h"
#include "faults/report_json.h"

namespace pagoda::app {
namespace {

constexpr int kExitNotExamined = 3;  // 0 to 2 are verdicts

int report(const Error& error) {
  const Paint paint = Paint::for_descriptor(STDERR_FILENO);
  fmt::print(stderr, "{} {}\n", paint(Ink::kRed, "pagoda doctor:"), error.message);
  return kExitNotExamined;
}

int exit_code_of(faults::Severity severity) {
  return severity == faults::Severity::kFault ? 2 : severity == faults::Severity::kWarning ? 1 : 0;
}

int collect(const DoctorOptions& options, const driver::HostRoot& root, const faults::Report& examined) {
  faults::CollectionRequest request;
  request.path = options.collect;
  request.logs = options.from;
  request.report = faults::report_as_json(examined);
  request.own_program = {"/proc/self/exe"};
  request.only_own_smi = gpus_are_simulated();
  request.live = root.is_this_machine();
  const auto done = faults::collect_bundle(request, root);
  if (!done) return report(done.error());
  fmt::print(stderr, "wrote {}: {} files; {} secrets removed; look through it before you send it\n",
             options.collect, done->files, done->removed);
  for (const std::string& gap : done->gaps) fmt::print(stderr, "  without {}\n", gap);
  return kExitOk;
}

void examine_live(const DoctorOptions& options, const driver::HostRoot& root,
                  faults::Examination& examination) {
  faults::GpuInspection inspection;
  inspection.simulated = gpus_are_simulated();
  inspection.window.length = std::chrono::milliseconds(static_cast<int64_t>(1000 * options.window_s));
  faults::examine_machine(root, inspection, examination);
}

int examine(const DoctorOptions& options) {
  auto examination = faults::Examination::begin();
  if (!examination) return report(examination.error());
  for (const std::string& path : options.from) {
    const Status read = (*examination)->read(path);
    if (!read) return report(read.error());
  }
  const auto root = driver::HostRoot::open(options.root);
  if (!root) return report(root.error());
  if (options.from.empty() || !options.collect.empty()) examine_live(options, *root, **examination);
  const faults::Report result = (*examination)->conclude();
  if (!options.collect.empty()) {
    const int collected = collect(options, *root, result);
    if (collected != kExitOk) return collected;
  }
  const std::string text = options.json ? faults::report_as_json(result)
                                        : report_as_text(result, Paint::for_descriptor(STDOUT_FILENO),
                                                         terminal_width(STDOUT_FILENO));
  fmt::print("{}", text);
  return exit_code_of(result.severity());
}

}  // namespace

int run_doctor_command(const Invocation& invocation) {
  DoctorOptions options;
  const FlagTable table = doctor_flag_table(options);
  const auto parsed = parse_flags(table, invocation.arguments);
  if (!parsed) return report(parsed.error());
  if (parsed->help) {
    fmt::print("{}", help_text(table, *parsed->help, Paint::for_descriptor(STDOUT_FILENO),
                               terminal_width(STDOUT_FILENO)));
    return kExitOk;
  }
  if (options.catalogue) {
    fmt::print("{}", faults::catalogue_page());
    return kExitOk;
  }
  if (const Status sound = check(options, *parsed); !sound) return report(sound.error());
  return options.watch ? run_doctor_watch(options) : examine(options);
}

}  // namespace pagoda::app
