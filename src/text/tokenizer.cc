#include "text/tokenizer.h"

#include "base/format.h"
#include "text/byte_level_tokenizer.h"
#include "text/sentence_piece_tokenizer.h"

namespace pagoda::text {
namespace {

using Load = Result<std::unique_ptr<Tokenizer>> (*)(const model::WeightMetadata&);
struct TokenizerModel {
  std::string_view name;  // tokenizer.ggml.model
  Load load;
};
constexpr TokenizerModel kTokenizerModels[] = {
    {"gpt2", &ByteLevelTokenizer::load},
    {"llama", &SentencePieceTokenizer::load},
};

}  // namespace

Result<std::unique_ptr<Tokenizer>> load_tokenizer(const model::WeightMetadata& metadata) {
  constexpr std::string_view kKey = "tokenizer.ggml.model";
  const auto name = metadata.text(kKey);
  if (!name) return fail(ErrorCode::kCorruptData, format("the model has no tokenizer: {} is missing", kKey));
  std::string known;
  for (const TokenizerModel& model : kTokenizerModels) {
    if (model.name == *name) return model.load(metadata);
    known.append(known.empty() ? "" : ", ").append(model.name);
  }
  return fail(ErrorCode::kUnsupported,
              format("{} is '{}', which is not known. Known are: {}", kKey, *name, known));
}

}  // namespace pagoda::text
