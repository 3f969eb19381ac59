#include "text/tokenizer.h"

#include "base/format.h"
#include "text/byte_level_tokenizer.h"
#include "text/pipeline/pipeline_tokenizer.h"
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
    {"tokenizer.json", &PipelineTokenizer::load},
};

}  // namespace

TokenPair Tokenizer::encode_pair(std::string_view first, std::string_view second) const {
  TokenPair pair{encode(first, {}), {}};
  pair.types.assign(pair.tokens.size(), 0);
  const std::vector<int32_t> behind = encode(second, {.add_special = false, .parse_special = true});
  pair.tokens.insert(pair.tokens.end(), behind.begin(), behind.end());
  pair.types.resize(pair.tokens.size(), 1);
  return pair;
}

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
