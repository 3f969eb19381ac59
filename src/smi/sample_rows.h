// The statistics of a sample buffer: duration, number, greatest, least, mean.
#pragma once

#include "smi/query_report.h"

namespace pagoda::smi {

struct SampleForm {
  std::string_view unit;
  double scale;  // of a raw sample
  int decimals;
};
inline constexpr SampleForm kPowerSamples{"W", 0.001, 2};
inline constexpr SampleForm kPercentSamples{"%", 1, 0};
inline constexpr SampleForm kClockSamples{"MHz", 1, 0};

void add_samples(const driver::Field<driver::SampleSummary>& samples, const SampleForm& form,
                 ReportNode& parent);

}  // namespace pagoda::smi
