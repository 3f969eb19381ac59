// The parts of a Hugging Face folder that only encoders have: BERT's and RoBERTa's config.json, the modules
// of sentence-transformers, their tensors' names; all in GGUF's words.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/hugging_face/text_store.h"
#include "model/weight_metadata.h"

namespace pagoda::model {

bool is_encoder_config(const nlohmann::json& config);

// Sets general.architecture and bert.*. kUnsupported names the key whose value is not carried out.
Status read_encoder_config_json(const nlohmann::json& config, TextStore& texts, WeightMetadata& metadata);

// modules.json, its pooling and normalising modules and sentence_bert_config.json, where the folder has them.
Status read_sentence_modules(const std::string& folder, WeightMetadata& metadata);

// "encoder.layer.0.attention.self.query.weight" → "blk.0.attn_q.weight"; empty: not wanted.
std::string encoder_tensor_name(std::string_view name);

}  // namespace pagoda::model
