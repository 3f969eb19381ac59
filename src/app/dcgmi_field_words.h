// Fields as people name them on dcgmi's command line.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "telemetry/field_catalogue.h"

namespace pagoda::app {

// "1001,DCGM_FI_DEV_GPU_TEMP,power_usage": by number, by any of their names. The error names the word, and
// what is near it or whose it is.
Result<std::vector<const telemetry::FieldRow*>> read_field_words(const std::string& list);

}  // namespace pagoda::app
