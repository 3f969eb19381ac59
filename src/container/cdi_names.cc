#include "container/cdi_names.h"

#include "base/format.h"

namespace pagoda::container {
namespace {

bool letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool letter_or_digit(char c) {
  return letter(c) || (c >= '0' && c <= '9');
}

bool well_formed(std::string_view word, std::string_view within) {
  if (word.empty() || !letter_or_digit(word.front()) || !letter_or_digit(word.back())) return false;
  for (const char c : word) {
    if (!letter_or_digit(c) && within.find(c) == std::string_view::npos) return false;
  }
  return true;
}

}  // namespace

Status check_cdi_kind(std::string_view kind) {
  const size_t slash = kind.find('/');
  const std::string_view vendor = kind.substr(0, slash);
  const std::string_view device_class = slash == std::string_view::npos ? "" : kind.substr(slash + 1);
  if (well_formed(vendor, "-_.") && letter(vendor.front()) && well_formed(device_class, "-_.") &&
      letter(device_class.front())) {
    return {};
  }
  return fail(ErrorCode::kCorruptData, format("kind '{}' is not of the form vendor.com/class", kind));
}

Status check_cdi_device_name(std::string_view name) {
  if (well_formed(name, "-_.:")) return {};
  return fail(
      ErrorCode::kCorruptData,
      format("device name '{}': letters, digits and -_.: only, a letter or digit at both ends", name));
}

}  // namespace pagoda::container
