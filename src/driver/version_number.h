// Versions as numbers with dots: of drivers (580.65.06), of CUDA (12.8).
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pagoda::driver {

class VersionNumber {
 public:
  VersionNumber() = default;
  // One to six groups of digits; nullopt for anything else.
  static std::optional<VersionNumber> parse(std::string_view text);
  // The first such number of at least two groups in a text: a driver's own wording changes with its version.
  static std::optional<VersionNumber> find_in(std::string_view text);

  int major() const { return part(0); }
  int part(size_t index) const { return index < parts_.size() ? parts_[index] : 0; }
  const std::string& text() const { return text_; }  // as written: "580.65.06"

  // By number, missing groups as 0: 535.54.03 < 535.183; 12.0 == 12.
  std::strong_ordering operator<=>(const VersionNumber& other) const;
  bool operator==(const VersionNumber& other) const { return (*this <=> other) == 0; }

 private:
  std::vector<int> parts_;
  std::string text_;
};

}  // namespace pagoda::driver
