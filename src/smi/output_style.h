// How the output of one driver branch differs from another's: NVIDIA's tool ships with the driver, and
// scripts know the form that their driver prints.
#pragma once

#include <optional>
#include <string_view>

#include "driver/gpu_snapshot.h"

namespace pagoda::smi {

struct OutputStyle {
  int branch = 0;  // 590 for 590.48.01

  // The version is the kernel module's and the CUDA user-mode driver's, and the banner says so.
  bool names_kmd_and_umd() const { return branch >= 610; }
  // The rule under the banner starts with + rather than |, and an empty line rather than a blank one parts
  // the tables.
  bool plain_table_joints() const { return branch >= 580; }
  bool wide_process_ids() const { return branch >= 560; }
  // MIG devices share memory and BAR1 with the other compute instances of their GPU instance, and the table
  // says so.
  bool names_shared_mig_memory() const { return branch >= 590; }
  int query_colon_column() const { return branch >= 580 ? 55 : 42; }
  // Display mode, power management and applications clocks are words of the past.
  bool application_clocks_deprecated() const { return branch >= 580; }
};

// The newest branch that is known byte for byte: what is shown where no driver tells.
inline constexpr int kNewestBranch = 610;

// `R580`, `580`; empty for anything else.
std::optional<OutputStyle> style_named(std::string_view name);
OutputStyle style_of(const driver::DriverReadings& driver);

}  // namespace pagoda::smi
