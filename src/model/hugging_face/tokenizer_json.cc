#include "model/hugging_face/tokenizer_json.h"

#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/format.h"
#include "model/hugging_face/tokenizer_pipeline.h"

namespace pagoda::model {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kSpace = "\xE2\x96\x81";  // U+2581
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
Unexpected unsupported(std::string_view part, const Json& value) {
  std::string text = value.dump();
  if (text.size() > 160) text = text.substr(0, 160) + "…";
  return fail(ErrorCode::kUnsupported, format("tokenizer.json: {} is not supported: {}", part, text));
}

// Null where there is no such key: vocabularies are too large to be copied about.
const Json& child(const Json& object, const char* key) {
  static const Json none;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() ? *found : none;
}

std::string type_of(const Json& part) {
  return part.is_object() && part.contains("type") && part["type"].is_string()
             ? part["type"].get<std::string>()
             : "";
}

bool flag(const Json& part, const char* key, bool otherwise) {
  return part.contains(key) && part[key].is_boolean() ? part[key].get<bool>() : otherwise;
}

// The parts of a Sequence, or the one part itself; none for null.
std::vector<Json> parts_of(const Json& value, const char* list) {
  if (value.is_null()) return {};
  if (type_of(value) != "Sequence") return {value};
  std::vector<Json> parts;
  for (const Json& part : child(value, list)) parts.push_back(part);
  return parts;
}

class Translation {
 public:
  Translation(const Json& file, int64_t vocabulary, TextStore& texts, WeightMetadata& metadata)
      : file_(file), vocabulary_(vocabulary), texts_(texts), metadata_(metadata) {}

  Status run() {
    const Json& model = part("model");
    if (type_of(model) != "BPE") return unsupported("the model's type", child(model, "type"));
    PAGODA_TRY(refuse_special_rules(model));
    byte_level_ = is_byte_level();
    if (!byte_level_ && !flag(model, "byte_fallback", false))
      return unsupported("BPE without ByteLevel or byte_fallback; the pre-tokenizer", part("pre_tokenizer"));
    PAGODA_TRY(read_tokens(model));
    PAGODA_TRY(read_merges(model));
    PAGODA_TRY(byte_level_ ? read_byte_level(model) : read_escaped_spaces());
    read_boundaries();
    metadata_.set("tokenizer.ggml.pre", std::string_view("tokenizer.json"));
    metadata_.set("tokenizer.ggml.model", texts_.keep(byte_level_ ? "gpt2" : "llama"));
    return {};
  }

 private:
  const Json& part(const char* key) const { return child(file_, key); }

  // What only the pipeline carries out.
  Status refuse_special_rules(const Json& model) const {
    for (const char* affix : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      if (child(model, affix).is_string() && child(model, affix) != "")
        return unsupported(affix, model[affix]);
    }
    if (child(model, "dropout").is_number()) return unsupported("dropout", model["dropout"]);
    const bool normalizes = !part("normalizer").is_null();
    for (const Json& added : part("added_tokens")) {
      if (!added.is_object()) continue;
      const bool strips = flag(added, "lstrip", false) || flag(added, "rstrip", false);
      if (strips || flag(added, "single_word", false) || (normalizes && flag(added, "normalized", false)))
        return unsupported("an added token with rules of its own", added);
    }
    for (const Json& step : parts_of(part("post_processor"), "processors")) {
      const std::string type = type_of(step);
      if (type != "ByteLevel" && type != "TemplateProcessing") return unsupported("the post-processor", step);
      int special = 0;
      for (const Json& item : child(step, "single"))
        special += item.is_object() && item.contains("SpecialToken");
      const Json& single = child(step, "single");
      const bool at_ends =
          special <= 2 && single.is_array() && !single.empty() &&
          special == (single.front().contains("SpecialToken") ? 1 : 0) +
                         (single.size() > 1 && single.back().contains("SpecialToken") ? 1 : 0);
      if (type == "TemplateProcessing" && !at_ends) return unsupported("the post-processor", step);
    }
    return {};
  }

  bool is_byte_level() const {
    for (const char* key : {"pre_tokenizer", "decoder"}) {
      for (const Json& step : parts_of(part(key), key[0] == 'p' ? "pretokenizers" : "decoders")) {
        if (type_of(step) == "ByteLevel") return true;
      }
    }
    return false;
  }

  Status place(int64_t id, std::string text, TokenType type) {
    if (id < 0 || id >= kMostTokens)
      return fail(ErrorCode::kCorruptData, format("tokenizer.json: the id {} is absurd", id));
    if (static_cast<size_t>(id) >= tokens_.size()) {
      tokens_.resize(static_cast<size_t>(id) + 1);
      types_.resize(static_cast<size_t>(id) + 1, kUnused);
    }
    tokens_[static_cast<size_t>(id)] = texts_.keep(std::move(text));
    types_[static_cast<size_t>(id)] = type;
    return {};
  }

  Status read_tokens(const Json& model) {
    const Json& vocab = child(model, "vocab");
    if (!vocab.is_object() || vocab.empty())
      return fail(ErrorCode::kCorruptData, "tokenizer.json: model.vocab is no object");
    const std::string unknown = model.contains("unk_token") && model["unk_token"].is_string()
                                    ? model["unk_token"].get<std::string>()
                                    : "";
    for (const auto& [text, id] : vocab.items()) {
      if (!id.is_number_integer())
        return fail(ErrorCode::kCorruptData, format("tokenizer.json: the id of '{}' is no integer", text));
      const bool byte = !byte_level_ && text.size() == 6 && text.starts_with("<0x") && text.ends_with('>');
      PAGODA_TRY(place(id.get<int64_t>(), text,
                       byte                                  ? kByte
                       : !unknown.empty() && text == unknown ? kUnknown
                                                             : kNormal));
    }
    for (const Json& added : part("added_tokens")) {
      if (!child(added, "content").is_string() || !child(added, "id").is_number_integer())
        return fail(ErrorCode::kCorruptData, "tokenizer.json: an entry of added_tokens lacks id or content");
      PAGODA_TRY(place(added["id"].get<int64_t>(), added["content"].get<std::string>(),
                       flag(added, "special", false) ? kControl : kUserDefined));
    }
    for (auto id = static_cast<int64_t>(tokens_.size()); id < std::min(vocabulary_, kMostTokens); ++id)
      PAGODA_TRY(place(id, format("[UNUSED_{}]", id), kUnused));
    for (size_t id = 0; id < tokens_.size(); ++id) {
      if (tokens_[id].empty())
        PAGODA_TRY(place(static_cast<int64_t>(id), format("[UNUSED_{}]", id), kUnused));
    }
    metadata_.set("tokenizer.ggml.tokens", tokens_);
    metadata_.set("tokenizer.ggml.token_type", types_);
    return {};
  }

  // "a b" or ["a", "b"]; the order is the rank.
  Status read_merges(const Json& model) {
    std::vector<std::string_view> merges;
    std::vector<std::string> wholes;
    for (const Json& merge : child(model, "merges")) {
      std::string left, right;
      if (merge.is_string()) {
        const auto& text = merge.get_ref<const std::string&>();
        const size_t space = text.find(' ', 1);
        if (space == std::string::npos)
          return fail(ErrorCode::kCorruptData, "tokenizer.json: a merge is not two pieces");
        left = text.substr(0, space), right = text.substr(space + 1);
      } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
        left = merge[0].get<std::string>(), right = merge[1].get<std::string>();
      } else {
        return fail(ErrorCode::kCorruptData, "tokenizer.json: a merge is not two pieces");
      }
      wholes.push_back(left + right);
      merges.push_back(texts_.keep(left + " " + right));
    }
    if (byte_level_) {
      metadata_.set("tokenizer.ggml.merges", std::move(merges));
    } else {
      metadata_.set("tokenizer.ggml.scores", scores_of(wholes));
    }
    return {};
  }

  // SentencePiece merges by the score of what comes out: its first merge's rank says the same. What no merge
  // makes comes last.
  std::vector<double> scores_of(const std::vector<std::string>& wholes) const {
    std::unordered_map<std::string_view, double> rank;
    for (size_t i = 0; i < wholes.size(); ++i) rank.emplace(wholes[i], static_cast<double>(i));
    std::vector<double> scores;
    for (const std::string_view token : tokens_) {
      const auto found = rank.find(token);
      scores.push_back(-(found == rank.end() ? static_cast<double>(wholes.size()) : found->second));
    }
    return scores;
  }

  Status read_byte_level(const Json& model) {
    bool nfc = false;
    for (const Json& step : parts_of(part("normalizer"), "normalizers")) {
      if (type_of(step) != "NFC") return unsupported("the normalizer", step);
      nfc = true;
    }
    std::vector<std::string_view> kinds, patterns;
    for (const Json& step : parts_of(part("pre_tokenizer"), "pretokenizers"))
      PAGODA_TRY(add_split(step, kinds, patterns));
    metadata_.set("tokenizer.pagoda.split_kinds", std::move(kinds));
    metadata_.set("tokenizer.pagoda.split_patterns", std::move(patterns));
    metadata_.set("tokenizer.pagoda.nfc", nfc);
    metadata_.set("tokenizer.pagoda.whole_words_first", flag(model, "ignore_merges", false));
    return {};
  }

  Status add_split(const Json& step, std::vector<std::string_view>& kinds,
                   std::vector<std::string_view>& patterns) {
    const std::string type = type_of(step);
    const auto add = [&](std::string_view kind, std::string pattern) {
      kinds.push_back(kind);
      patterns.push_back(texts_.keep(std::move(pattern)));
      return Status();
    };
    if (type == "ByteLevel") {
      if (flag(step, "add_prefix_space", false))
        return unsupported("a pre-tokenizer with add_prefix_space", step);
      return flag(step, "use_regex", true) ? add("gpt-2", "") : Status();
    }
    if (type == "Digits" && flag(step, "individual_digits", false)) return add("digits", "");
    if (type == "Split" && step.value("behavior", "") == "Isolated" && !flag(step, "invert", false)) {
      const Json& pattern = child(child(step, "pattern"), "Regex");
      if (pattern.is_string()) return add("isolate", pattern.get<std::string>());
    }
    return unsupported("the pre-tokenizer", step);
  }

  // Spaces are written as "▁": by the normalizer or, in newer files, by the pre-tokenizer Metaspace.
  Status read_escaped_spaces() {
    bool prefix = false;
    for (const Json& step : parts_of(part("normalizer"), "normalizers")) {
      const std::string type = type_of(step);
      const bool escapes = type == "Replace" && child(step, "pattern") == Json{{"String", " "}} &&
                           step.value("content", "") == kSpace;
      if (type == "Prepend" && step.value("prepend", "") == kSpace) {
        prefix = true;
      } else if (!escapes) {
        return unsupported("the normalizer", step);
      }
    }
    for (const Json& step : parts_of(part("pre_tokenizer"), "pretokenizers")) {
      const std::string type = type_of(step);
      const bool metaspace = type == "Metaspace" && step.value("replacement", "") == kSpace;
      const bool whole_spaces =
          type == "Split" && child(step, "pattern") == Json{{"String", " "}};  // none are left to split at
      if (!metaspace && !whole_spaces) return unsupported("the pre-tokenizer", step);
      if (metaspace) prefix = step.value("prepend_scheme", "always") != "never";
    }
    metadata_.set("tokenizer.ggml.add_space_prefix", prefix);
    return {};
  }

  // A template that begins with a special token puts it before every text; one that ends with one, behind.
  void read_boundaries() {
    bool adds_bos = false, adds_eos = false;
    for (const Json& step : parts_of(part("post_processor"), "processors")) {
      if (type_of(step) != "TemplateProcessing") continue;
      const Json& single = child(step, "single");
      if (!single.is_array() || single.empty()) continue;
      adds_bos = single.front().contains("SpecialToken");
      adds_eos = single.size() > 1 && single.back().contains("SpecialToken");
    }
    metadata_.set("tokenizer.ggml.add_bos_token", adds_bos);
    metadata_.set("tokenizer.ggml.add_eos_token", adds_eos);
  }

  const Json& file_;
  const int64_t vocabulary_;
  TextStore& texts_;
  WeightMetadata& metadata_;
  bool byte_level_ = false;
  std::vector<std::string_view> tokens_;
  std::vector<int64_t> types_;
};

}  // namespace

Status read_tokenizer_json(const Json& tokenizer, int64_t vocabulary, TextStore& texts,
                           WeightMetadata& metadata) {
  if (!tokenizer.is_object()) return fail(ErrorCode::kCorruptData, "tokenizer.json is no JSON object");
  WeightMetadata translated;
  const Status status = Translation(tokenizer, vocabulary, texts, translated).run();
  if (status) {
    for (const auto& [key, value] : translated.values()) metadata.set(key, value);
    return {};
  }
  if (status.error().code != ErrorCode::kUnsupported) return status;
  return keep_tokenizer_json(tokenizer, vocabulary, texts, metadata);
}

}  // namespace pagoda::model
