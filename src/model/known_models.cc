#include "model/known_models.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "model/hugging_face/config_facts.h"

namespace pagoda::model {
namespace {

struct KnownModel {
  std::string_view name;
  std::string_view type;  // model_type
  int layers, hidden, ffn, heads, kv_heads, head_dim, vocabulary, context;
  std::string_view more = "";  // keys of its config.json beyond these
};

constexpr std::string_view kTied = R"("tie_word_embeddings": true)";
constexpr std::string_view kWindowOf512 = R"("sliding_window": 512)";
constexpr std::string_view kWindowOf1024 = R"("sliding_window": 1024)";
constexpr std::string_view kWindowOf4096 = R"("sliding_window": 4096)";
constexpr std::string_view kDeepSeekV3 =
    R"("n_routed_experts": 256, "num_experts_per_tok": 8, "moe_intermediate_size": 2048, "n_shared_experts": 1,
       "first_k_dense_replace": 3, "kv_lora_rank": 512, "q_lora_rank": 1536,
       "quantization_config": {"quant_method": "fp8"})";

constexpr KnownModel kModels[] = {
    {"Llama-2-7B", "llama", 32, 4096, 11008, 32, 32, 128, 32000, 4096},
    {"Llama-2-13B", "llama", 40, 5120, 13824, 40, 40, 128, 32000, 4096},
    {"Llama-2-70B", "llama", 80, 8192, 28672, 64, 8, 128, 32000, 4096},
    {"Llama-3-8B", "llama", 32, 4096, 14336, 32, 8, 128, 128256, 8192},
    {"Llama-3-70B", "llama", 80, 8192, 28672, 64, 8, 128, 128256, 8192},
    {"Llama-3.1-8B", "llama", 32, 4096, 14336, 32, 8, 128, 128256, 131072},
    {"Llama-3.1-70B", "llama", 80, 8192, 28672, 64, 8, 128, 128256, 131072},
    {"Llama-3.1-405B", "llama", 126, 16384, 53248, 128, 8, 128, 128256, 131072},
    {"Llama-3.2-1B", "llama", 16, 2048, 8192, 32, 8, 64, 128256, 131072, kTied},
    {"Llama-3.2-3B", "llama", 28, 3072, 8192, 24, 8, 128, 128256, 131072, kTied},
    {"Llama-3.3-70B", "llama", 80, 8192, 28672, 64, 8, 128, 128256, 131072},
    {"TinyLlama-1.1B", "llama", 22, 2048, 5632, 32, 4, 64, 32000, 2048},
    {"Qwen2.5-0.5B", "qwen2", 24, 896, 4864, 14, 2, 64, 151936, 32768, kTied},
    {"Qwen2.5-1.5B", "qwen2", 28, 1536, 8960, 12, 2, 128, 151936, 32768, kTied},
    {"Qwen2.5-3B", "qwen2", 36, 2048, 11008, 16, 2, 128, 151936, 32768, kTied},
    {"Qwen2.5-7B", "qwen2", 28, 3584, 18944, 28, 4, 128, 152064, 32768},
    {"Qwen2.5-14B", "qwen2", 48, 5120, 13824, 40, 8, 128, 152064, 32768},
    {"Qwen2.5-32B", "qwen2", 64, 5120, 27648, 40, 8, 128, 152064, 32768},
    {"Qwen2.5-72B", "qwen2", 80, 8192, 29568, 64, 8, 128, 152064, 32768},
    {"QwQ-32B", "qwen2", 64, 5120, 27648, 40, 8, 128, 152064, 40960},
    {"Qwen3-0.6B", "qwen3", 28, 1024, 3072, 16, 8, 128, 151936, 40960, kTied},
    {"Qwen3-1.7B", "qwen3", 28, 2048, 6144, 16, 8, 128, 151936, 40960, kTied},
    {"Qwen3-4B", "qwen3", 36, 2560, 9728, 32, 8, 128, 151936, 40960, kTied},
    {"Qwen3-8B", "qwen3", 36, 4096, 12288, 32, 8, 128, 151936, 40960},
    {"Qwen3-14B", "qwen3", 40, 5120, 17408, 40, 8, 128, 151936, 40960},
    {"Qwen3-32B", "qwen3", 64, 5120, 25600, 64, 8, 128, 151936, 40960},
    {"Qwen3-30B-A3B", "qwen3_moe", 48, 2048, 6144, 32, 4, 128, 151936, 40960,
     R"("num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 768)"},
    {"Qwen3-235B-A22B", "qwen3_moe", 94, 4096, 12288, 64, 4, 128, 151936, 40960,
     R"("num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 1536)"},
    {"Qwen3-Next-80B-A3B", "qwen3_next", 48, 2048, 5120, 16, 2, 256, 151936, 262144,
     R"("num_experts": 512, "num_experts_per_tok": 10, "moe_intermediate_size": 512,
           "shared_expert_intermediate_size": 512, "full_attention_interval": 4, "linear_num_value_heads": 32,
           "linear_key_head_dim": 128, "linear_value_head_dim": 128)"},
    {"Mistral-7B-v0.1", "mistral", 32, 4096, 14336, 32, 8, 128, 32000, 32768, R"("sliding_window": 4096)"},
    {"Mistral-7B-v0.2", "mistral", 32, 4096, 14336, 32, 8, 128, 32000, 32768},
    {"Mistral-7B-v0.3", "mistral", 32, 4096, 14336, 32, 8, 128, 32768, 32768},
    {"Mistral-Nemo-2407", "mistral", 40, 5120, 14336, 32, 8, 128, 131072, 131072},
    {"Mistral-Small-24B-2501", "mistral", 40, 5120, 32768, 32, 8, 128, 131072, 32768},
    {"Mistral-Large-2411", "mistral", 88, 12288, 28672, 96, 8, 128, 32768, 131072},
    {"Mixtral-8x7B-v0.1", "mixtral", 32, 4096, 14336, 32, 8, 128, 32000, 32768,
     R"("num_local_experts": 8, "num_experts_per_tok": 2)"},
    {"Mixtral-8x22B-v0.1", "mixtral", 56, 6144, 16384, 48, 8, 128, 32768, 65536,
     R"("num_local_experts": 8, "num_experts_per_tok": 2)"},
    {"gemma-2-2b", "gemma2", 26, 2304, 9216, 8, 4, 256, 256000, 8192, kWindowOf4096},
    {"gemma-2-9b", "gemma2", 42, 3584, 14336, 16, 8, 256, 256000, 8192, kWindowOf4096},
    {"gemma-2-27b", "gemma2", 46, 4608, 36864, 32, 16, 128, 256000, 8192, kWindowOf4096},
    {"gemma-3-270m", "gemma3_text", 18, 640, 2048, 4, 1, 256, 262144, 32768, kWindowOf512},
    {"gemma-3-1b", "gemma3_text", 26, 1152, 6912, 4, 1, 256, 262144, 32768, kWindowOf512},
    {"gemma-3-4b", "gemma3_text", 34, 2560, 10240, 8, 4, 256, 262208, 131072, kWindowOf1024},
    {"gemma-3-12b", "gemma3_text", 48, 3840, 15360, 16, 8, 256, 262208, 131072, kWindowOf1024},
    {"gemma-3-27b", "gemma3_text", 62, 5376, 21504, 32, 16, 128, 262208, 131072, kWindowOf1024},
    {"Phi-3-mini-4k", "phi3", 32, 3072, 8192, 32, 32, 96, 32064, 4096, R"("sliding_window": 2047)"},
    {"Phi-3-mini-128k", "phi3", 32, 3072, 8192, 32, 32, 96, 32064, 131072},
    {"Phi-3.5-mini", "phi3", 32, 3072, 8192, 32, 32, 96, 32064, 131072},
    {"Phi-3-medium-128k", "phi3", 40, 5120, 17920, 40, 10, 128, 32064, 131072},
    {"phi-4", "phi3", 40, 5120, 17920, 40, 10, 128, 100352, 16384},
    {"Phi-4-mini", "phi3", 32, 3072, 8192, 24, 8, 128, 200064, 131072, kTied},
    {"DeepSeek-V2-Lite", "deepseek_v2", 27, 2048, 10944, 16, 16, 128, 102400, 163840,
     R"("n_routed_experts": 64, "num_experts_per_tok": 6, "moe_intermediate_size": 1408, "n_shared_experts": 2,
           "first_k_dense_replace": 1, "kv_lora_rank": 512)"},
    {"DeepSeek-V2", "deepseek_v2", 60, 5120, 12288, 128, 128, 128, 102400, 163840,
     R"("n_routed_experts": 160, "num_experts_per_tok": 6, "moe_intermediate_size": 1536,
           "n_shared_experts": 2, "first_k_dense_replace": 1, "kv_lora_rank": 512, "q_lora_rank": 1536)"},
    {"DeepSeek-V3", "deepseek_v3", 61, 7168, 18432, 128, 128, 128, 129280, 163840, kDeepSeekV3},
    {"DeepSeek-V3-0324", "deepseek_v3", 61, 7168, 18432, 128, 128, 128, 129280, 163840, kDeepSeekV3},
    {"DeepSeek-V3.1", "deepseek_v3", 61, 7168, 18432, 128, 128, 128, 129280, 163840, kDeepSeekV3},
    {"DeepSeek-R1", "deepseek_v3", 61, 7168, 18432, 128, 128, 128, 129280, 163840, kDeepSeekV3},
    {"DeepSeek-R1-0528", "deepseek_v3", 61, 7168, 18432, 128, 128, 128, 129280, 163840, kDeepSeekV3},
    {"DeepSeek-R1-Distill-Qwen-1.5B", "qwen2", 28, 1536, 8960, 12, 2, 128, 151936, 131072},
    {"DeepSeek-R1-Distill-Qwen-7B", "qwen2", 28, 3584, 18944, 28, 4, 128, 152064, 131072},
    {"DeepSeek-R1-Distill-Qwen-32B", "qwen2", 64, 5120, 27648, 40, 8, 128, 152064, 131072},
    {"DeepSeek-R1-Distill-Llama-8B", "llama", 32, 4096, 14336, 32, 8, 128, 128256, 131072},
    {"DeepSeek-R1-Distill-Llama-70B", "llama", 80, 8192, 28672, 64, 8, 128, 128256, 131072},
    {"gpt-oss-20b", "gpt_oss", 24, 2880, 2880, 64, 8, 64, 201088, 131072,
     R"("num_local_experts": 32, "num_experts_per_tok": 4, "sliding_window": 128,
           "quantization_config": {"quant_method": "mxfp4"})"},
    {"gpt-oss-120b", "gpt_oss", 36, 2880, 2880, 64, 8, 64, 201088, 131072,
     R"("num_local_experts": 128, "num_experts_per_tok": 4, "sliding_window": 128,
           "quantization_config": {"quant_method": "mxfp4"})"},
    {"SmolLM2-135M", "llama", 30, 576, 1536, 9, 3, 64, 49152, 8192, kTied},
    {"SmolLM2-360M", "llama", 32, 960, 2560, 15, 5, 64, 49152, 8192, kTied},
    {"SmolLM2-1.7B", "llama", 24, 2048, 8192, 32, 32, 64, 49152, 8192, kTied},
    {"SmolLM3-3B", "smollm3", 36, 2048, 11008, 16, 4, 128, 128256, 65536},
    {"gpt2", "gpt2", 12, 768, 3072, 12, 12, 64, 50257, 1024},
};

// Other names of a row.
constexpr std::pair<std::string_view, std::string_view> kAlso[] = {
    {"qwen2.5-70b", "qwen2.5-72b"},  // what people call it
    {"meta-llama-3-8b", "llama-3-8b"},
    {"meta-llama-3-70b", "llama-3-70b"},
    {"meta-llama-3.1-8b", "llama-3.1-8b"},
    {"meta-llama-3.1-70b", "llama-3.1-70b"},
    {"meta-llama-3.1-405b", "llama-3.1-405b"},
    {"mixtral-8x7b", "mixtral-8x7b-v0.1"},
    {"mixtral-8x22b", "mixtral-8x22b-v0.1"},
    {"mistral-7b", "mistral-7b-v0.3"},
    {"phi-3-medium", "phi-3-medium-128k"},
    {"deepseek-v2-lite-chat", "deepseek-v2-lite"},
};

// Words at or inside a name that tell how it was tuned: the sizes are the same.
constexpr std::string_view kTunings[] = {"-instruct", "-chat", "-it", "-hf", "-base", "-pt"};

struct FormatWord {
  std::string_view word, scheme;
};
constexpr FormatWord kFormats[] = {{"-awq", "awq"},
                                   {"-gptq-int4", "gptq"},
                                   {"-gptq-int8", "gptq-8bit"},
                                   {"-gptq", "gptq"},
                                   {"-bnb-4bit", "bitsandbytes"},
                                   {"-quantized.w4a16", "compressed-tensors-w4a16"},
                                   {"-quantized.w8a8", "compressed-tensors-w8a8"},
                                   {"-fp8-dynamic", "fp8"},
                                   {"-fp8", "fp8"}};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

// Cuts the word out where it ends the name or another word follows.
bool cut(std::string& name, std::string_view word) {
  const size_t at = name.find(word);
  if (at == std::string::npos || at == 0) return false;
  const size_t end = at + word.size();
  if (end < name.size() && name[end] != '-') return false;
  name.erase(at, word.size());
  return true;
}

// The name's plain form, and the scheme that it tells, if any.
std::pair<std::string, const WeightScheme*> taken_apart(std::string_view full) {
  const size_t slash = full.rfind('/');
  std::string name = lower(slash == std::string_view::npos ? full : full.substr(slash + 1));
  const WeightScheme* scheme = nullptr;
  for (const FormatWord& format : kFormats) {
    if (scheme == nullptr && cut(name, format.word)) scheme = find_weight_scheme(format.scheme);
  }
  for (std::string_view tuning : kTunings) cut(name, tuning);
  for (const auto& [other, row] : kAlso) {
    if (name == other) name = row;
  }
  return {std::move(name), scheme};
}

nlohmann::json config_of(const KnownModel& model) {
  nlohmann::json config =
      nlohmann::json::parse(pagoda::format("{{{}}}", model.more));  // the rows are ours: they parse
  config["model_type"] = model.type;
  config["num_hidden_layers"] = model.layers;
  config["hidden_size"] = model.hidden;
  config["intermediate_size"] = model.ffn;
  config["num_attention_heads"] = model.heads;
  config["num_key_value_heads"] = model.kv_heads;
  config["head_dim"] = model.head_dim;
  config["vocab_size"] = model.vocabulary;
  config["max_position_embeddings"] = model.context;
  return config;
}

}  // namespace

std::string plain_model_name(std::string_view name) {
  return taken_apart(name).first;
}

Result<ModelFacts> facts_of_known_model(std::string_view name) {
  const auto [plain, scheme] = taken_apart(name);
  for (const KnownModel& model : kModels) {
    if (taken_apart(model.name).first != plain) continue;
    PAGODA_ASSIGN(ModelFacts facts, facts_of_config_json(config_of(model)));
    const size_t slash = name.rfind('/');
    facts.name = slash == std::string_view::npos ? name : name.substr(slash + 1);
    if (scheme != nullptr) facts.scheme = *scheme;
    return facts;
  }
  return fail(ErrorCode::kNotFound, format("no known model '{}'", name), "model");
}

std::vector<std::string_view> known_model_names() {
  std::vector<std::string_view> names;
  for (const KnownModel& model : kModels) names.push_back(model.name);
  return names;
}

}  // namespace pagoda::model
