#include "model/hugging_face/sentence_piece_model.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "base/format.h"

namespace pagoda::model {
namespace {

enum ModelType : uint64_t { kUnigram = 1, kBytePairs = 2 };
constexpr int64_t kUnused = 5;  // a piece's type; GGUF has the same numbers

Unexpected corrupt() {
  return fail(ErrorCode::kCorruptData, "tokenizer.model is no SentencePiece model, or it is cut off");
}

// One field of a protobuf message (https://protobuf.dev/programming-guides/encoding): a number, or bytes.
struct Field {
  uint64_t id = 0, number = 0;
  std::string_view bytes;
};

bool take_varint(std::string_view& rest, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !rest.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

Status for_each_field(std::string_view message, const std::function<Status(const Field&)>& visit) {
  while (!message.empty()) {
    uint64_t key = 0, size = 0;
    if (!take_varint(message, key)) return corrupt();
    Field field{key >> 3, 0, {}};
    switch (key & 7) {
      case 0:
        if (!take_varint(message, field.number)) return corrupt();
        break;
      case 1:
        size = 8;
        break;
      case 2:
        if (!take_varint(message, size)) return corrupt();
        break;
      case 5:
        size = 4;
        break;
      default:
        return corrupt();
    }
    if (size > message.size()) return corrupt();
    field.bytes = message.substr(0, size);
    message.remove_prefix(size);
    PAGODA_TRY(visit(field));
  }
  return {};
}

class Translation {
 public:
  Translation(int64_t vocabulary, TextStore& texts, WeightMetadata& metadata)
      : vocabulary_(vocabulary), texts_(texts), metadata_(metadata) {}

  Status run(std::string_view bytes) {
    PAGODA_TRY(for_each_field(bytes, [&](const Field& field) -> Status {
      if (field.id == 1) return read_piece(field.bytes);
      if (field.id == 2) return read_trainer(field.bytes);
      if (field.id == 3) return read_normalizer(field.bytes);
      return {};
    }));
    if (pieces_.empty()) return corrupt();
    if (kind_ == kBytePairs) return give_byte_pairs();
    return fail(
        ErrorCode::kUnsupported,
        "tokenizer.model: only byte pairs are read in this form; bring the tokenizer.json, which "
        "transformers writes beside it: AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER)");
  }

 private:
  struct Piece {
    std::string text;
    float score = 0;
    int64_t type = 1;  // GGUF's numbers are the same
  };

  Status read_piece(std::string_view message) {
    Piece& piece = pieces_.emplace_back();
    return for_each_field(message, [&](const Field& field) -> Status {
      if (field.id == 1) piece.text = field.bytes;
      if (field.id == 2 && field.bytes.size() == sizeof piece.score)
        std::memcpy(&piece.score, field.bytes.data(), sizeof piece.score);
      if (field.id == 3) piece.type = static_cast<int64_t>(field.number);
      return {};
    });
  }

  Status read_trainer(std::string_view message) {
    return for_each_field(message, [&](const Field& field) -> Status {
      if (field.id == 3) kind_ = field.number;
      return {};
    });
  }

  Status read_normalizer(std::string_view message) {
    return for_each_field(message, [&](const Field& field) -> Status {
      if (field.id == 2) charsmap_ = field.bytes;
      if (field.id == 3) space_in_front_ = field.number != 0;
      if (field.id == 4) removes_spaces_ = field.number != 0;
      return {};
    });
  }

  Status give_byte_pairs() {
    if (!charsmap_.empty() || removes_spaces_)
      return fail(ErrorCode::kUnsupported,
                  "tokenizer.model: byte pairs behind rules of normalisation are not supported; the model's "
                  "tokenizer.json, where it has one, is");
    std::vector<std::string_view> tokens;
    std::vector<double> scores;
    std::vector<int64_t> types;
    for (Piece& piece : pieces_) {
      tokens.push_back(texts_.keep(std::move(piece.text)));
      scores.push_back(static_cast<double>(piece.score));
      types.push_back(piece.type);
    }
    for (auto id = static_cast<int64_t>(tokens.size()); id < std::min(vocabulary_, int64_t{1} << 24); ++id) {
      tokens.push_back(texts_.keep(format("[UNUSED_{}]", id)));
      scores.push_back(0);
      types.push_back(kUnused);
    }
    metadata_.set("tokenizer.ggml.model", std::string_view("llama"));
    metadata_.set("tokenizer.ggml.pre", std::string_view("tokenizer.model"));
    metadata_.set("tokenizer.ggml.tokens", std::move(tokens));
    metadata_.set("tokenizer.ggml.scores", std::move(scores));
    metadata_.set("tokenizer.ggml.token_type", std::move(types));
    metadata_.set("tokenizer.ggml.add_space_prefix", space_in_front_);
    return {};
  }

  const int64_t vocabulary_;
  TextStore& texts_;
  WeightMetadata& metadata_;
  std::vector<Piece> pieces_;
  uint64_t kind_ = kUnigram;
  bool space_in_front_ = true, removes_spaces_ = true;
  std::string charsmap_;
};

}  // namespace

Status read_sentence_piece_model(std::string_view bytes, int64_t vocabulary, TextStore& texts,
                                 WeightMetadata& metadata) {
  return Translation(vocabulary, texts, metadata).run(bytes);
}

}  // namespace pagoda::model
