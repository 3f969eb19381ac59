// What `pagoda exporter` is asked to do: its flags and dcgm-exporter's environment variables, as values.
#pragma once

#include <chrono>
#include <string>

#include "base/log.h"
#include "telemetry/device_choice.h"

namespace pagoda::app {

struct ExporterOptions {
  std::string counters_file;  // empty: dcgm-exporter's place, else the built-in set
  bool print_counters = false;
  std::string host = "0.0.0.0";
  int port = 9400;
  std::chrono::milliseconds interval{30000};
  telemetry::DeviceChoice devices;
  bool old_names = false;
  bool hostname = true;
  bool replace_blanks = false;  // in the label modelName
  std::chrono::milliseconds xid_window{300000}, clock_event_window{300000};
  std::string job_mapping_folder;  // empty: none
  std::chrono::milliseconds read_timeout{10000}, write_timeout{10000};
  log::Level log_level = log::Level::kInfo;
  log::Style log_style = log::Style::kText;
};

}  // namespace pagoda::app
