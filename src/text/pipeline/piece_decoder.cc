#include "text/pipeline/piece_decoder.h"

#include <array>
#include <functional>
#include <numeric>

#include "text/byte_alphabet.h"
#include "text/utf8.h"

namespace pagoda::text {
namespace {

using Pieces = std::vector<std::string>;
using Step = Result<std::unique_ptr<DecoderStep>>;

class FunctionStep final : public DecoderStep {
 public:
  explicit FunctionStep(std::function<void(Pieces&)> function) : function_(std::move(function)) {}
  void apply(Pieces& pieces) const override { function_(pieces); }

 private:
  std::function<void(Pieces&)> function_;
};

Step function_step(std::function<void(Pieces&)> function) {
  return std::make_unique<FunctionStep>(std::move(function));
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  if (from.empty()) return;
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

void fuse(Pieces& pieces) {
  pieces = {std::accumulate(pieces.begin(), pieces.end(), std::string())};
}

// Spaces before marks and contractions, which tokenizing put there.
void clean_up(std::string& text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kRules = {{{" .", "."},
                                                                                     {" ?", "?"},
                                                                                     {" !", "!"},
                                                                                     {" ,", ","},
                                                                                     {" ' ", "'"},
                                                                                     {" n't", "n't"},
                                                                                     {" 'm", "'m"},
                                                                                     {" do not", " don't"},
                                                                                     {" 's", "'s"},
                                                                                     {" 've", "'ve"},
                                                                                     {" 're", "'re"}}};
  for (const auto& [from, to] : kRules) replace_all(text, from, to);
}

Step word_piece_step(const Json& part) {
  return function_step(
      [prefix = json_text(part, "prefix", "##"), cleans = json_flag(part, "cleanup", true)](Pieces& pieces) {
        for (size_t i = 0; i < pieces.size(); ++i) {
          std::string& piece = pieces[i];
          if (i > 0 && !prefix.empty() && piece.starts_with(prefix)) {
            piece.erase(0, prefix.size());
          } else if (i > 0) {
            piece.insert(0, " ");
          }
          if (cleans) clean_up(piece);
        }
      });
}

void byte_level(Pieces& pieces) {
  std::string text;
  for (const std::string& piece : pieces) text += bytes_of_alphabet(piece).value_or(piece);
  pieces = {std::move(text)};
}

// "<0xE4>" → the byte; a run of bytes that is no UTF-8 is U+FFFD for each.
void byte_fallback(Pieces& pieces) {
  Pieces out;
  std::string run;
  const auto close_run = [&] {
    if (run.empty()) return;
    if (valid_utf8_prefix(run) == run.size()) {
      out.push_back(std::move(run));
    } else {
      for (size_t i = 0; i < run.size(); ++i) out.emplace_back(kReplacementCharacter);
    }
    run.clear();
  };
  const auto digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
  };
  for (std::string& piece : pieces) {
    const bool byte = piece.size() == 6 && piece.starts_with("<0x") && piece.back() == '>' &&
                      digit(piece[3]) >= 0 && digit(piece[4]) >= 0;
    if (byte) {
      run += static_cast<char>(digit(piece[3]) * 16 + digit(piece[4]));
      continue;
    }
    close_run();
    out.push_back(std::move(piece));
  }
  close_run();
  pieces = std::move(out);
}

Step metaspace_step(const Json& part) {
  const std::string scheme =
      json_text(part, "prepend_scheme", json_flag(part, "add_prefix_space", true) ? "always" : "never");
  return function_step(
      [mark = json_text(part, "replacement", "\xE2\x96\x81"), drops = scheme != "never"](Pieces& pieces) {
        for (size_t i = 0; i < pieces.size(); ++i) replace_all(pieces[i], mark, i == 0 && drops ? "" : " ");
      });
}

Step strip_step(const Json& part) {
  return function_step([content = json_text(part, "content"), start = json_integer(part, "start", 0),
                        stop = json_integer(part, "stop", 0)](Pieces& pieces) {
    if (content.empty()) return;
    for (std::string& piece : pieces) {
      for (int64_t i = 0; i < start && piece.starts_with(content); ++i) piece.erase(0, content.size());
      for (int64_t i = 0; i < stop && piece.ends_with(content); ++i)
        piece.resize(piece.size() - content.size());
    }
  });
}

Step replace_step(const Json& part) {
  const Json& pattern = json_child(part, "pattern");
  if (!json_child(pattern, "String").is_string()) return unsupported_part("decoder", part);
  return function_step(
      [from = json_text(pattern, "String"), to = json_text(part, "content")](Pieces& pieces) {
        for (std::string& piece : pieces) replace_all(piece, from, to);
      });
}

Step suffix_step(const Json& part) {
  return function_step([suffix = json_text(part, "suffix", "</w>")](Pieces& pieces) {
    for (size_t i = 0; i < pieces.size(); ++i)
      replace_all(pieces[i], suffix, i + 1 == pieces.size() ? "" : " ");
  });
}

Step make_step(const Json& part) {
  const std::string type = json_text(part, "type");
  if (type == "ByteLevel") return function_step(byte_level);
  if (type == "ByteFallback") return function_step(byte_fallback);
  if (type == "Fuse") return function_step(fuse);
  if (type == "WordPiece") return word_piece_step(part);
  if (type == "Metaspace") return metaspace_step(part);
  if (type == "Strip") return strip_step(part);
  if (type == "Replace") return replace_step(part);
  if (type == "BPEDecoder") return suffix_step(part);
  return unsupported_part("decoder", part);
}

Status append_steps(const Json& part, std::vector<std::unique_ptr<DecoderStep>>& steps) {
  if (json_text(part, "type") == "Sequence") {
    for (const Json& inner : json_child(part, "decoders")) PAGODA_TRY(append_steps(inner, steps));
    return {};
  }
  PAGODA_ASSIGN(auto step, make_step(part));
  steps.push_back(std::move(step));
  return {};
}

}  // namespace

Result<PieceDecoder> PieceDecoder::make(const Json& part) {
  PieceDecoder decoder;
  if (!part.is_null()) PAGODA_TRY(append_steps(part, decoder.steps_));
  return decoder;
}

std::string PieceDecoder::decode(std::vector<std::string> pieces) const {
  if (pieces.empty()) return {};
  if (steps_.empty()) {
    std::string text = pieces.front();
    for (size_t i = 1; i < pieces.size(); ++i) text.append(" ").append(pieces[i]);
    return text;
  }
  for (const auto& step : steps_) step->apply(pieces);
  fuse(pieces);
  return std::move(pieces.front());
}

// Decoded behind another piece, which then is taken away again.
std::string PieceDecoder::piece_in_text(const std::string& piece) const {
  const std::string before = decode({"a"});
  std::string both = decode({"a", piece});
  return both.starts_with(before) ? both.substr(before.size()) : both;
}

}  // namespace pagoda::text
