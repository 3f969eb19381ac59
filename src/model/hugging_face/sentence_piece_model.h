// tokenizer.model, SentencePiece's own file, in GGUF's words: for folders without a tokenizer.json. Source of
// the format: https://github.com/google/sentencepiece, src/sentencepiece_model.proto.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "model/hugging_face/text_store.h"
#include "model/weight_metadata.h"

namespace pagoda::model {

// A model of byte pairs becomes the tokenizer "llama". kUnsupported: other kinds, and byte pairs behind rules
// of normalisation. kCorruptData: not such a file.
Status read_sentence_piece_model(std::string_view bytes, int64_t vocabulary, TextStore& texts,
                                 WeightMetadata& metadata);

}  // namespace pagoda::model
