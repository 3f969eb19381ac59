// What a model is, read from its files without loading it: for `pagoda inspect`.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/encoder_config.h"
#include "model/model_config.h"
#include "model/weight_source.h"
#include "text/tokenizer.h"

namespace pagoda::app {

struct DtypeShare {
  int64_t tensors = 0, parameters = 0, bytes = 0;
};

struct TokenizerFacts {
  std::string kind;  // "gpt2 (llama-bpe)", "WordPiece", …
  int tokens = 0;
  std::string bos, eos;                 // as text; empty: none
  std::vector<std::string> end_tokens;  // whatever ends an answer
  bool adds_bos = false;
};

struct MemoryFacts {
  int64_t weights = 0;             // packed for the kernels, bytes
  int64_t activations = 0;         // of a step of kStepTokens tokens, with one row of logits
  int64_t kv_per_token = 0;        // 0: an encoder keeps none
  int64_t kv_of_full_context = 0;  // one sequence
};

struct ModelFacts {
  std::string path, format;  // "GGUF", "Hugging Face folder"
  std::string name;
  std::optional<model::ModelConfig> decoder;  // exactly one of the two
  std::optional<model::EncoderConfig> encoder;
  int64_t parameters = 0, bytes = 0;
  std::map<std::string, DtypeShare> dtypes;
  TokenizerFacts tokenizer;
  std::string tokenizer_fault;  // why there is none that can be used
  int64_t template_characters = 0;
  bool template_knows_tools = false;
  MemoryFacts memory;
};

inline constexpr int kStepTokens = 512;

// `path`: a GGUF file or a folder. Fails as opening the model for serving would.
Result<ModelFacts> read_model_facts(const std::string& path);

nlohmann::ordered_json facts_json(const ModelFacts& facts);
std::string facts_text(const ModelFacts& facts);

}  // namespace pagoda::app
