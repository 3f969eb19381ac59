// The YAML texts that are built in: models (what a card is), workloads (what it does), scenarios (whole
// machines). The files are src/simulate/{models,workloads,scenarios}; tools/simulated_sources.py makes the
// table at build time.
#pragma once

#include <span>
#include <string_view>

namespace pagoda::simulate {

struct ShippedText {
  std::string_view kind;  // "models", "workloads", "scenarios"
  std::string_view name;  // the file's name without .yaml
  std::string_view text;
};
std::span<const ShippedText> shipped_texts();
const ShippedText* find_shipped(std::string_view kind, std::string_view name);

// A name of nvml.h and its number.
struct NvmlName {
  std::string_view name;
  unsigned number;
};
std::span<const NvmlName> field_names();       // "DEV_RESET_STATUS" of NVML_FI_DEV_RESET_STATUS
std::span<const NvmlName> gpm_metric_names();  // "sm_util" of NVML_GPM_METRIC_SM_UTIL

}  // namespace pagoda::simulate
