#include "model/gguf_facts.h"

#include <algorithm>

#include "base/format.h"

namespace pagoda::model {
namespace {

// What an architecture has that its keys do not say.
struct GgufType {
  std::string_view name;
  bool gated = true;
  int norms_per_layer = 2;
  int window_period = 0;  // the last layer of each period sees all; 0: every layer is windowed
};
constexpr GgufType kTypes[] = {
    {"gemma2", true, 4, 2}, {"gemma3", true, 4, 6}, {"gpt-oss", true, 2, 2},
    {"gpt2", false, 4, 0},  {"phi2", false, 1, 0},
};
constexpr int64_t kMostWhole = int64_t{1} << 28;
constexpr GgufType kOtherType = {""};

class FactReader {
 public:
  explicit FactReader(const WeightSource& source) : source_(source), metadata_(source.metadata()) {}

  Result<ModelFacts> read() {
    const auto architecture = metadata_.text("general.architecture");
    if (!architecture) return fail(ErrorCode::kCorruptData, "the metadata lack the key general.architecture");
    facts_.architecture = *architecture;
    facts_.name = metadata_.text("general.name").value_or("");
    for (const GgufType& type : kTypes) {
      if (type.name == *architecture) type_ = &type;
    }
    PAGODA_TRY(read_sizes());
    read_experts();
    read_latent();
    PAGODA_TRY(read_reach());
    facts_.gated_ffn = type_->gated;
    facts_.norms_per_layer = type_->norms_per_layer;
    facts_.tied_output = source_.find("output.weight") == nullptr;
    facts_.qkv_bias = source_.find("blk.0.attn_q.bias") != nullptr;
    facts_.head_norms = source_.find("blk.0.attn_q_norm.weight") != nullptr;
    PAGODA_TRY(check_facts(facts_));
    set_bits();
    return std::move(facts_);
  }

 private:
  std::string key(std::string_view suffix) const { return format("{}.{}", facts_.architecture, suffix); }

  // Where the key differs from layer to layer, the largest stands for all.
  int64_t integer(std::string_view suffix, int64_t otherwise) const {
    const std::string name = key(suffix);
    if (const auto* values = metadata_.integers(name); values != nullptr && !values->empty())
      return *std::max_element(values->begin(), values->end());
    return metadata_.integer(name).value_or(otherwise);
  }
  // Out of range of an int becomes 0, which check_facts refuses.
  int whole(std::string_view suffix, int64_t otherwise) const {
    const int64_t value = integer(suffix, otherwise);
    return value < 0 || value > kMostWhole ? 0 : static_cast<int>(value);
  }

  Status read_sizes() {
    for (std::string_view suffix :
         {"block_count", "embedding_length", "attention.head_count", "context_length"}) {
      if (!metadata_.has(key(suffix)))
        return fail(ErrorCode::kCorruptData, format("the metadata lack the key {}", key(suffix)));
    }
    facts_.layers = std::min(whole("block_count", 0), 1 << 13);  // check_facts refuses as many
    facts_.hidden = whole("embedding_length", 0);
    facts_.ffn = whole("feed_forward_length", 0);
    facts_.heads = whole("attention.head_count", 0);
    facts_.kv_heads = whole("attention.head_count_kv", facts_.heads);
    facts_.head_dim = whole("attention.key_length", facts_.heads > 0 ? facts_.hidden / facts_.heads : 0);
    facts_.context = integer("context_length", 0);
    const auto* tokens = metadata_.texts("tokenizer.ggml.tokens");
    facts_.vocabulary = tokens != nullptr ? static_cast<int>(tokens->size()) : whole("vocab_size", 0);
    return {};
  }

  void read_experts() {
    ExpertFacts& experts = facts_.experts;
    experts.count = whole("expert_count", 0);
    if (experts.count == 0) return;
    experts.per_token = whole("expert_used_count", 0);
    experts.ffn = whole("expert_feed_forward_length", facts_.ffn);
    experts.shared_ffn = whole("expert_shared_feed_forward_length", 0);
    if (experts.shared_ffn == 0)
      experts.shared_ffn =
          static_cast<int>(std::min(int64_t{whole("expert_shared_count", 0)} * experts.ffn, kMostWhole));
    experts.dense_layers = std::min(whole("leading_dense_block_count", 0), facts_.layers);
  }

  void read_latent() {
    LatentFacts& latent = facts_.latent;
    latent.kv_rank = whole("attention.kv_lora_rank", 0);
    if (latent.kv_rank == 0) return;
    latent.query_rank = whole("attention.q_lora_rank", 0);
    latent.rope_dim = whole("rope.dimension_count", 64);
    const int key_dim = whole("attention.key_length_mla", 192);
    latent.nope_dim = std::max(0, key_dim - latent.rope_dim);
    latent.value_dim = whole("attention.value_length_mla", 128);
    // Files that keep K and V as one latent head say so in the head count; plan with the model's own.
    facts_.kv_heads = facts_.heads;
    facts_.head_dim = key_dim;
  }

  Status read_reach() {
    facts_.reach.assign(static_cast<size_t>(facts_.layers), LayerReach::kFull);
    facts_.window = whole("attention.sliding_window", 0);
    if (facts_.window == 0) return {};
    const std::string pattern_key = key("attention.sliding_window_pattern");
    if (const auto* pattern = metadata_.booleans(pattern_key)) {
      if (pattern->size() != facts_.reach.size())
        return fail(ErrorCode::kCorruptData, format("the key {} has {} entries for {} layers", pattern_key,
                                                    pattern->size(), facts_.layers));
      for (size_t layer = 0; layer < pattern->size(); ++layer)
        facts_.reach[layer] = (*pattern)[layer] ? LayerReach::kWindowed : LayerReach::kFull;
      return {};
    }
    const int period = whole("attention.sliding_window_pattern", type_->window_period);
    for (int layer = 0; layer < facts_.layers; ++layer) {
      if (period == 0 || layer % period < period - 1)
        facts_.reach[static_cast<size_t>(layer)] = LayerReach::kWindowed;
    }
    return {};
  }

  // Bits per weight as they lie in the file: of the layers' matrices, and of embedding and output.
  void set_bits() {
    double linear[2] = {}, embedding[2] = {};  // bits, elements
    source_.for_each([&](const std::string& name, const TensorView& tensor) {
      if (tensor.shape.rank() < 2) return;
      const auto elements = static_cast<double>(tensor.shape.elements());
      auto& sum = name.starts_with("blk.") ? linear : embedding;
      const DTypeInfo& type = info_of(tensor.dtype);
      sum[0] += elements * 8.0 * type.block_bytes / type.block_elements;
      sum[1] += elements;
    });
    facts_.scheme.name = "as stored";
    facts_.scheme.summary = "as stored";
    facts_.scheme.linear_bits = linear[1] > 0 ? linear[0] / linear[1] : 16;
    facts_.scheme.attention_bits = facts_.scheme.linear_bits;
    facts_.scheme.embedding_bits = embedding[1] > 0 ? embedding[0] / embedding[1] : facts_.scheme.linear_bits;
  }

  const WeightSource& source_;
  const WeightMetadata& metadata_;
  const GgufType* type_ = &kOtherType;
  ModelFacts facts_;
};

}  // namespace

Result<ModelFacts> facts_of_weights(const WeightSource& source) {
  auto facts = FactReader(source).read();
  if (facts) return facts;
  Error error = std::move(facts).error();
  error.message = format("{}: {}", source.path(), error.message);
  return Unexpected(std::move(error));
}

}  // namespace pagoda::model
