// The flags of dcgm-exporter and the environment variables that stand for them; on the command line wins.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/exporter_options.h"
#include "app/flags.h"
#include "base/result.h"

namespace pagoda::app {

FlagTable exporter_flag_table(ExporterOptions& options, const std::string& program);

struct ExporterRequest {
  ExporterOptions options;
  std::optional<std::string> help;  // as ParsedFlags::help
  std::vector<std::string> warnings;
};

// Reads the process's environment, too. An error names the flag or the variable at fault.
Result<ExporterRequest> parse_exporter_flags(std::span<const std::string> arguments,
                                             const std::string& program);

}  // namespace pagoda::app
