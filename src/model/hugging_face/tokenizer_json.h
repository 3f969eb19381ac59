// tokenizer.json in the words of GGUF's tokenizer keys. Source of the format: the `tokenizers` package.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "base/result.h"
#include "model/hugging_face/text_store.h"
#include "model/weight_metadata.h"

namespace pagoda::model {

// What the two fast tokenizers of text/ do is translated for them: byte-level BPE, and BPE over "▁" with byte
// fallback. `vocabulary` is the embedding's number of rows: ids that the file does not name become unused
// tokens. Sets
//   tokenizer.ggml.{model, tokens, token_type, merges or scores, add_bos_token, add_space_prefix}
// and, for byte-level BPE, how words are cut, step by step (text/pre_tokenizer_rules.h):
//   tokenizer.pagoda.split_kinds ("isolate"; "digits" and "gpt-2" without a pattern), .split_patterns, .nfc,
//   .whole_words_first
// Every other file is kept whole for text/pipeline (tokenizer_pipeline.h), whose loading names what it cannot
// carry out.
Status read_tokenizer_json(const nlohmann::json& tokenizer, int64_t vocabulary, TextStore& texts,
                           WeightMetadata& metadata);

}  // namespace pagoda::model
