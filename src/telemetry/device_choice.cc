#include "telemetry/device_choice.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "base/format.h"

namespace pagoda::telemetry {
namespace {

constexpr unsigned kMostIndices = 1024;

Unexpected wrong(std::string_view text, std::string_view what) {
  return fail(ErrorCode::kInvalidArgument, format("'{}': {}; write f, g, i, g:0,2-4 or g+i", text, what));
}

std::string_view take_part(std::string_view& text, char separator) {
  const size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

std::optional<unsigned> read_index(std::string_view text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || value >= kMostIndices)
    return std::nullopt;
  return value;
}

Result<std::vector<unsigned>> read_indices(std::string_view list, std::string_view whole) {
  std::vector<unsigned> indices;
  do {
    std::string_view range = take_part(list, ',');
    const std::string_view shown = range;
    const auto first = read_index(take_part(range, '-'));
    const auto last = range.empty() ? first : read_index(range);
    if (!first || !last || *last < *first || shown.ends_with('-'))
      return wrong(whole, format("'{}' is no index and no range from lower to higher", shown));
    for (unsigned index = *first; index <= *last; ++index) indices.push_back(index);
  } while (!list.empty());
  return indices;
}

bool chosen(const DeviceChoice::Indices& indices, unsigned index) {
  return indices &&
         (indices->empty() || std::find(indices->begin(), indices->end(), index) != indices->end());
}

}  // namespace

bool DeviceChoice::has_gpu(unsigned index, bool in_mig_mode) const {
  return flexible ? !in_mig_mode : chosen(gpus, index);
}

bool DeviceChoice::has_instance(unsigned index) const {
  return flexible || chosen(instances, index);
}

Result<DeviceChoice> parse_device_choice(std::string_view text) {
  DeviceChoice choice;
  if (text == "f") return choice;
  choice.flexible = false;
  std::string_view rest = text;
  do {
    std::string_view list = take_part(rest, '+');
    const bool has_list = list.find(':') != std::string_view::npos;
    const std::string_view letter = take_part(list, ':');
    if (letter == "f") return wrong(text, "f stands alone");
    if (letter != "g" && letter != "i") return wrong(text, format("'{}' is none of f, g, i", letter));
    DeviceChoice::Indices& indices = letter == "g" ? choice.gpus : choice.instances;
    if (indices) return wrong(text, format("{} stands twice", letter));
    indices.emplace();
    if (has_list) {
      PAGODA_ASSIGN(*indices, read_indices(list, text));
    }
  } while (!rest.empty());
  if (text.ends_with('+')) return wrong(text, "nothing stands behind the +");
  return choice;
}

}  // namespace pagoda::telemetry
