// A TOML file that is changed in place: the lines that are not concerned stay as they are, comments and all.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pagoda::container {

using TomlPath = std::vector<std::string>;  // {"plugins", "io.containerd.grpc.v1.cri", "enable_cdi"}

class TomlDocument {
 public:
  // kCorruptData with line and column.
  static Result<TomlDocument> parse(std::string text);

  const std::string& text() const { return text_; }

  std::optional<std::string> string_at(const TomlPath& path) const;
  std::optional<bool> bool_at(const TomlPath& path) const;
  std::optional<int64_t> integer_at(const TomlPath& path) const;
  std::vector<std::string> strings_at(const TomlPath& path) const;
  bool has_table(const TomlPath& path) const;
  // Keys of a table with their values as TOML text: to copy one table's settings into another.
  std::vector<std::pair<std::string, std::string>> values_of(const TomlPath& table) const;

  // `value` is TOML text: "true", "\"runc\"". Nothing changes where it stands there already.
  // kUnsupported: the place cannot be changed without rewriting the file (a table written inline); the file's
  // meaning elsewhere is proven unchanged.
  Status set(const TomlPath& path, const std::string& value);
  // Removes one key, or a whole table with those below it. Nothing happens where it is absent.
  Status remove(const TomlPath& path);

 private:
  explicit TomlDocument(std::string text) : text_(std::move(text)) {}
  Status accept(std::string changed, const TomlPath& path);
  std::string text_;
};

std::string toml_string(std::string_view text);
std::string toml_strings(const std::vector<std::string>& texts);
// A path as in a header: plugins."io.containerd.grpc.v1.cri"
std::string toml_path_text(const TomlPath& path);

}  // namespace pagoda::container
