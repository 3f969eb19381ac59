// What every part of `pagoda smi` works with: the driver, the GPUs chosen, where the text goes, when to stop.
#pragma once

#include <chrono>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/smi_options.h"
#include "base/result.h"
#include "driver/gpu_snapshot_reader.h"
#include "smi/output_style.h"

namespace pagoda::app {

class SmiSession {
 public:
  // Opens NVML, chooses GPUs by `options.ids`, opens the output file. The error is an exit code; its text is
  // printed.
  static tl::expected<SmiSession, int> open(const SmiOptions& options);
  ~SmiSession();
  SmiSession(SmiSession&& other) noexcept;
  SmiSession& operator=(SmiSession&&) = delete;

  const driver::Nvml& nvml() const { return nvml_; }
  const std::vector<driver::Gpu>& gpus() const { return gpus_; }
  const smi::OutputStyle& style() const { return style_; }
  driver::MachineSnapshot read(unsigned sections) const;
  void print(const std::string& text) const;

  // Runs body `times` (0: without end), an interval apart; until it returns false, or until a signal comes.
  void repeat(std::chrono::milliseconds interval, int times, const std::function<bool()>& body) const;

  // NVML_SUCCESS, or the reason why a chosen GPU has no handle; prints NVIDIA's sentence for each.
  int report_lost() const;

 private:
  SmiSession(driver::Nvml nvml, smi::OutputStyle style) : nvml_(std::move(nvml)), style_(style) {}

  driver::Nvml nvml_;
  smi::OutputStyle style_;
  std::vector<driver::Gpu> gpus_;
  std::FILE* file_ = nullptr;  // -f; null: standard output
};

}  // namespace pagoda::app
