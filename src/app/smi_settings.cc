#include "app/smi_settings.h"

#include <array>
#include <charconv>
#include <optional>

#include "base/format.h"

namespace pagoda::app {
namespace {

using driver::Gpu;
using driver::Reading;
using driver::sentence_of;

SettingOutcome done(std::string message) {
  return {NVML_SUCCESS, std::move(message), false};
}

SettingOutcome failed(std::string_view what, const std::string& bus_id, nvmlReturn_t code) {
  return {code, format("Unable to {} for GPU {}: {}\n", what, bus_id, sentence_of(code)), false};
}

SettingOutcome unsupported(std::string_view what, const std::string& bus_id) {
  return {NVML_ERROR_NOT_SUPPORTED,
          format("{} is not supported for GPU {}.\nTreating as warning and moving on.\n", what, bus_id),
          true};
}

SettingOutcome bad_value(std::string_view what, const std::string& value, std::string_view right) {
  return {NVML_ERROR_INVALID_ARGUMENT, format("Invalid {}: '{}'; {}.\n", what, value, right), false};
}

std::optional<unsigned> whole_number(std::string_view text) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

std::optional<bool> on_or_off(std::string_view text) {
  if (text == "1" || text == "ENABLED") return true;
  if (text == "0" || text == "DISABLED") return false;
  return std::nullopt;
}

std::string_view state(bool on) {
  return on ? "Enabled" : "Disabled";
}
nvmlEnableState_t feature(bool on) {
  return on ? NVML_FEATURE_ENABLED : NVML_FEATURE_DISABLED;
}

// A mode that is on or off: set unless it already is.
template <class Call, class Now>
SettingOutcome set_mode(const Gpu& gpu, const std::string& bus_id, const std::string& value, const Call& call,
                        const Reading<Now>& now, std::string_view subject, std::string_view what) {
  const auto on = on_or_off(value);
  if (!on) return bad_value(subject, value, "0 disables and 1 enables");
  if (now && (*now != Now{}) == *on) {
    std::string capital(subject);
    capital[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(capital[0])));
    return done(format("{} is already {} for GPU {}.\n", capital, state(*on), bus_id));
  }
  const auto set = gpu.read(call, feature(*on));
  if (set) return done(format("{} {} for GPU {}.\n", state(*on), subject, bus_id));
  if (set.error().code == NVML_ERROR_NOT_SUPPORTED)
    return unsupported(format("Changing {}", subject), bus_id);
  return failed(what, bus_id, set.error().code);
}

SettingOutcome set_persistence(const Gpu& gpu, const std::string& bus_id, const std::string& value) {
  return set_mode(gpu, bus_id, value, driver::nvml::kDeviceSetPersistenceMode,
                  gpu.read(driver::nvml::kDeviceGetPersistenceMode), "persistence mode",
                  "set persistence mode");
}

SettingOutcome set_accounting(const Gpu& gpu, const std::string& bus_id, const std::string& value) {
  return set_mode(gpu, bus_id, value, driver::nvml::kDeviceSetAccountingMode,
                  gpu.read(driver::nvml::kDeviceGetAccountingMode), "accounting mode", "set accounting mode");
}

SettingOutcome set_ecc(const Gpu& gpu, const std::string& bus_id, const std::string& value) {
  const auto now = gpu.read(driver::nvml::kDeviceGetEccMode);
  const auto pending = now.map([](const auto& both) { return std::get<1>(both); });
  SettingOutcome outcome =
      set_mode(gpu, bus_id, value, driver::nvml::kDeviceSetEccMode, pending, "ECC support", "set ECC mode");
  const bool changed = outcome.code == NVML_SUCCESS && outcome.message.find("already") == std::string::npos;
  if (changed) outcome.message += "Reboot required.\n";
  return outcome;
}

// Watts, with two decimals at most.
std::optional<unsigned> milliwatts_of(const std::string& value) {
  double watts = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), watts);
  if (error != std::errc() || end != value.data() + value.size() || watts < 0 || watts > 1e5)
    return std::nullopt;
  return static_cast<unsigned>(watts * 1000 + 0.5);
}

SettingOutcome set_power_limit(const Gpu& gpu, const std::string& bus_id, const std::string& value) {
  const auto wanted = milliwatts_of(value);
  if (!wanted) return bad_value("power limit", value, "it is in watts");
  const auto bounds = gpu.read(driver::nvml::kDeviceGetPowerManagementLimitConstraints);
  const auto watts = [](unsigned mw) { return format("{:.2f} W", mw / 1000.0); };
  if (bounds && (*wanted < std::get<0>(*bounds) || *wanted > std::get<1>(*bounds))) {
    return {NVML_ERROR_INVALID_ARGUMENT,
            format("Provided power limit {} is not a valid power limit which should be between {} and {} for "
                   "GPU {}\n",
                   watts(*wanted), watts(std::get<0>(*bounds)), watts(std::get<1>(*bounds)), bus_id),
            false};
  }
  const auto before = gpu.read(driver::nvml::kDeviceGetPowerManagementLimit);
  const auto set = gpu.read(driver::nvml::kDeviceSetPowerManagementLimit, *wanted);
  if (!set && set.error().code == NVML_ERROR_NOT_SUPPORTED)
    return unsupported("Changing power management limit", bus_id);
  if (!set) return failed("set power limit", bus_id, set.error().code);
  return done(before ? format("Power limit for GPU {} was set to {} from {}.\n", bus_id, watts(*wanted),
                              watts(*before))
                     : format("Power limit for GPU {} was set to {}.\n", bus_id, watts(*wanted)));
}

// "300,1500", or one number for both.
std::optional<std::pair<unsigned, unsigned>> clock_range(const std::string& value) {
  const size_t comma = value.find(',');
  const auto low = whole_number(std::string_view(value).substr(0, comma));
  const auto high =
      comma == std::string::npos ? low : whole_number(std::string_view(value).substr(comma + 1));
  if (!low || !high || *low > *high) return std::nullopt;
  return std::pair(*low, *high);
}

template <class Call>
SettingOutcome lock_clocks(const Gpu& gpu, const std::string& bus_id, const std::string& value,
                           const Call& call, std::string_view name, std::string_view letters) {
  const auto range = clock_range(value);
  if (!range) return bad_value(format("{} clocks", name), value, "MIN,MAX or one number, in MHz");
  const auto set = gpu.read(call, range->first, range->second);
  if (set) {
    return done(format("{} clocks set to \"({}ClkMin {}, {}ClkMax {})\" for GPU {}\n", name, letters,
                       range->first, letters, range->second, bus_id));
  }
  if (set.error().code == NVML_ERROR_NOT_SUPPORTED)
    return unsupported(format("Setting locked {} clocks", name), bus_id);
  return failed(format("set {} clocks", name), bus_id, set.error().code);
}

SettingOutcome lock_gpu_clocks(const Gpu& gpu, const std::string& bus_id, const std::string& value) {
  return lock_clocks(gpu, bus_id, value, driver::nvml::kDeviceSetGpuLockedClocks, "GPU", "gpu");
}
SettingOutcome lock_memory_clocks(const Gpu& gpu, const std::string& bus_id, const std::string& value) {
  return lock_clocks(gpu, bus_id, value, driver::nvml::kDeviceSetMemoryLockedClocks, "Memory", "mem");
}

template <class Call>
SettingOutcome reset(const Gpu& gpu, const std::string& bus_id, const Call& call, std::string_view what) {
  const auto set = gpu.read(call);
  if (set) return done("");
  if (set.error().code == NVML_ERROR_NOT_SUPPORTED) return unsupported(format("Resetting {}", what), bus_id);
  return failed(format("reset {}", what), bus_id, set.error().code);
}

// "2619,1980": memory, graphics.
SettingOutcome set_application_clocks(const Gpu& gpu, const std::string& bus_id, const std::string& value) {
  const size_t comma = value.find(',');
  const auto memory = whole_number(std::string_view(value).substr(0, comma));
  const auto graphics =
      comma == std::string::npos ? std::nullopt : whole_number(std::string_view(value).substr(comma + 1));
  if (!memory || !graphics) return bad_value("applications clocks", value, "MEMORY,GRAPHICS in MHz");
  const auto set = gpu.read(driver::nvml::kDeviceSetApplicationsClocks, *memory, *graphics);
  if (set)
    return done(
        format("Applications clocks set to \"(MEM {}, SM {})\" for GPU {}\n", *memory, *graphics, bus_id));
  if (set.error().code == NVML_ERROR_NOT_SUPPORTED) return unsupported("Setting applications clocks", bus_id);
  return failed("set applications clocks", bus_id, set.error().code);
}
SettingOutcome reset_application_clocks(const Gpu& gpu, const std::string& bus_id, const std::string&) {
  return reset(gpu, bus_id, driver::nvml::kDeviceResetApplicationsClocks, "applications clocks");
}

SettingOutcome unlock_gpu_clocks(const Gpu& gpu, const std::string& bus_id, const std::string&) {
  return reset(gpu, bus_id, driver::nvml::kDeviceResetGpuLockedClocks, "GPU clocks");
}
SettingOutcome unlock_memory_clocks(const Gpu& gpu, const std::string& bus_id, const std::string&) {
  return reset(gpu, bus_id, driver::nvml::kDeviceResetMemoryLockedClocks, "memory clocks");
}
SettingOutcome clear_accounting(const Gpu& gpu, const std::string& bus_id, const std::string&) {
  return reset(gpu, bus_id, driver::nvml::kDeviceClearAccountingPids, "accounted processes");
}

SettingOutcome set_compute_mode(const Gpu& gpu, const std::string& bus_id, const std::string& value) {
  struct Row {
    std::string_view number, name;
    nvmlComputeMode_t mode;
  };
  constexpr std::array kModes = {Row{"0", "DEFAULT", NVML_COMPUTEMODE_DEFAULT},
                                 Row{"2", "PROHIBITED", NVML_COMPUTEMODE_PROHIBITED},
                                 Row{"3", "EXCLUSIVE_PROCESS", NVML_COMPUTEMODE_EXCLUSIVE_PROCESS}};
  for (const Row& row : kModes) {
    if (value != row.number && value != row.name) continue;
    const auto set = gpu.read(driver::nvml::kDeviceSetComputeMode, row.mode);
    if (set) return done(format("Set compute mode to {} for GPU {}.\n", row.name, bus_id));
    return failed("set compute mode", bus_id, set.error().code);
  }
  return bad_value("compute mode", value, "0 or DEFAULT, 2 or PROHIBITED, 3 or EXCLUSIVE_PROCESS");
}

SettingOutcome clear_ecc(const Gpu& gpu, const std::string& bus_id, const std::string& value) {
  const auto kind = whole_number(value);
  if (!kind || *kind > 1) return bad_value("ECC error type", value, "0 is volatile and 1 is aggregate");
  const auto set =
      gpu.read(driver::nvml::kDeviceClearEccErrorCounts, static_cast<nvmlEccCounterType_t>(*kind));
  if (set)
    return done(
        format("Reset {} ECC errors to 0 for GPU {}.\n", *kind == 0 ? "volatile" : "aggregate", bus_id));
  if (set.error().code == NVML_ERROR_NOT_SUPPORTED) return unsupported("Resetting ECC error counts", bus_id);
  return failed("reset ECC errors", bus_id, set.error().code);
}

SettingOutcome set_mig(const Gpu& gpu, const std::string& bus_id, const std::string& value) {
  const auto on = on_or_off(value);
  if (!on) return bad_value("MIG mode", value, "0 disables and 1 enables");
  const auto activation = gpu.read(driver::nvml::kDeviceSetMigMode, static_cast<unsigned>(*on));
  const std::string_view verb = *on ? "enable" : "disable";
  if (!activation) {
    const nvmlReturn_t code = activation.error().code;
    SettingOutcome outcome = failed(format("{} MIG Mode", verb), bus_id, code);
    if (code == NVML_ERROR_NOT_SUPPORTED) {
      outcome.message += "Treating as warning and moving on.\n";
      outcome.warning = true;
    }
    return outcome;
  }
  if (*activation != NVML_SUCCESS) {
    return done(format("Warning: MIG mode is in pending {} state for GPU {}:{}\n", verb, bus_id,
                       sentence_of(*activation)));
  }
  return done(format("{} MIG Mode for GPU {}\n", state(*on), bus_id));
}

// NVML has no public call for it; the simulated library offers one of its own.
SettingOutcome reset_gpu(const Gpu& gpu, const std::string& bus_id, const std::string&) {
  static constexpr driver::nvml::Call<nvmlReturn_t(nvmlDevice_t)> kReset{{"pagodaSimulatedDeviceReset"}};
  const auto processes = gpu.processes(driver::ProcessKind::kCompute);
  if (processes && !processes->empty()) {
    return {NVML_ERROR_IN_USE,
            format("The following GPUs could not be reset:\n  GPU {}: {}\n\n", bus_id,
                   sentence_of(NVML_ERROR_IN_USE)),
            false};
  }
  const auto set = gpu.read(kReset);
  if (set) return done(format("GPU {} was successfully reset.\n", bus_id));
  if (set.error().code == NVML_ERROR_FUNCTION_NOT_FOUND) {
    return {NVML_ERROR_NOT_SUPPORTED,
            format("The following GPUs could not be reset:\n  GPU {}: {}\n\nNVML has no public call that "
                   "resets a GPU: "
                   "reset it with the driver's own nvidia-smi, or reboot.\n",
                   bus_id, sentence_of(NVML_ERROR_NOT_SUPPORTED)),
            false};
  }
  return failed("reset the GPU", bus_id, set.error().code);
}

constexpr std::array kRows = {
    SmiSettingRow{"persistence-mode", "pm", "0|1", "keep the driver loaded without clients", set_persistence},
    SmiSettingRow{"ecc-config", "e", "0|1", "correct memory errors, from the next reset on", set_ecc},
    SmiSettingRow{"reset-ecc-errors", "p", "0|1", "set volatile (0) or aggregate (1) counts back", clear_ecc},
    SmiSettingRow{"compute-mode", "c", "MODE", "0 any process, 2 none, 3 one", set_compute_mode},
    SmiSettingRow{"power-limit", "pl", "WATTS", "the most that it may draw", set_power_limit},
    SmiSettingRow{"lock-gpu-clocks", "lgc", "MIN,MAX", "keep the GPU's clock within, in MHz",
                  lock_gpu_clocks},
    SmiSettingRow{"reset-gpu-clocks", "rgc", "", "the default again", unlock_gpu_clocks},
    SmiSettingRow{"lock-memory-clocks", "lmc", "MIN,MAX", "the same of its memory", lock_memory_clocks},
    SmiSettingRow{"reset-memory-clocks", "rmc", "", "the default again", unlock_memory_clocks},
    SmiSettingRow{"applications-clocks", "ac", "MEM,GRAPHICS", "clocks that programs run at, in MHz",
                  set_application_clocks},
    SmiSettingRow{"reset-applications-clocks", "rac", "", "the default again", reset_application_clocks},
    SmiSettingRow{"accounting-mode", "am", "0|1", "keep statistics of ended processes", set_accounting},
    SmiSettingRow{"clear-accounted-apps", "caa", "", "forget them", clear_accounting},
    SmiSettingRow{"multi-instance-gpu", "mig", "0|1", "split the GPU into instances", set_mig},
    SmiSettingRow{"gpu-reset", "r", "", "start the GPU anew; nothing may run on it", reset_gpu},
};

const SmiSettingRow* row_of(std::string_view name) {
  for (const SmiSettingRow& row : kRows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace

std::span<const SmiSettingRow> smi_setting_rows() {
  return kRows;
}

int apply_settings(const std::vector<SmiSetting>& settings, const std::vector<Gpu>& gpus, std::string& out) {
  for (const SmiSetting& setting : settings) {
    for (const Gpu& gpu : gpus) {
      const auto pci = gpu.pci();
      const std::string bus_id = pci ? pci->busId : format("{}", gpu.index());
      const SettingOutcome outcome = row_of(setting.flag)->apply(gpu, bus_id, setting.value);
      out += outcome.message;
      if (outcome.code != NVML_SUCCESS && !outcome.warning) {
        out += "Terminating early due to previous errors.\n";
        return outcome.code;
      }
    }
  }
  out += "All done.\n";
  return NVML_SUCCESS;
}

}  // namespace pagoda::app
