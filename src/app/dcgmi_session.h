// What every part of `pagoda dcgmi` works with: the driver, the entities, what is remembered, and how to fail
// as dcgmi does. There is no daemon: each call reads NVML itself.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/flags.h"
#include "app/subcommands.h"
#include "driver/gpu_snapshot_reader.h"
#include "telemetry/dcgm_status.h"
#include "telemetry/entities.h"
#include "telemetry/gpu_sampler.h"
#include "telemetry/watch_state.h"

namespace pagoda::app {

// A group that a person named: those that are always there, or one of the state file.
struct ChosenGroup {
  unsigned id = 0;
  std::string name;
  std::vector<telemetry::EntityId> entities;
};

class DcgmiSession {
 public:
  // The error is an exit status; its text is printed.
  static tl::expected<DcgmiSession, int> open();

  const driver::Nvml& nvml() const { return nvml_; }
  // GPUs with their identity and MIG devices, read once.
  const driver::MachineSnapshot& machine() const { return machine_; }
  const std::vector<telemetry::Entity>& entities() const { return entities_; }
  bool simulated() const { return simulated_; }

  // Groups and so on; the error's text is printed. A notice (a state file begun anew) goes to standard error.
  tl::expected<telemetry::WatchState, int> load_state() const;
  tl::expected<void, int> change_state(const std::function<Status(telemetry::WatchState&)>& body) const;

  // "3", "all_gpus", "all_instances", "all_compute_instances", "all_entities"; empty: all GPUs.
  Result<ChosenGroup> group(const std::string& name, const telemetry::WatchState& state) const;

  // Places in machine().gpus of the GPUs among these entities, each once.
  std::vector<size_t> gpus_of(const std::vector<telemetry::EntityId>& ids) const;
  // The same as handles, for a sampler.
  std::vector<driver::Gpu> handles_of(const std::vector<size_t>& places) const;

 private:
  explicit DcgmiSession(driver::Nvml nvml) : nvml_(std::move(nvml)) {}

  driver::Nvml nvml_;
  driver::MachineSnapshot machine_;
  std::vector<telemetry::Entity> entities_;
  bool simulated_ = false;
  std::string state_path_;
};

// Prints "Error: …" to standard output, as dcgmi does; returns the exit status.
int dcgmi_failure(telemetry::DcgmStatus status, const std::string& message);

// Reads a part's flags. The outer error is an exit status, its text printed (also of --help, which is 0).
tl::expected<ParsedFlags, int> read_dcgmi_flags(FlagTable& table, std::span<const std::string> words);

Flag dcgmi_flag(std::string_view name, std::vector<std::string_view> aliases, std::string_view value,
                Setter set, std::string help);

}  // namespace pagoda::app
