// Reading<T>: what NVML answered, or why there is nothing. Absent is neither zero nor healthy, so a reader
// never gets a number that was not read. NVML's own return code is kept: exit statuses and some sentences are
// made from it.
#pragma once

#include <nvml.h>

#include <string_view>
#include <tl/expected.hpp>

namespace pagoda::driver {

enum class AbsenceReason {
  kUnsupported,    // this GPU, or this mode of it (MIG, vGPU), has no such value
  kNoPermission,   // root only, or a container without the capability
  kLost,           // the GPU is off the bus, or needs a reset before it answers
  kTimedOut,       // no answer by the deadline; the call may still be stuck in the driver
  kLibraryTooOld,  // this driver's library has no such call, or not this version of its struct
  kDeprecated,     // the driver has given the value up
  kNotFound,       // no such device, process, link, instance
  kNoData,         // supported, but nothing measured yet
  kFailed,         // anything else; `code` tells
};

struct Absence {
  AbsenceReason reason = AbsenceReason::kFailed;
  nvmlReturn_t code = NVML_ERROR_UNKNOWN;  // as NVML returned it; NVML_ERROR_TIMEOUT for a missed deadline
  bool operator==(const Absence&) const = default;
};

template <class T>
using Reading = tl::expected<T, Absence>;

// The absence that a return code other than NVML_SUCCESS means.
Absence absence_of(nvmlReturn_t code);
inline tl::unexpected<Absence> absent(nvmlReturn_t code) {
  return tl::unexpected<Absence>(absence_of(code));
}

// For people, without a full stop: "not supported by this GPU".
std::string_view describe(AbsenceReason reason);
// The constant's name: "NVML_ERROR_GPU_IS_LOST"; "NVML_ERROR_UNKNOWN" for a number that the header does not
// know.
std::string_view name_of(nvmlReturn_t code);
// NVML's own sentence for a return code, from a table of ours, because nvmlErrorString needs a library that
// loads.
std::string_view sentence_of(nvmlReturn_t code);

}  // namespace pagoda::driver
