#include "model/hugging_face/tokenizer_pipeline.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/format.h"

namespace pagoda::model {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMostTokens = 1 << 24;
// GGUF's token types.
enum TokenType : int64_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6
};

Unexpected corrupt(std::string message) {
  return fail(ErrorCode::kCorruptData, "tokenizer.json: " + std::move(message));
}

// "<0x0A>", as byte fallback writes it.
bool is_byte_piece(const std::string& piece) {
  return piece.size() == 6 && piece.starts_with("<0x") && piece.ends_with('>') &&
         piece.find_first_not_of("0123456789ABCDEF", 3) == 5;
}

class Tokens {
 public:
  explicit Tokens(TextStore& texts) : texts_(texts) {}

  Status place(int64_t id, std::string text, TokenType type) {
    if (id < 0 || id >= kMostTokens) return corrupt(format("the id {} is absurd", id));
    const auto at = static_cast<size_t>(id);
    if (at >= tokens_.size()) {
      tokens_.resize(at + 1);
      types_.resize(at + 1, kUnused);
    }
    tokens_[at] = texts_.keep(std::move(text));
    types_[at] = type;
    return {};
  }

  // Pieces of an object {"piece": id}, or of a list [["piece", score]].
  Status read_model(const Json& model) {
    const Json vocab = model.is_object() ? model.value("vocab", Json()) : Json();
    if (!vocab.is_structured() || vocab.empty()) return corrupt("model.vocab is no vocabulary");
    const bool bytes = model.contains("byte_fallback") && model["byte_fallback"] == true;
    std::string unknown = model.contains("unk_token") && model["unk_token"].is_string()
                              ? model["unk_token"].get<std::string>()
                              : "";
    int64_t unknown_id =
        model.contains("unk_id") && model["unk_id"].is_number_integer() ? model["unk_id"].get<int64_t>() : -1;
    const auto type_of = [&](const std::string& piece, int64_t id) {
      if (bytes && is_byte_piece(piece)) return kByte;
      return id == unknown_id || (!unknown.empty() && piece == unknown) ? kUnknown : kNormal;
    };
    if (vocab.is_object()) {
      for (const auto& [piece, id] : vocab.items()) {
        if (!id.is_number_integer()) return corrupt(format("the id of '{}' is no integer", piece));
        if (Status placed = place(id.get<int64_t>(), piece, type_of(piece, id.get<int64_t>())); !placed)
          return placed;
      }
      return {};
    }
    for (size_t id = 0; id < vocab.size(); ++id) {
      const Json& row = vocab[id];
      if (!row.is_array() || row.empty() || !row[0].is_string())
        return corrupt("a row of model.vocab has no piece");
      const auto piece = row[0].get<std::string>();
      const auto number = static_cast<int64_t>(id);
      if (Status placed = place(number, piece, type_of(piece, number)); !placed) return placed;
    }
    return {};
  }

  Status read_added(const Json& list) {
    for (const Json& added : list) {
      const bool whole = added.is_object() && added.contains("id") && added["id"].is_number_integer() &&
                         added.contains("content") && added["content"].is_string();
      if (!whole) return corrupt("an entry of added_tokens lacks id or content");
      const bool special = added.contains("special") && added["special"] == true;
      if (Status placed = place(added["id"].get<int64_t>(), added["content"].get<std::string>(),
                                special ? kControl : kUserDefined);
          !placed)
        return placed;
    }
    return {};
  }

  // Ids that nothing names.
  Status fill(int64_t vocabulary) {
    const auto wanted = static_cast<size_t>(std::min(std::max<int64_t>(vocabulary, 0), kMostTokens));
    for (size_t id = 0; id < std::max(wanted, tokens_.size()); ++id) {
      if (id < tokens_.size() && (!tokens_[id].empty() || types_[id] != kUnused)) continue;
      if (Status placed = place(static_cast<int64_t>(id), format("[UNUSED_{}]", id), kUnused); !placed)
        return placed;
    }
    return {};
  }

  void give(WeightMetadata& metadata) {
    metadata.set("tokenizer.ggml.tokens", std::move(tokens_));
    metadata.set("tokenizer.ggml.token_type", std::move(types_));
  }

 private:
  TextStore& texts_;
  std::vector<std::string_view> tokens_;
  std::vector<int64_t> types_;
};

}  // namespace

Status keep_tokenizer_json(const Json& tokenizer, int64_t vocabulary, TextStore& texts,
                           WeightMetadata& metadata) {
  Tokens tokens(texts);
  PAGODA_TRY(tokens.read_model(tokenizer.value("model", Json())));
  if (tokenizer.contains("added_tokens")) PAGODA_TRY(tokens.read_added(tokenizer["added_tokens"]));
  PAGODA_TRY(tokens.fill(vocabulary));
  tokens.give(metadata);
  metadata.set("tokenizer.ggml.model", std::string_view("tokenizer.json"));
  metadata.set("tokenizer.ggml.pre", std::string_view("tokenizer.json"));
  metadata.set("tokenizer.pagoda.json",
               texts.keep(tokenizer.dump(-1, ' ', false, Json::error_handler_t::replace)));
  return {};
}

}  // namespace pagoda::model
