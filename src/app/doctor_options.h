// The flags of `pagoda doctor`.
#pragma once

#include <string>
#include <vector>

#include "app/flags.h"

namespace pagoda::app {

struct DoctorOptions {
  std::vector<std::string> from;
  std::string root = "/";
  std::string collect;
  bool json = false;
  bool catalogue = false;
  double window_s = 5;
  // --watch
  bool watch = false;
  double interval_s = 30;
  double remember_s = 3600;
  std::string faults_file;
  std::string webhook;             // empty: none; may be a secret
  std::string webhook_token_file;  // empty: no token
};

// Fields of `options` outlive the table.
FlagTable doctor_flag_table(DoctorOptions& options);

// What does not go together, as one sentence.
Status check(const DoctorOptions& options, const ParsedFlags& parsed);

}  // namespace pagoda::app
