#include "faults/smi_section.h"

namespace pagoda::faults {

std::vector<std::string_view> section_marks() {
  std::vector<std::string_view> marks = {"NVIDIA-SMI ",        "| GPU  Name",   "NVSMI LOG",   "GPU 0000",
                                         "(UUID: GPU-",        "# gpu ",        "gpu_name, ",  "index, name",
                                         "index, utilization", "index, memory", "name, memory"};
  for (const QuantityRow& row : quantity_rows()) {
    if (!row.csv.empty() && row.csv != "pstate") marks.push_back(row.csv);
  }
  return marks;
}

std::unique_ptr<SmiSection> begin_section(std::string_view line, int64_t number) {
  for (const auto begin : {begin_smi_table, begin_smi_query, begin_smi_list, begin_smi_dmon, begin_smi_csv}) {
    if (auto section = begin(line, number)) return section;
  }
  return nullptr;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t at = 0;;) {
    const size_t begin = text.find_first_not_of(" \t\r", at);
    if (begin == std::string_view::npos) return words;
    at = std::min(text.find_first_of(" \t\r", begin), text.size());
    words.push_back(text.substr(begin, at - begin));
  }
}

std::vector<std::string_view> split_at(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + separator.size());
  }
}

}  // namespace pagoda::faults
