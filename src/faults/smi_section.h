// One output of nvidia-smi inside a text, read line by line: each form is a class in its own file.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "faults/reported_readings.h"

namespace pagoda::faults {

class SmiSection {
 public:
  virtual ~SmiSection() = default;
  // False: the line does not belong to this output any more; the section has ended before it.
  virtual bool take(std::string_view line, int64_t number) = 0;
  // No further line comes.
  virtual void finish() {}
  // Whether each GPU in `snapshot` is complete once it is there, so that long series can be handed on.
  virtual bool is_series() const { return false; }

  Snapshot snapshot;
};

// Texts that stand in the first line of an output.
std::vector<std::string_view> section_marks();
// Begins the section whose first line this is, having taken it; nullptr: it begins none.
std::unique_ptr<SmiSection> begin_section(std::string_view line, int64_t number);

// By form; nullptr when the line is no such beginning.
std::unique_ptr<SmiSection> begin_smi_table(std::string_view line, int64_t number);
std::unique_ptr<SmiSection> begin_smi_query(std::string_view line, int64_t number);
std::unique_ptr<SmiSection> begin_smi_csv(std::string_view line, int64_t number);
std::unique_ptr<SmiSection> begin_smi_list(std::string_view line, int64_t number);
std::unique_ptr<SmiSection> begin_smi_dmon(std::string_view line, int64_t number);

// Shared by the forms.
std::string_view trimmed(std::string_view text);
std::vector<std::string_view> words_of(std::string_view text);
std::vector<std::string_view> split_at(std::string_view text, std::string_view separator);

}  // namespace pagoda::faults
