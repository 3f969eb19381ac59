// A scenario: a machine's GPUs as NVML would answer for them. Written in YAML: docs/simulated_gpus.md shows
// the form.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "simulate/value.h"

namespace pagoda::simulate {

struct Scenario {
  std::string name;          // as it was asked for
  Record system;             // keys beginning "system."
  std::vector<Record> gpus;  // each with its model, workload and own values in one
};

// What is laid over a scenario: by a control file (a fault that a test injects) or by a setting (the state
// file).
struct Overlay {
  Record system;
  std::map<std::string, Record> gpus;  // selector ("0", "all") → values
  std::optional<double> epoch_us;      // state file alone: when the scenario began, microseconds since 1970
};

// `asked`: a shipped scenario's name, a model's name with a count and a workload ("h100", "h100x8",
// "h100x8:training"), or a file. Errors are one sentence with file and line.
Result<Scenario> load_scenario(const std::string& asked);
// `asked` names a file, which may change while it is in use.
bool is_scenario_file(const std::string& asked);

Result<Scenario> parse_scenario(const std::string& text, const std::string& file);
Result<Overlay> parse_overlay(const std::string& text, const std::string& file);

// Shipped names, for listings.
std::vector<std::pair<std::string, std::string>> scenario_descriptions();  // name, description
std::vector<std::string> model_names();
std::vector<std::string> workload_names();

}  // namespace pagoda::simulate
