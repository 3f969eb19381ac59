// The llama family: Llama 2 and 3, Mistral, SmolLM2, Qwen 2 and 2.5 (with biases), Qwen 3 (with norms of
// heads). Pre-norm, rotary attention with shared KV heads, SwiGLU.
#include "model/architectures.h"
#include "model/rope.h"
#include "model/workspace.h"

namespace pagoda::model {
namespace {

using kernels::Store;

struct LlamaLayer {
  std::vector<float> attention_norm;  // [hidden]
  Linear qkv;                         // [(heads + 2 · kv_heads) · head_dim, hidden]
  std::vector<float> qkv_bias;        // [its rows]; empty: none
  std::vector<float> query_norm;      // [head_dim]; empty: none
  std::vector<float> key_norm;        // [head_dim]; empty: none
  Linear attention_out;               // [hidden, heads · head_dim]
  std::vector<float> ffn_norm;        // [hidden]
  Linear gate_up;                     // [2 · ffn, hidden]
  Linear down;                        // [hidden, ffn]
};

class Llama final : public Model {
 public:
  Llama(ModelConfig config, WeightLoader& weights, kernels::Compute& compute);

  const ModelConfig& config() const override { return config_; }
  int64_t weight_bytes() const override { return weight_bytes_; }
  Precision precision() const override { return precision_; }
  void forward(const ForwardBatch& batch, KvCache& cache, Matrix logits) override;

 private:
  void project(const LlamaLayer& layer, const kernels::RopeAngles& angles, ConstMatrix x, Matrix qkv);
  void attend(const LlamaLayer& layer, const kernels::RopeAngles& angles, int window,
              std::span<const kernels::KvSequence> sequences, kernels::KvLayer kv, Matrix x);
  void feed_forward(const LlamaLayer& layer, Matrix x);

  ModelConfig config_;
  kernels::Compute& compute_;
  Precision precision_;
  int64_t weight_bytes_ = 0;
  Linear embedding_;  // [vocabulary, hidden]
  std::vector<LlamaLayer> layers_;
  std::vector<float> output_norm_;
  Linear output_;  // [vocabulary, hidden]; empty where the embedding serves
  Rope rope_;
  GroupedSequences sequences_;
  Activation stream_, normed_, qkv_, attended_, gate_up_, last_;
};

std::vector<float> rope_divisors(WeightLoader& weights, const ModelConfig& config) {
  if (!weights.has("rope_freqs.weight")) return config.rope_divisors;
  return weights.vector("rope_freqs.weight", config.rope_dims / 2);
}

LlamaLayer load_layer(int index, const ModelConfig& c, WeightLoader& weights) {
  const std::string at = "blk." + std::to_string(index) + ".";
  const int q = c.heads * c.head_dim, kv = c.kv_heads * c.head_dim;
  LlamaLayer layer;
  layer.attention_norm = weights.vector(at + "attn_norm.weight", c.hidden);
  layer.qkv = weights.linear(
      {{at + "attn_q.weight", q}, {at + "attn_k.weight", kv}, {at + "attn_v.weight", kv}}, c.hidden);
  if (weights.has(at + "attn_q.bias")) {
    for (const auto& [name, size] : {std::pair{"attn_q.bias", q}, {"attn_k.bias", kv}, {"attn_v.bias", kv}}) {
      const std::vector<float> bias = weights.vector(at + name, size);
      layer.qkv_bias.insert(layer.qkv_bias.end(), bias.begin(), bias.end());
    }
  }
  if (weights.has(at + "attn_q_norm.weight")) {
    layer.query_norm = weights.vector(at + "attn_q_norm.weight", c.head_dim);
    layer.key_norm = weights.vector(at + "attn_k_norm.weight", c.head_dim);
  }
  layer.attention_out = weights.linear({{at + "attn_output.weight", c.hidden}}, q);
  layer.ffn_norm = weights.vector(at + "ffn_norm.weight", c.hidden);
  layer.gate_up = weights.linear({{at + "ffn_gate.weight", c.ffn}, {at + "ffn_up.weight", c.ffn}}, c.hidden);
  layer.down = weights.linear({{at + "ffn_down.weight", c.hidden}}, c.ffn);
  return layer;
}

Llama::Llama(ModelConfig config, WeightLoader& weights, kernels::Compute& compute)
    : config_(std::move(config)),
      compute_(compute),
      precision_(weights.precision()),
      rope_(config_.rope_style, config_.rope_dims, config_.rope_theta, config_.rope_scale,
            rope_divisors(weights, config_)) {
  embedding_ = weights.linear({{"token_embd.weight", config_.vocabulary}}, config_.hidden);
  for (int i = 0; i < config_.layers; ++i) layers_.push_back(load_layer(i, config_, weights));
  output_norm_ = weights.vector("output_norm.weight", config_.hidden);
  if (weights.has("output.weight"))
    output_ = weights.linear({{"output.weight", config_.vocabulary}}, config_.hidden);
  weight_bytes_ = weights.bytes();
}

// q, k and v of some rows, ready for attention.
void Llama::project(const LlamaLayer& layer, const kernels::RopeAngles& angles, ConstMatrix x, Matrix qkv) {
  const int q_width = config_.heads * config_.head_dim, kv_width = config_.kv_heads * config_.head_dim;
  Matrix normed = normed_.of(x.rows, config_.hidden);
  compute_.rms_norm(x, layer.attention_norm.data(), config_.norm_epsilon, normed);
  layer.qkv.apply(compute_, normed, qkv);
  if (!layer.qkv_bias.empty()) compute_.add_row(layer.qkv_bias.data(), qkv);
  if (!layer.query_norm.empty()) {
    compute_.rms_norm_heads(qkv.columns_from(0, q_width), config_.head_dim, layer.query_norm.data(),
                            config_.norm_epsilon);
    compute_.rms_norm_heads(qkv.columns_from(q_width, kv_width), config_.head_dim, layer.key_norm.data(),
                            config_.norm_epsilon);
  }
  compute_.rope(qkv.columns_from(0, q_width + kv_width), config_.head_dim, angles);  // q and k
}

void Llama::attend(const LlamaLayer& layer, const kernels::RopeAngles& angles, int window,
                   std::span<const kernels::KvSequence> sequences, kernels::KvLayer kv, Matrix x) {
  const int q_width = config_.heads * config_.head_dim, kv_width = config_.kv_heads * config_.head_dim;
  Matrix qkv = qkv_.of(x.rows, q_width + 2 * kv_width);
  Matrix q = qkv.columns_from(0, q_width);
  Matrix k = qkv.columns_from(q_width, kv_width);
  Matrix v = qkv.columns_from(q_width + kv_width, kv_width);
  Matrix attended = attended_.of(x.rows, q_width);

  in_slices(x.rows, [&](int first, int count) {
    project(layer, angles.from_row(first), x.rows_from(first, count), qkv.rows_from(first, count));
  });
  compute_.write_kv(k, v, sequences, kv);
  compute_.attention(q, sequences, kv, {config_.heads, window, config_.query_scale}, attended);
  in_slices(x.rows, [&](int first, int count) {
    layer.attention_out.apply(compute_, attended.rows_from(first, count), x.rows_from(first, count),
                              Store::kAdd);
  });
}

void Llama::feed_forward(const LlamaLayer& layer, Matrix x) {
  Matrix normed = normed_.of(x.rows, config_.hidden);
  Matrix gate_up = gate_up_.of(x.rows, 2 * config_.ffn);
  Matrix gate = gate_up.columns_from(0, config_.ffn);
  Matrix up = gate_up.columns_from(config_.ffn, config_.ffn);

  compute_.rms_norm(x, layer.ffn_norm.data(), config_.norm_epsilon, normed);
  layer.gate_up.apply(compute_, normed, gate_up);
  compute_.silu_multiply(gate, up, gate);
  layer.down.apply(compute_, gate, x, Store::kAdd);
}

void Llama::forward(const ForwardBatch& batch, KvCache& cache, Matrix logits) {
  const int rows = static_cast<int>(batch.tokens.size());
  Matrix x = stream_.of(rows, config_.hidden);
  sequences_.set(batch, cache.layout().size());
  const kernels::RopeAngles angles = rope_.angles(batch.positions);

  compute_.embed(batch.tokens, embedding_.matrix(), 1.f, x);
  for (int i = 0; i < config_.layers; ++i) {
    const LlamaLayer& layer = layers_[static_cast<size_t>(i)];
    const int window = config_.layer_is_windowed[static_cast<size_t>(i)] ? config_.window : 0;
    attend(layer, angles, window, sequences_.of(cache.group_of(i)), cache.layer(i), x);
    in_slices(rows, [&](int first, int count) { feed_forward(layer, x.rows_from(first, count)); });
  }
  if (logits.rows == 0) return;
  Matrix last = last_.of(logits.rows, config_.hidden);
  gather_rows(x, batch.logit_rows, last);
  compute_.rms_norm(last, output_norm_.data(), config_.norm_epsilon, last);
  (output_.rows() > 0 ? output_ : embedding_).apply(compute_, last, logits);
}

}  // namespace

std::unique_ptr<Model> make_llama(ModelConfig config, WeightLoader& weights, kernels::Compute& compute) {
  return std::make_unique<Llama>(std::move(config), weights, compute);
}

}  // namespace pagoda::model
