// The last stage of a tokenizer.json before the model: which tokens stand around a text, or around two of
// them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "text/pipeline/json_part.h"
#include "text/tokenizer.h"

namespace pagoda::text {

class Framing {
 public:
  // From post_processor; null: nothing stands around a text.
  static Result<Framing> make(const Json& part);

  std::vector<int32_t> frame(std::vector<int32_t> text) const;
  TokenPair frame(std::span<const int32_t> first, std::span<const int32_t> second) const;

  // The first token that stands before, and the last that stands behind; -1: none.
  int32_t before() const;
  int32_t behind() const;
  // The largest id that stands around a text; -1: none.
  int32_t largest() const;

 private:
  struct Item {
    enum class Kind { kToken, kFirst, kSecond };
    Kind kind = Kind::kFirst;
    int32_t token = -1;
    int32_t type = 0;
  };
  Status read_template(const Json& part);
  static Result<std::vector<Item>> items_of(const Json& list, const Json& special_tokens);
  Status read_ends(const Json& part, bool doubled);

  std::vector<Item> single_ = {{Item::Kind::kFirst, -1, 0}};
  std::vector<Item> pair_ = {{Item::Kind::kFirst, -1, 0}, {Item::Kind::kSecond, -1, 0}};
};

}  // namespace pagoda::text
