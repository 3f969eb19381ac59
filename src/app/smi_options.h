// What a call of `pagoda smi` asks for, and the flags that say it: those of nvidia-smi, and ours.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/flags.h"
#include "app/smi_mig_changes.h"
#include "smi/csv_query.h"

namespace pagoda::app {

struct SmiQuery {
  smi::QueryKind kind;
  std::string columns;
};

// One thing to set, by the name of its row in smi_settings.cc: {"pl", "250"}.
struct SmiSetting {
  std::string flag, value;
};

struct SmiOptions {
  bool list = false, query = false, xml = false, json = false, watch = false, explain = false,
       version = false;
  std::string display;  // -d: "ECC,POWER"
  std::string ids;      // -i: "0,GPU-…,00000000:3B:00.0"
  std::optional<SmiQuery> csv;
  std::optional<smi::QueryKind> help_of;
  std::string format;
  std::string file;   // -f
  int loop_ms = 0;    // 0: once
  std::string style;  // --style R580
  std::vector<SmiSetting> settings;
  // dmon, pmon
  std::string metrics, stamps;
  int count = 0;  // 0: without end
  int delay_s = 1;
  // topo, nvlink, mig
  bool matrix = false, status = false, errors = false;
  bool gpu_instances = false, compute_instances = false, profiles = false;
  MigChanges mig;
};

// `word`: "", "topo", "nvlink", "dmon", "pmon", "mig".
FlagTable smi_flag_table(const std::string& program, const std::string& word, SmiOptions& options);

// `-l` may stand without a value, which means 5 seconds: makes it one that has.
std::vector<std::string> with_loop_values(std::vector<std::string> words);

}  // namespace pagoda::app
