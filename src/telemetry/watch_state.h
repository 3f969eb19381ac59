// What `dcgmi` remembers from one call to the next, in place of DCGM's daemon: groups, field groups, health
// watches, policies, injected values. One JSON file with a format version, written whole under a lock.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "telemetry/entities.h"

namespace pagoda::telemetry {

struct EntityGroup {
  unsigned id = 0;
  std::string name;
  std::vector<EntityId> entities;
};

struct FieldGroup {
  unsigned id = 0;
  std::string name;
  std::vector<unsigned> fields;
};

// When a GPU's policy is violated; thresholds are set where their condition is.
struct Policy {
  enum Condition : unsigned {
    kDoubleBit = 1,
    kPcie = 2,
    kRetiredPages = 4,
    kThermal = 8,
    kPower = 16,
    kNvLink = 32,
    kXid = 64,
  };
  unsigned conditions = 0;
  unsigned max_pages = 0, max_temperature_c = 0, max_power_w = 0;
  unsigned action = 0;      // 0 none, 1 reset the GPU
  unsigned validation = 0;  // 0 none, else the diagnostic's level
  bool operator==(const Policy&) const = default;
};

// Counters of one GPU when its watch began or was last checked, by field id.
struct HealthBaseline {
  std::int64_t time_us = 0;  // since 1970
  std::map<unsigned, double> counters;
};
struct HealthWatch {
  unsigned systems = 0;                       // HealthSystem bits
  std::map<unsigned, HealthBaseline> before;  // by GPU
};

// A value that stands for a reading of the driver, for a minute: `dcgmi test --inject`.
struct InjectedValue {
  unsigned gpu = 0, field = 0;
  std::string value;
  std::int64_t time_us = 0;
};

inline constexpr unsigned kAllGpusGroup = 0;  // always there
inline constexpr unsigned kAllSwitchesGroup = 1;

struct WatchState {
  std::vector<EntityGroup> groups;  // those that people made
  std::vector<FieldGroup> field_groups;
  unsigned next_group = 2, next_field_group = 1;
  std::map<unsigned, HealthWatch> health;  // by group
  std::map<unsigned, Policy> policies;     // by GPU
  std::vector<InjectedValue> injected;

  EntityGroup* find_group(unsigned id);
  FieldGroup* find_field_group(unsigned id);
};

class WatchStateFile {
 public:
  explicit WatchStateFile(std::string path) : path_(std::move(path)) {}

  // $XDG_STATE_HOME/pagoda/dcgmi.json, else ~/.local/state/pagoda/dcgmi.json.
  static std::string usual_path();

  const std::string& path() const { return path_; }
  // Empty where there is no file. A file of an older format, or one that cannot be read, is begun anew and
  // kept as PATH.old; `notice` then says so. kUnsupported: it is of a newer pagoda, and is left alone.
  Result<WatchState> load(std::string* notice) const;
  // Reads, lets `body` alter it, writes; one process at a time. When body fails nothing is written.
  Status change(const std::function<Status(WatchState&)>& body, std::string* notice) const;

 private:
  Result<WatchState> read(bool set_aside, std::string* notice) const;
  std::string path_;
};

}  // namespace pagoda::telemetry
