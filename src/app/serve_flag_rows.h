// The rows of serve_flag_table(), in parts: one function per group of flags.
#pragma once

#include <string_view>
#include <vector>

#include "app/flags.h"
#include "app/serve_options.h"

namespace pagoda::app {

using FlagRows = std::vector<Flag>;

Flag works(std::string_view name, Takes takes, std::string_view value_name, Setter set, std::string help);
Flag no_effect(std::string_view name, Takes takes, std::string_view reason);
Flag not_yet(std::string_view name, Takes takes, std::string_view reason,
             std::vector<std::string_view> harmless = {});
Flag also(std::vector<std::string_view> aliases, Flag flag);

FlagRows model_rows(ServeOptions& options);
FlagRows network_rows(ServeOptions& options);
FlagRows answer_rows(ServeOptions& options);
FlagRows cache_rows(ServeOptions& options);
FlagRows scheduling_rows(ServeOptions& options);
FlagRows parallel_rows();
FlagRows log_rows(ServeOptions& options);
FlagRows speculation_rows(ServeOptions& options);
FlagRows feature_rows();           // adapters, compilation
FlagRows model_repository_rows();  // tritonserver's

}  // namespace pagoda::app
