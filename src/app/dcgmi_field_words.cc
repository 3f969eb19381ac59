#include "app/dcgmi_field_words.h"

#include <algorithm>

#include "app/nearest.h"
#include "base/format.h"

namespace pagoda::app {
namespace {

Error unknown_field(const std::string& word) {
  const bool digits =
      !word.empty() && word.size() < 9 && word.find_first_not_of("0123456789") == std::string::npos;
  if (digits) {
    const auto owner = telemetry::owner_of_unread_field(static_cast<unsigned>(std::stoul(word)));
    if (owner)
      return {ErrorCode::kUnsupported, format("Field {} is of {}, which is not read here.", word, *owner),
              word};
    return {ErrorCode::kInvalidArgument,
            format("Unknown field id: {}. `dmon -l` lists those there are.", word), word};
  }
  std::vector<std::string_view> names;
  for (const telemetry::FieldRow& row : telemetry::field_rows()) {
    names.push_back(row.name);
    names.push_back(row.tag);
    if (!row.new_name.empty()) names.push_back(row.new_name);
  }
  const auto close = nearest(word, names);
  return {ErrorCode::kInvalidArgument,
          format("Unknown field: {}. {}", word,
                 close ? format("Did you mean {}?", *close) : "`dmon -l` lists those there are."),
          word};
}

}  // namespace

Result<std::vector<const telemetry::FieldRow*>> read_field_words(const std::string& list) {
  std::vector<const telemetry::FieldRow*> fields;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    std::string word = list.substr(begin, end - begin);
    word.erase(0, word.find_first_not_of(' '));
    word.erase(word.find_last_not_of(' ') + 1);
    const telemetry::FieldRow* row = telemetry::find_field_word(word);
    if (row == nullptr) return Unexpected(unknown_field(word));
    fields.push_back(row);
    begin = end + 1;
  }
  return fields;
}

}  // namespace pagoda::app
