#include "text/vocabulary.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "base/format.h"
#include "text/byte_alphabet.h"
#include "text/end_token_names.h"

namespace pagoda::text {
namespace {

constexpr std::string_view kEscapedSpace = "\xE2\x96\x81";  // U+2581

std::string unescape_spaces(std::string_view piece) {
  std::string bytes;
  while (true) {
    const size_t at = piece.find(kEscapedSpace);
    bytes += piece.substr(0, at);
    if (at == std::string_view::npos) return bytes;
    bytes += ' ';
    piece.remove_prefix(at + kEscapedSpace.size());
  }
}

// "<0x0A>" → 10.
std::optional<unsigned char> lone_byte(std::string_view piece) {
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  };
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece[5] != '>') return std::nullopt;
  const int high = digit(piece[3]), low = digit(piece[4]);
  if (high < 0 || low < 0) return std::nullopt;
  return static_cast<unsigned char>(high * 16 + low);
}

// A token's bytes in running text. Special tokens stand there as they are written.
std::string bytes_of_token(std::string_view written, TokenKind kind, PieceSpelling spelling) {
  if (kind == TokenKind::kControl || kind == TokenKind::kUserDefined || kind == TokenKind::kUnknown) {
    return std::string(written);
  }
  if (kind == TokenKind::kByte) {
    const auto byte = lone_byte(written);
    return byte ? std::string(1, static_cast<char>(*byte)) : std::string(written);
  }
  if (spelling == PieceSpelling::kEscapedSpaces) return unescape_spaces(written);
  auto bytes = bytes_of_alphabet(written);
  return bytes ? *std::move(bytes) : std::string(written);
}

Result<int32_t> role(const model::WeightMetadata& metadata, std::string_view key, int size,
                     int32_t otherwise) {
  if (!metadata.has(key)) return otherwise < size ? otherwise : -1;
  const auto id = metadata.integer(key);
  if (!id || *id < 0 || *id >= size) {
    return fail(ErrorCode::kCorruptData, format("{} is {}; it must be a token id below {}", key,
                                                id ? std::to_string(*id) : std::string("no integer"), size));
  }
  return static_cast<int32_t>(*id);
}

}  // namespace

Result<Vocabulary> Vocabulary::load(const model::WeightMetadata& metadata, PieceSpelling spelling,
                                    const BoundaryDefaults& defaults) {
  constexpr std::string_view kTokens = "tokenizer.ggml.tokens", kScores = "tokenizer.ggml.scores";
  const auto* tokens = metadata.texts(kTokens);
  if (tokens == nullptr || tokens->empty()) {
    return fail(ErrorCode::kCorruptData, format("the model has no vocabulary: {} is missing", kTokens));
  }
  if (tokens->size() > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    return fail(ErrorCode::kCorruptData, format("{} has {} entries, too many", kTokens, tokens->size()));
  }
  Vocabulary vocabulary;
  vocabulary.kinds_.assign(tokens->size(), TokenKind::kNormal);
  PAGODA_TRY(vocabulary.read_kinds(metadata));
  if (const auto* scores = metadata.numbers(kScores)) {
    if (scores->size() != tokens->size()) {
      return fail(ErrorCode::kCorruptData,
                  format("{} has {} entries and {} {}", kScores, scores->size(), kTokens, tokens->size()));
    }
    vocabulary.scores_ = *scores;
  }
  PAGODA_TRY(vocabulary.read_pieces(*tokens, spelling));
  vocabulary.index_pieces();
  PAGODA_TRY(vocabulary.read_roles(metadata, defaults));
  PAGODA_TRY(vocabulary.find_end_tokens(metadata));
  return vocabulary;
}

Status Vocabulary::read_kinds(const model::WeightMetadata& metadata) {
  constexpr std::string_view kKey = "tokenizer.ggml.token_type";
  // GGUF's numbers, from 1 on.
  constexpr std::array kKinds = {TokenKind::kNormal,      TokenKind::kUnknown, TokenKind::kControl,
                                 TokenKind::kUserDefined, TokenKind::kUnused,  TokenKind::kByte};
  const auto* types = metadata.integers(kKey);
  if (types == nullptr) return {};
  if (types->size() != kinds_.size()) {
    return fail(ErrorCode::kCorruptData,
                format("{} has {} entries and the vocabulary {} tokens", kKey, types->size(), kinds_.size()));
  }
  for (size_t i = 0; i < types->size(); ++i) {
    const int64_t type = (*types)[i];
    if (type < 1 || type > static_cast<int64_t>(kKinds.size())) {
      return fail(ErrorCode::kCorruptData,
                  format("{}: token {} has type {}; known are 1 to {}", kKey, i, type, kKinds.size()));
    }
    kinds_[i] = kKinds[static_cast<size_t>(type - 1)];
  }
  return {};
}

Status Vocabulary::read_pieces(const std::vector<std::string_view>& tokens, PieceSpelling spelling) {
  starts_.reserve(tokens.size() + 1);
  starts_.push_back(0);
  for (size_t i = 0; i < tokens.size(); ++i) {
    bytes_ += bytes_of_token(tokens[i], kinds_[i], spelling);
    if (bytes_.size() > std::numeric_limits<uint32_t>::max()) {
      return fail(ErrorCode::kCorruptData, "tokenizer.ggml.tokens: the pieces exceed 4 GiB");
    }
    starts_.push_back(static_cast<uint32_t>(bytes_.size()));
    if (kinds_[i] == TokenKind::kByte) {
      const auto byte = lone_byte(tokens[i]);
      if (!byte) {
        return fail(ErrorCode::kCorruptData,
                    format("tokenizer.ggml.tokens: byte token {} is not written as <0xNN>", i));
      }
      byte_tokens_[*byte] = static_cast<int32_t>(i);
    }
  }
  return {};
}

void Vocabulary::index_pieces() {
  words_.reserve(kinds_.size());
  const auto special =
      std::count_if(kinds_.begin(), kinds_.end(), [](TokenKind kind) { return kind != TokenKind::kNormal; });
  specials_.reserve(static_cast<size_t>(special));
  for (int32_t token = 0; token < size(); ++token) {
    if (piece(token).empty() || kind(token) == TokenKind::kByte) continue;
    (kind(token) == TokenKind::kNormal ? words_ : specials_).insert(piece(token), token);
  }
}

Status Vocabulary::read_roles(const model::WeightMetadata& metadata, const BoundaryDefaults& defaults) {
  PAGODA_ASSIGN(bos_, role(metadata, "tokenizer.ggml.bos_token_id", size(), defaults.bos));
  PAGODA_ASSIGN(eos_, role(metadata, "tokenizer.ggml.eos_token_id", size(), defaults.eos));
  PAGODA_ASSIGN(unknown_, role(metadata, "tokenizer.ggml.unknown_token_id", size(), defaults.unknown));
  adds_bos_ = bos_ >= 0 && metadata.boolean("tokenizer.ggml.add_bos_token").value_or(defaults.add_bos);
  adds_eos_ = eos_ >= 0 && metadata.boolean("tokenizer.ggml.add_eos_token").value_or(defaults.add_eos);
  return {};
}

Status Vocabulary::find_end_tokens(const model::WeightMetadata& metadata) {
  const auto add = [&](int32_t token) {
    if (token < 0) return;
    if (std::find(end_tokens_.begin(), end_tokens_.end(), token) == end_tokens_.end()) {
      end_tokens_.push_back(token);
    }
  };
  add(eos_);
  for (const char* key : {"tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
    PAGODA_ASSIGN(const int32_t token, role(metadata, key, size(), -1));
    add(token);
  }
  if (const auto* listed = metadata.integers("tokenizer.ggml.eos_token_ids")) {
    for (const int64_t token : *listed) {
      if (token >= 0 && token < size()) add(static_cast<int32_t>(token));
    }
  }
  for (const EndTokenName& name : kEndTokenNames) {
    const int32_t token = find(name.text);
    if (token < 0 || (kind(token) != TokenKind::kControl && !name.even_if_not_control)) continue;
    if (!name.unless_beside.empty() && find(name.unless_beside) >= 0) continue;
    kinds_[static_cast<size_t>(token)] = TokenKind::kControl;
    add(token);
  }
  return {};
}

int32_t Vocabulary::find(std::string_view piece) const {
  if (const int32_t token = words_.find(piece); token >= 0) return token;
  if (const int32_t token = specials_.find(piece); token >= 0) return token;
  return piece.size() == 1 ? byte_token(static_cast<unsigned char>(piece[0])) : -1;
}

bool Vocabulary::has_all_bytes() const {
  return std::all_of(byte_tokens_.begin(), byte_tokens_.end(), [](int32_t token) { return token >= 0; });
}

}  // namespace pagoda::text
