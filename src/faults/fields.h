// What a line said, by name: gpu, pid, process, wanted, …; and the templates that put it into a sentence.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pagoda::faults {

// A name as it is kept: the same for equal texts, and there as long as the program.
std::string_view lasting_name(std::string_view text);

class Fields {
 public:
  // An empty value removes the field. `name` is a literal of the program, or made by lasting_name().
  void set(std::string_view name, std::string value);
  // Empty: there is no such field.
  std::string_view get(std::string_view name) const;
  bool has(std::string_view name) const { return !get(name).empty(); }
  // Takes over what `other` has and this has not.
  void add_missing(const Fields& other);
  const std::vector<std::pair<std::string_view, std::string>>& all() const { return values_; }

 private:
  std::vector<std::pair<std::string_view, std::string>> values_;
};

// "{name}" is the field's value. "[… {name} …]" stands only when every field inside it is there; brackets do
// not nest. Outside brackets a missing field is "?".
std::string fill(std::string_view text, const Fields& fields);

}  // namespace pagoda::faults
