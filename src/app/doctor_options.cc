#include "app/doctor_options.h"

#include <filesystem>

#include "app/command_words.h"
#include "app/flag_values.h"
#include "base/format.h"

namespace pagoda::app {

FlagTable doctor_flag_table(DoctorOptions& o) {
  FlagTable table;
  table.usage = "pagoda doctor [flags]";
  table.summary =
      "From symptom to root cause and remedy: what is wrong, the line that shows it, what to do. Exit status "
      "0: well, 1: a warning, 2: a fault, 3: it could not be examined.";
  table.examples = {
      {"pagoda doctor", "this machine"},
      {"dmesg | pagoda doctor --from -", "a kernel log from a pipe"},
      {"pagoda doctor --from nvidia-bug-report.log.gz", "what NVIDIA's script collected"},
      {"pagoda doctor --collect node7.tar.gz", "a bundle to send to somebody, without secrets"},
      {"pagoda doctor --from FOLDER --json", "a folder of logs and outputs, for machines"},
      {"pagoda doctor --watch --faults-file /run/pagoda/faults.prom", "as a daemon"},
  };
  table.positional = "from";
  table.flags = {
      list_row("from", "PATH", &o.from,
               "kernel logs, nvidia-smi outputs, serving logs: files, folders, archives, or - for standard "
               "input"),
      flag_row("window", "SECONDS", to_number(&o.window_s, {.min = 0, .max = 600}),
               "how long the GPUs are watched: a single reading of a load means nothing (default: 5)"),
      flag_row("root", "DIR", to_text(&o.root),
               "examine the machine whose /proc, /sys and /dev are laid out in DIR (default: /)"),
      switch_row("json", &o.json, "the report as JSON; with --watch, one JSON line for each change"),
      flag_row("collect", "FILE.tar.gz", to_text(&o.collect),
               "write a bundle to send to somebody: this machine's state and the logs that --from names, "
               "without secrets"),
      switch_row("catalogue", &o.catalogue, "print everything that doctor knows, as Markdown"),
      switch_row("watch", &o.watch, "examine again and again until a signal; print what appears and clears"),
      flag_row(
          "interval", "SECONDS", to_number(&o.interval_s, {.min = 1, .max = 86400}),
          "of --watch, between two examinations; an XID or a line in the kernel's log begins one at once "
          "(default: 30)"),
      flag_row("remember", "SECONDS", to_number(&o.remember_s, {.min = 1, .max = 31536000}),
               "of --watch, how long an XID or log line counts as current (default: 3600)"),
      flag_row("faults-file", "FILE", to_text(&o.faults_file),
               "of --watch: current faults as Prometheus text (pagoda_fault), for the exporter or for "
               "node_exporter's textfile collector; replaced whole"),
      flag_row("webhook", "URL", to_text(&o.webhook),
               "of --watch: POST each change as JSON (default: $PAGODA_WEBHOOK; the address is never logged "
               "beyond its host)"),
      flag_row("webhook-token-file", "FILE", to_text(&o.webhook_token_file),
               "a file with the token for that address (Authorization: Bearer)"),
  };
  return table;
}

Status check(const DoctorOptions& options, const ParsedFlags& parsed) {
  constexpr std::string_view kWatching[] = {"interval", "remember", "faults-file", "webhook",
                                            "webhook-token-file"};
  for (const std::string_view name : kWatching) {
    if (!options.watch && parsed.given.contains(name))
      return fail(ErrorCode::kInvalidArgument, format("--{} belongs to --watch", name), std::string(name));
  }
  if (options.watch && (!options.from.empty() || !options.collect.empty()))
    return fail(ErrorCode::kInvalidArgument,
                "--watch watches this machine: it takes no --from and no --collect", "watch");
  if (parsed.given.contains("root") && !std::filesystem::is_directory(options.root))
    return fail(ErrorCode::kNotFound, format("--root {} is no folder", options.root), "root");
  return {};
}

}  // namespace pagoda::app
