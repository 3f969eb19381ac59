#include "app/simulate_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "app/flag_help.h"
#include "app/flag_values.h"
#include "app/flags.h"
#include "app/simulated_gpus.h"
#include "app/terminal.h"
#include "base/format.h"
#include "simulate/fault_injection.h"
#include "simulate/key_catalogue.h"
#include "simulate/scenario.h"
#include "simulate/shared_state.h"

namespace pagoda::app {
namespace {

struct SimulateOptions {
  std::string scenario;
  std::vector<std::string> set, xid;
  bool keys = false, check = false, clear = false, restart = false, paths = false;
  std::vector<std::string> program;  // behind --
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

FlagTable simulate_flag_table(SimulateOptions& o) {
  FlagTable table;
  table.usage = "pagoda simulate [SCENARIO] [flags] [-- PROGRAM [ARGUMENTS]]";
  table.summary =
      "Simulated GPUs: a libnvidia-ml.so.1 that answers from a scenario. Without a scenario: lists what "
      "there is.";
  table.examples = {
      {"pagoda --simulate h100x8:training smi", "a subcommand on eight busy H100"},
      {"pagoda simulate h100x8 -- nvitop", "any other NVML client"},
      {"pagoda simulate h100x8 --set 0.temperature.gpu=95", "GPU 0 gets hot while they run"},
      {"pagoda simulate h100x8 --xid 3:79", "and GPU 3 reports XID 79"},
      {"pagoda simulate h100x8 --restart", "as after a reboot: no faults, no settings, time 0"},
  };
  table.positional = "scenario";
  table.flags = {
      flag("scenario", Takes::kValue, "SCENARIO", to_text(&o.scenario),
           "a name, MODELxCOUNT[:WORKLOAD], or a YAML file"),
      flag("set", Takes::kValues, "GPU.KEY=VALUE", to_texts(&o.set),
           "lay a value over the scenario; GPU is an index, 'all' or 'system'"),
      flag("xid", Takes::kValues, "GPU:XID", to_texts(&o.xid), "raise an XID now"),
      flag("clear", Takes::kNothing, "", to_switch(&o.clear), "take back what --set and --xid did"),
      flag("restart", Takes::kNothing, "", to_switch(&o.restart),
           "also take back settings, and start time anew"),
      flag("check", Takes::kNothing, "", to_switch(&o.check), "read the scenario, say what is wrong with it"),
      flag("keys", Takes::kNothing, "", to_switch(&o.keys), "list every value that a scenario may give"),
      flag("paths", Takes::kNothing, "", to_switch(&o.paths),
           "print the control file, the state file, the library's folder"),
  };
  return table;
}

int report(const Error& error) {
  const Paint paint = Paint::for_descriptor(STDERR_FILENO);
  fmt::print(stderr, "{} {}\n", paint(Ink::kRed, "pagoda simulate:"), error.message);
  return error.code == ErrorCode::kInvalidArgument || error.code == ErrorCode::kNotFound ? kExitUsage
                                                                                         : kExitFailure;
}

int print_lists() {
  const Paint paint = Paint::for_descriptor(STDOUT_FILENO);
  fmt::print("{}\n", paint(Ink::kBold, "Scenarios"));
  for (const auto& [name, description] : simulate::scenario_descriptions())
    fmt::print("  {:<20}{}\n", name, description);
  fmt::print("{}\n  {}\n", paint(Ink::kBold, "Models, as MODELxCOUNT[:WORKLOAD]"),
             fmt::join(simulate::model_names(), ", "));
  fmt::print("{}\n  {}\n", paint(Ink::kBold, "Workloads"), fmt::join(simulate::workload_names(), ", "));
  fmt::print("\npagoda --simulate h100x8 SUBCOMMAND, pagoda simulate --help\n");
  return kExitOk;
}

int print_keys() {
  for (const auto& row : simulate::key_rows())
    fmt::print("{}\n    {}{}{}\n", row.pattern, row.unit, row.unit.empty() ? "" : "; ", row.source);
  return kExitOk;
}

Status raise(const std::string& scenario, const std::string& text) {
  unsigned gpu = 0, xid = 0;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, gpu);
  const bool colon = first.ec == std::errc() && first.ptr != end && *first.ptr == ':';
  if (!colon || std::from_chars(first.ptr + 1, end, xid).ptr != end)
    return fail(ErrorCode::kInvalidArgument, format("--xid {} is not of the form GPU:XID, as in 3:79", text));
  return simulate::raise_xid(scenario, gpu, xid);
}

Status change(const SimulateOptions& options) {
  if (options.restart) PAGODA_TRY(simulate::restart(options.scenario));
  if (options.clear) PAGODA_TRY(simulate::clear_overlay(options.scenario));
  if (!options.set.empty()) PAGODA_TRY(simulate::lay_over(options.scenario, options.set));
  for (const std::string& xid : options.xid) PAGODA_TRY(raise(options.scenario, xid));
  return {};
}

int print_paths(const std::string& scenario) {
  const auto paths = simulate::shared_paths(scenario);
  if (!paths) return report(paths.error());
  const auto folder = simulated_library_folder();
  if (!folder) return report(folder.error());
  fmt::print("control  {}\nstate    {}\nlibrary  {}\n", paths->control, paths->state, *folder);
  return kExitOk;
}

int run_program(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  return report({ErrorCode::kNotFound, format("cannot run {}: {}", words[0], std::strerror(errno)), ""});
}

int act(const SimulateOptions& options) {
  if (options.keys) return print_keys();
  if (options.scenario.empty()) return print_lists();
  if (const auto scenario = simulate::load_scenario(options.scenario); !scenario)
    return report(scenario.error());
  if (const Status changed = change(options); !changed) return report(changed.error());
  if (options.paths) return print_paths(options.scenario);
  if (!options.program.empty()) {
    if (const Status ready = simulate_gpus(options.scenario); !ready) return report(ready.error());
    return run_program(options.program);
  }
  if (options.check) fmt::print("{} is in order\n", options.scenario);
  return kExitOk;
}

}  // namespace

int run_simulate_command(const Invocation& invocation) {
  SimulateOptions options;
  const FlagTable table = simulate_flag_table(options);
  const auto& words = invocation.arguments;
  const auto dashes = std::find(words.begin(), words.end(), "--");
  const std::vector<std::string> own(words.begin(), dashes);
  if (dashes != words.end()) options.program.assign(dashes + 1, words.end());
  const auto parsed = parse_flags(table, own);
  if (!parsed) return report(parsed.error());
  if (parsed->help) {
    fmt::print("{}", help_text(table, *parsed->help, Paint::for_descriptor(STDOUT_FILENO),
                               terminal_width(STDOUT_FILENO)));
    return kExitOk;
  }
  if (options.scenario.empty() && (!options.program.empty() || !options.set.empty() || !options.xid.empty() ||
                                   options.clear || options.restart || options.check || options.paths))
    return report({ErrorCode::kInvalidArgument, "which scenario? `pagoda simulate` lists them", ""});
  return act(options);
}

}  // namespace pagoda::app
