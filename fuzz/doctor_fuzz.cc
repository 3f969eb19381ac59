// A stranger's log: events, readings, stories and both reports. Read at once and in pieces it must mean the
// same.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "faults/examination.h"
#include "faults/report_json.h"
#include "faults/text_scanner.h"

namespace {

using namespace pagoda::faults;

const PatternMatcher& matcher() {
  static const auto made = PatternMatcher::create(section_marks());
  if (!made) std::abort();
  return **made;
}

int64_t count_events(std::string_view text, size_t step) {
  Records records;
  TextScanner scanner(matcher(), records, "fuzz");
  for (size_t at = 0; at < text.size(); at += step) {
    if (!scanner.feed(text.substr(at, step))) break;
  }
  scanner.finish();
  int64_t count = 0;
  for (const EventGroup& group : records.events.groups()) count += group.count;
  return count;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (count_events(text, std::max<size_t>(size, 1)) != count_events(text, 1 + size % 61)) std::abort();
  auto examination = Examination::begin();
  if (!examination) std::abort();
  (*examination)->read_text("fuzz", text);
  if (report_as_json((*examination)->conclude()).empty()) std::abort();
  return 0;
}
