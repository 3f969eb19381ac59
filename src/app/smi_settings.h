// What `pagoda smi` can set, one row each, with NVIDIA's sentences.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/smi_options.h"
#include "driver/nvml.h"

namespace pagoda::app {

// What setting one GPU came to.
struct SettingOutcome {
  nvmlReturn_t code = NVML_SUCCESS;
  std::string message;   // lines, each ended
  bool warning = false;  // not possible here, and no reason to stop
};

struct SmiSettingRow {
  std::string_view name, letters, value, help;
  // `bus_id`: of the GPU, for sentences.
  SettingOutcome (*apply)(const driver::Gpu& gpu, const std::string& bus_id, const std::string& value);
};

std::span<const SmiSettingRow> smi_setting_rows();

// Applies all to all; what is to be printed goes to `out`. The exit status: NVML's return code of the first
// failure.
int apply_settings(const std::vector<SmiSetting>& settings, const std::vector<driver::Gpu>& gpus,
                   std::string& out);

}  // namespace pagoda::app
