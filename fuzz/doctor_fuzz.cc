// A stranger's log: events, findings, stories and the report. Read at once and in pieces it must mean the
// same.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "faults/diagnosis.h"
#include "faults/pattern_matcher.h"
#include "faults/report_json.h"
#include "faults/smi_section.h"
#include "faults/stories.h"
#include "faults/text_scanner.h"

namespace {

using namespace pagoda::faults;

// Compiled once: it takes longer than an input.
const PatternMatcher& matcher() {
  static const auto made = PatternMatcher::create(section_marks());
  if (!made) std::abort();
  return **made;
}

std::string report_of(std::string_view text, size_t step) {
  Records records;
  TextScanner scanner(matcher(), records, "fuzz");
  for (size_t at = 0; at < text.size(); at += step) {
    if (!scanner.feed(text.substr(at, step))) break;
  }
  scanner.finish();
  Report report;
  report.stories = tell_stories(find_faults(records), records);
  report.sources.push_back(scanner.summary());
  return report_as_json(report);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (report_of(text, std::max<size_t>(size, 1)) != report_of(text, 1 + size % 61)) std::abort();
  return 0;
}
