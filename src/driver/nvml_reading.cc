#include "driver/nvml_reading.h"

#include <algorithm>
#include <array>

namespace pagoda::driver {
namespace {

struct ReturnRow {
  nvmlReturn_t code;
  std::string_view name;
  AbsenceReason reason;
  std::string_view sentence;  // what nvmlErrorString answers
};

constexpr std::array kReturns = {
    ReturnRow{NVML_SUCCESS, "NVML_SUCCESS", AbsenceReason::kFailed, "Success"},
    ReturnRow{NVML_ERROR_UNINITIALIZED, "NVML_ERROR_UNINITIALIZED", AbsenceReason::kFailed, "Uninitialized"},
    ReturnRow{NVML_ERROR_INVALID_ARGUMENT, "NVML_ERROR_INVALID_ARGUMENT", AbsenceReason::kFailed,
              "Invalid Argument"},
    ReturnRow{NVML_ERROR_NOT_SUPPORTED, "NVML_ERROR_NOT_SUPPORTED", AbsenceReason::kUnsupported,
              "Not Supported"},
    ReturnRow{NVML_ERROR_NO_PERMISSION, "NVML_ERROR_NO_PERMISSION", AbsenceReason::kNoPermission,
              "Insufficient Permissions"},
    ReturnRow{NVML_ERROR_ALREADY_INITIALIZED, "NVML_ERROR_ALREADY_INITIALIZED", AbsenceReason::kFailed,
              "Already Initialized"},
    ReturnRow{NVML_ERROR_NOT_FOUND, "NVML_ERROR_NOT_FOUND", AbsenceReason::kNotFound, "Not Found"},
    ReturnRow{NVML_ERROR_INSUFFICIENT_SIZE, "NVML_ERROR_INSUFFICIENT_SIZE", AbsenceReason::kFailed,
              "Insufficient Size"},
    ReturnRow{NVML_ERROR_INSUFFICIENT_POWER, "NVML_ERROR_INSUFFICIENT_POWER", AbsenceReason::kFailed,
              "Insufficient External Power"},
    ReturnRow{NVML_ERROR_DRIVER_NOT_LOADED, "NVML_ERROR_DRIVER_NOT_LOADED", AbsenceReason::kFailed,
              "Driver Not Loaded"},
    ReturnRow{NVML_ERROR_TIMEOUT, "NVML_ERROR_TIMEOUT", AbsenceReason::kTimedOut, "Timeout"},
    ReturnRow{NVML_ERROR_IRQ_ISSUE, "NVML_ERROR_IRQ_ISSUE", AbsenceReason::kFailed,
              "Interrupt Request Issue"},
    ReturnRow{NVML_ERROR_LIBRARY_NOT_FOUND, "NVML_ERROR_LIBRARY_NOT_FOUND", AbsenceReason::kFailed,
              "NVML Shared Library Not Found"},
    ReturnRow{NVML_ERROR_FUNCTION_NOT_FOUND, "NVML_ERROR_FUNCTION_NOT_FOUND", AbsenceReason::kLibraryTooOld,
              "Function Not Found"},
    ReturnRow{NVML_ERROR_CORRUPTED_INFOROM, "NVML_ERROR_CORRUPTED_INFOROM", AbsenceReason::kFailed,
              "Corrupted infoROM"},
    ReturnRow{NVML_ERROR_GPU_IS_LOST, "NVML_ERROR_GPU_IS_LOST", AbsenceReason::kLost, "GPU is lost"},
    ReturnRow{NVML_ERROR_RESET_REQUIRED, "NVML_ERROR_RESET_REQUIRED", AbsenceReason::kLost,
              "GPU requires reset"},
    ReturnRow{NVML_ERROR_OPERATING_SYSTEM, "NVML_ERROR_OPERATING_SYSTEM", AbsenceReason::kFailed,
              "The operating system has blocked the request"},
    ReturnRow{NVML_ERROR_LIB_RM_VERSION_MISMATCH, "NVML_ERROR_LIB_RM_VERSION_MISMATCH",
              AbsenceReason::kFailed, "Driver/library version mismatch"},
    ReturnRow{NVML_ERROR_IN_USE, "NVML_ERROR_IN_USE", AbsenceReason::kFailed, "In use by another client"},
    ReturnRow{NVML_ERROR_MEMORY, "NVML_ERROR_MEMORY", AbsenceReason::kFailed, "Insufficient Memory"},
    ReturnRow{NVML_ERROR_NO_DATA, "NVML_ERROR_NO_DATA", AbsenceReason::kNoData, "No data"},
    ReturnRow{NVML_ERROR_VGPU_ECC_NOT_SUPPORTED, "NVML_ERROR_VGPU_ECC_NOT_SUPPORTED",
              AbsenceReason::kUnsupported,
              "The requested vgpu operation is not available on target device, "
              "becasue ECC is enabled"},
    ReturnRow{NVML_ERROR_INSUFFICIENT_RESOURCES, "NVML_ERROR_INSUFFICIENT_RESOURCES", AbsenceReason::kFailed,
              "Insufficient Resources"},
    ReturnRow{NVML_ERROR_FREQ_NOT_SUPPORTED, "NVML_ERROR_FREQ_NOT_SUPPORTED", AbsenceReason::kUnsupported,
              "Requested frequency is not supported"},
    ReturnRow{NVML_ERROR_ARGUMENT_VERSION_MISMATCH, "NVML_ERROR_ARGUMENT_VERSION_MISMATCH",
              AbsenceReason::kLibraryTooOld, "Argument version mismatch"},
    ReturnRow{NVML_ERROR_DEPRECATED, "NVML_ERROR_DEPRECATED", AbsenceReason::kDeprecated,
              "Requested functionality has been deprecated"},
    ReturnRow{NVML_ERROR_NOT_READY, "NVML_ERROR_NOT_READY", AbsenceReason::kNoData, "System is not ready"},
    ReturnRow{NVML_ERROR_GPU_NOT_FOUND, "NVML_ERROR_GPU_NOT_FOUND", AbsenceReason::kNotFound,
              "No GPUs found"},
    ReturnRow{NVML_ERROR_INVALID_STATE, "NVML_ERROR_INVALID_STATE", AbsenceReason::kFailed, "Invalid state"},
    ReturnRow{NVML_ERROR_RESET_TYPE_NOT_SUPPORTED, "NVML_ERROR_RESET_TYPE_NOT_SUPPORTED",
              AbsenceReason::kUnsupported, "Reset type not supported"},
    ReturnRow{NVML_ERROR_UNKNOWN, "NVML_ERROR_UNKNOWN", AbsenceReason::kFailed, "Unknown Error"},
};

const ReturnRow& row_of(nvmlReturn_t code) {
  const auto row =
      std::find_if(kReturns.begin(), kReturns.end(), [=](const ReturnRow& r) { return r.code == code; });
  return row == kReturns.end() ? kReturns.back() : *row;
}

}  // namespace

Absence absence_of(nvmlReturn_t code) {
  return {row_of(code).reason, code};
}

std::string_view describe(AbsenceReason reason) {
  switch (reason) {
    case AbsenceReason::kUnsupported:
      return "not supported by this GPU";
    case AbsenceReason::kNoPermission:
      return "not permitted: needs root, or the container lacks the capability";
    case AbsenceReason::kLost:
      return "the GPU is lost: off the bus, or it needs a reset";
    case AbsenceReason::kTimedOut:
      return "no answer in time: the driver hangs on this GPU";
    case AbsenceReason::kLibraryTooOld:
      return "this driver's libnvidia-ml has no such call: a newer driver is needed";
    case AbsenceReason::kDeprecated:
      return "no longer reported by this driver";
    case AbsenceReason::kNotFound:
      return "not found";
    case AbsenceReason::kNoData:
      return "nothing measured yet";
    case AbsenceReason::kFailed:
      return "the driver failed to read it";
  }
  return "the driver failed to read it";
}

std::string_view name_of(nvmlReturn_t code) {
  return row_of(code).name;
}

std::string_view sentence_of(nvmlReturn_t code) {
  return row_of(code).sentence;
}

}  // namespace pagoda::driver
