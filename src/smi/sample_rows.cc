#include "smi/sample_rows.h"

#include "base/format.h"

namespace pagoda::smi {

void add_samples(const driver::Field<driver::SampleSummary>& samples, const SampleForm& form,
                 ReportNode& parent) {
  const auto add = [&](std::string_view label, std::string_view tag, Cell cell) {
    parent.children.push_back(
        {.label = std::string(label), .tag = std::string(tag), .cell = std::move(cell)});
  };
  const auto raw = [&](double value) {
    return Cell{format("{:.{}f}", value * form.scale, form.decimals), form.unit, true, std::nullopt};
  };
  // NVIDIA's words for an empty buffer.
  const Cell none = samples ? Cell{} : Cell{"Not Found", {}, false, samples.error()};
  add("Duration", "duration", samples ? Cell{format("{:.2f}", samples->duration_s), "sec", true, {}} : none);
  add("Number of Samples", "number_of_samples",
      samples ? Cell{format("{}", samples->count), {}, true, {}} : none);
  add("Max", "max", samples ? raw(samples->max) : none);
  add("Min", "min", samples ? raw(samples->min) : none);
  add("Avg", "avg", samples ? raw(samples->mean) : none);
}

}  // namespace pagoda::smi
