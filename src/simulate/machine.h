// The simulated machine, live: a scenario, the clock, what is laid over it, and the answer to "what is the
// value of this key on this device now". One per process, made from the environment at the first nvmlInit.
// Thread-safe.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "simulate/scenario.h"
#include "simulate/shared_state.h"

namespace pagoda::simulate {

// What stands behind an nvmlDevice_t.
struct Device {
  static constexpr int kWhole = -1;
  unsigned gpu = 0;  // index in the scenario
  int mig = kWhole;  // index into its mig.devices, or the whole GPU
  bool is_mig() const { return mig != kWhole; }
};

struct Answer {
  nvmlReturn_t code = NVML_ERROR_NOT_SUPPORTED;
  Number number = 0;
  std::string text;
  std::shared_ptr<const std::vector<Record>> list;
};

class Machine {
 public:
  // `asked` as load_scenario takes it.
  static Result<std::unique_ptr<Machine>> open(const std::string& asked);

  unsigned gpu_count() const;
  // Seconds since the scenario began, for all processes that use it.
  double seconds() const;

  Answer value(const Device& device, std::string_view key);
  // As it was at that time (microseconds since 1970; before the scenario's beginning: as at its beginning).
  Answer value_at(const Device& device, std::string_view key, unsigned long long time_us);
  Answer system_value(std::string_view key);
  // A record's own value (a process's memory, a link's state); NVML_ERROR_NOT_SUPPORTED when it has none.
  Answer record_value(const Device& device, const Record& record, std::string_view key);

  // Settings: seen by the next read in every process. An empty value takes the setting back.
  nvmlReturn_t set(const Device& device,
                   const std::vector<std::pair<std::string, std::optional<Value>>>& values);

  // How a call was told to behave: an error to answer, or seconds to hang.
  Answer call_rule(const Device* device, std::string_view function);

  // XIDs and other events whose time has come after `from` and not after `to` (seconds); lost GPUs' 79
  // included.
  struct Event {
    double at = 0;
    unsigned gpu = 0;
    unsigned long long type = 0, data = 0;
    unsigned gpu_instance = 0xFFFFFFFF, compute_instance = 0xFFFFFFFF;
  };
  std::vector<Event> events_between(double from, double to);

 private:
  explicit Machine(std::string asked, SharedPaths paths);
  Status load();
  void refresh();
  const Value* find(const Device& device, std::string_view key) const;
  const Value* find_in_overlay(const Overlay& overlay, unsigned gpu, std::string_view key) const;
  Answer value_locked(const Device& device, std::string_view key, double t, int depth);
  Answer evaluate(const Value& value, const Device& device, double t, int depth);
  Number share(const Value& value, const Device& device, double t, int depth, Number of);

  std::string asked_;
  SharedPaths paths_;
  mutable std::recursive_mutex mutex_;
  Scenario scenario_;
  Overlay state_, control_;
  std::string complaint_;  // the last fault of a file that changed; told once
  WatchedFile scenario_file_, state_file_, control_file_;
  double epoch_us_ = 0;
};

// Microseconds since 1970, as NVML stamps its samples.
unsigned long long now_us();

}  // namespace pagoda::simulate
