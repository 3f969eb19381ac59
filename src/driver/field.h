// Field<T>: a Reading inside a snapshot. It starts absent, so that what nobody read is never taken for a
// zero.
#pragma once

#include <utility>

#include "driver/nvml_reading.h"

namespace pagoda::driver {

// The absence of a field before anyone has read it.
inline constexpr Absence kNotRead{AbsenceReason::kNoData, NVML_ERROR_UNINITIALIZED};

template <class T>
class Field : public Reading<T> {
 public:
  Field() : Reading<T>(tl::unexpected<Absence>(kNotRead)) {}
  Field(T value) : Reading<T>(std::move(value)) {}                    // NOLINT: a value is a reading
  Field(Reading<T> reading) : Reading<T>(std::move(reading)) {}       // NOLINT: so is what a call returned
  Field(tl::unexpected<Absence> why) : Reading<T>(std::move(why)) {}  // NOLINT: and a reason
};

}  // namespace pagoda::driver
