// For tests: every byte is a token, and a few more. Answers can be spelled out, and characters can be split.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "text/tokenizer.h"

namespace pagoda::api::testing {

class ByteTokenizer : public text::Tokenizer {
 public:
  static constexpr int32_t kBos = 256, kEos = 257, kHello = 258, kSize = 259;

  ByteTokenizer() {
    for (int i = 0; i < 256; ++i) pieces_[static_cast<size_t>(i)] = std::string(1, static_cast<char>(i));
    pieces_[kBos] = "<s>";
    pieces_[kEos] = "</s>";
    pieces_[kHello] = "Hello";
  }

  std::vector<int32_t> encode(std::string_view text, const text::EncodeOptions& options) const override {
    std::vector<int32_t> ids;
    if (options.add_special) ids.push_back(kBos);
    for (unsigned char byte : text) ids.push_back(byte);
    return ids;
  }
  std::string_view piece(int32_t token) const override { return pieces_[static_cast<size_t>(token)]; }
  std::string decode(std::span<const int32_t> tokens, bool skip_special) const override {
    std::string out;
    for (int32_t token : tokens) {
      if (!skip_special || !is_special(token)) out += piece(token);
    }
    return out;
  }
  int size() const override { return kSize; }
  text::TokenKind kind(int32_t token) const override {
    return token == kBos || token == kEos ? text::TokenKind::kControl : text::TokenKind::kNormal;
  }
  int32_t find(std::string_view) const override { return -1; }
  int32_t bos() const override { return kBos; }
  int32_t eos() const override { return kEos; }
  const std::vector<int32_t>& end_tokens() const override { return end_tokens_; }
  bool adds_bos() const override { return true; }

 private:
  std::array<std::string, kSize> pieces_;
  std::vector<int32_t> end_tokens_{kEos};
};

}  // namespace pagoda::api::testing
