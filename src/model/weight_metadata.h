// What a weight file says about itself: typed values by key, in GGUF's vocabulary ("llama.block_count",
// "tokenizer.ggml.tokens", …; https://github.com/ggml-org/ggml/blob/master/docs/gguf.md). Other formats
// translate into these keys, so that text/ and the architectures read one language.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pagoda::model {

class WeightMetadata {
 public:
  // Strings are views into the mapped file: valid as long as the weight source lives.
  using Value = std::variant<bool, int64_t, uint64_t, double, std::string_view, std::vector<bool>,
                             std::vector<int64_t>, std::vector<double>, std::vector<std::string_view>>;

  void set(std::string key, Value value) { values_.insert_or_assign(std::move(key), std::move(value)); }

  // Each returns nothing when the key is absent or of another kind. Integers convert where the value fits.
  bool has(std::string_view key) const { return values_.find(key) != values_.end(); }
  std::optional<int64_t> integer(std::string_view key) const;
  std::optional<double> number(std::string_view key) const;  // integers too
  std::optional<bool> boolean(std::string_view key) const;
  std::optional<std::string_view> text(std::string_view key) const;
  const std::vector<std::string_view>* texts(std::string_view key) const;
  const std::vector<int64_t>* integers(std::string_view key) const;
  const std::vector<double>* numbers(std::string_view key) const;
  const std::vector<bool>* booleans(std::string_view key) const;

  const std::map<std::string, Value, std::less<>>& values() const { return values_; }

 private:
  std::map<std::string, Value, std::less<>> values_;
};

}  // namespace pagoda::model
