// A tokenizer.json that text/pipeline carries out as it is: the metadata hold its text, and what the roles
// and kinds of its tokens are.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "model/hugging_face/text_store.h"
#include "model/weight_metadata.h"

namespace pagoda::model {

// Sets tokenizer.ggml.{model, tokens, token_type} and tokenizer.pagoda.json. `vocabulary`: the embedding's
// number of rows; ids that the file does not name become unused tokens. kCorruptData: a vocabulary that is
// none.
Status keep_tokenizer_json(const nlohmann::json& tokenizer, int64_t vocabulary, TextStore& texts,
                           WeightMetadata& metadata);

}  // namespace pagoda::model
