#include "smi/gpu_field_cells.h"

#include <ctime>

#include "base/format.h"
#include "smi/names.h"

namespace pagoda::smi {

std::string csv_time(std::chrono::system_clock::time_point time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  char buffer[32];
  const size_t length = std::strftime(buffer, sizeof(buffer), "%Y/%m/%d %H:%M:%S", &parts);
  const auto ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count() % 1000;
  return format("{}.{:03}", std::string_view(buffer, length), ms);
}

Cell compute_capability(const driver::GpuSnapshot& gpu) {
  const auto& id = gpu.identity;
  if (!id.compute_major) return absent_cell(id.compute_major.error());
  return word(format("{}.{}", *id.compute_major, id.compute_minor ? *id.compute_minor : 0));
}

Cell inforom_validity(const driver::GpuSnapshot& gpu) {
  const driver::Flag& valid = gpu.inforom.valid;
  return valid ? word(*valid ? "valid" : "invalid") : absent_cell(valid.error());
}

Cell performance_state(const driver::GpuSnapshot& gpu) {
  const auto& state = gpu.performance_state;
  return state ? word(format("P{}", *state)) : absent_cell(state.error());
}

Cell edpp_percent(const driver::GpuSnapshot& gpu) {
  const driver::Number& percent = gpu.power.edpp_percent_hundredths;
  if (!percent) return absent_cell(percent.error());
  return {format("{}.{:02}", *percent / 100, *percent % 100), "%", true, std::nullopt};
}

Cell page_count(const driver::Field<std::vector<driver::RetiredPage>>& pages) {
  if (!pages) return absent_cell(pages.error());
  return {format("{}", pages->size()), {}, true, std::nullopt};
}

Cell application_clock(const FieldContext& f, const driver::Number& mhz) {
  return f.style.application_clocks_deprecated() ? deprecated() : number(mhz, "MHz");
}

Cell smoothing(const driver::GpuSnapshot& gpu, unsigned field, SmoothingForm form) {
  const driver::Count& value = gpu.power_smoothing.field(field);
  if (!value) return absent_cell(value.error());
  switch (form) {
    case kPlain:
      return number(value);
    case kWatts:
      return number(value, "W");
    case kPercent:
      return number(value, "%");
    case kYesNo:
      return word(*value != 0 ? "Yes" : "No");
    case kEnabledDisabled:
      return word(*value != 0 ? "Enabled" : "Disabled");
    case kMilliseconds:
      return number(value, "ms");
    case kWattsPerSecond:  // the driver gives milliwatts
      return {format("{:.2f}", static_cast<double>(*value) / 1000), "W/s", true, std::nullopt};
  }
  return number(value);
}

Cell fabric_cell(const driver::GpuSnapshot& gpu, Cell cell) {
  const driver::Number& state = gpu.fabric.state;
  if (!state) return absent_cell(state.error());
  return *state != NVML_GPU_FABRIC_STATE_NOT_SUPPORTED ? cell : not_available();
}

Cell fabric_state(const driver::GpuSnapshot& gpu) {
  return named(gpu.fabric.state, kFabricStates);
}

Cell fabric_status(const driver::GpuSnapshot& gpu) {
  const driver::Number& status = gpu.fabric.status;
  if (!status) return absent_cell(status.error());
  return fabric_cell(gpu, word(driver::sentence_of(static_cast<nvmlReturn_t>(*status))));
}

Cell fabric_health(const driver::GpuSnapshot& gpu, unsigned shift) {
  const driver::Number& mask = gpu.fabric.health_mask;
  if (!mask) return absent_cell(mask.error());
  return fabric_cell(gpu, named(driver::Number(*mask >> shift & 3), kFabricAnswers));
}

Cell fabric_configuration(const driver::GpuSnapshot& gpu) {
  const driver::Number& mask = gpu.fabric.health_mask;
  if (!mask) return absent_cell(mask.error());
  const unsigned value = *mask >> NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_INCORRECT_CONFIGURATION & 15;
  return fabric_cell(gpu, named(driver::Number(value), kFabricConfigurations));
}

}  // namespace pagoda::smi
