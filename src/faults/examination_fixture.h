// For tests: a text in, a report out.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "faults/examination.h"

namespace pagoda::faults {

inline Report examine_text(std::string_view text, const std::string& name = "input.log") {
  auto examination = Examination::begin();
  EXPECT_TRUE(examination) << examination.error().message;
  (*examination)->read_text(name, text);
  return (*examination)->conclude();
}

// The ids of all findings, roots of stories first, as "xid-31>xid-43 too-hot".
inline std::string ids_of(const Report& report) {
  std::string ids;
  for (const Story& story : report.stories) {
    ids += ids.empty() ? "" : " ";
    for (size_t i = 0; i < story.findings.size(); ++i)
      ids += (i > 0 ? ">" : "") + std::string(story.findings[i].fault->id);
  }
  return ids;
}

}  // namespace pagoda::faults
