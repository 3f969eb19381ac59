#include "app/doctor_command.h"

#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "app/doctor_report.h"
#include "app/flag_help.h"
#include "app/flag_values.h"
#include "app/flags.h"
#include "app/terminal.h"
#include "base/format.h"
#include "faults/catalogue_page.h"
#include "faults/collection.h"
#include "faults/examination.h"
#include "faults/host_inspection.h"
#include "faults/report_json.h"

namespace pagoda::app {
namespace {

constexpr int kExitNotExamined = 3;  // 0 to 2 are verdicts

struct DoctorOptions {
  std::vector<std::string> from;
  std::string root = "/";
  std::string collect;
  bool json = false;
  bool catalogue = false;
};

Flag flag(std::string_view name, Takes takes, std::string_view value_name, Setter set, std::string help) {
  Flag row;
  row.name = name;
  row.group = "Flags";
  row.takes = takes;
  row.value_name = value_name;
  row.set = std::move(set);
  row.help = std::move(help);
  return row;
}

FlagTable doctor_flag_table(DoctorOptions& o) {
  FlagTable table;
  table.usage = "pagoda doctor [flags]";
  table.summary =
      "From symptom to root cause and remedy: what is wrong, the line that shows it, what to do. Exit status "
      "0: well, "
      "1: a warning, 2: a fault, 3: it could not be examined.";
  table.examples = {
      {"pagoda doctor", "this machine"},
      {"dmesg | pagoda doctor --from -", "a kernel log from a pipe"},
      {"pagoda doctor --from nvidia-bug-report.log.gz", "what NVIDIA's script collected"},
      {"pagoda doctor --collect node7.tar.gz", "a bundle to send to somebody, without secrets"},
      {"pagoda doctor --from FOLDER --json", "a folder of logs and outputs, for machines"},
  };
  table.positional = "from";
  table.flags = {
      flag(
          "from", Takes::kValues, "PATH", to_texts(&o.from),
          "kernel logs, nvidia-smi outputs, serving logs: files, folders, archives, or - for standard input"),
      flag("root", Takes::kValue, "DIR", to_text(&o.root),
           "examine the machine whose /proc, /sys and /dev are laid out in DIR (default: /)"),
      flag("json", Takes::kNothing, "", to_switch(&o.json), "the report as JSON (docs/doctor.md)"),
      flag("collect", Takes::kValue, "FILE.tar.gz", to_text(&o.collect),
           "write a bundle to send to somebody: this machine's state and the logs that --from names, without "
           "secrets"),
      flag("catalogue", Takes::kNothing, "", to_switch(&o.catalogue),
           "print everything that doctor knows, as Markdown"),
  };
  return table;
}

int report(const Error& error) {
  const Paint paint = Paint::for_descriptor(STDERR_FILENO);
  fmt::print(stderr, "{} {}\n", paint(Ink::kRed, "pagoda doctor:"), error.message);
  return kExitNotExamined;
}

int exit_code_of(faults::Severity severity) {
  return severity == faults::Severity::kFault ? 2 : severity == faults::Severity::kWarning ? 1 : 0;
}

int collect(const DoctorOptions& options, const faults::Report& examined) {
  const auto done =
      faults::collect_bundle(options.collect, options.root, options.from, faults::report_as_json(examined));
  if (!done) return report(done.error());
  fmt::print(stderr, "wrote {}: {} files; {} secrets removed; look through it before you send it\n",
             options.collect, done->files, done->removed);
  for (const std::string& gap : done->gaps) fmt::print(stderr, "  without {}\n", gap);
  return kExitOk;
}

int examine(const DoctorOptions& options) {
  auto examination = faults::Examination::begin();
  if (!examination) return report(examination.error());
  for (const std::string& path : options.from) {
    const Status read = (*examination)->read(path);
    if (!read) return report(read.error());
  }
  if (options.from.empty() || !options.collect.empty()) faults::inspect_host(options.root, **examination);
  const faults::Report result = (*examination)->conclude();
  if (!options.collect.empty()) {
    const int collected = collect(options, result);
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
  if (parsed->given.contains("root") && !std::filesystem::is_directory(options.root))
    return report({ErrorCode::kNotFound, format("--root {} is no folder", options.root), "root"});
  return examine(options);
}

}  // namespace pagoda::app
