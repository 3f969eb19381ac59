// Gemma 3: norms before and after each half, normed q and k, layers that see a window between layers that see
// all.
#include "model/architectures.h"
#include "model/rope.h"
#include "model/workspace.h"

namespace pagoda::model {
namespace {

struct Gemma3Layer {
  std::vector<float> attention_norm;       // [hidden]; every norm weight of the file has its 1 added already
  Linear qkv;                              // [(heads + 2 · kv_heads) · head_dim, hidden]
  std::vector<float> query_norm;           // [head_dim]
  std::vector<float> key_norm;             // [head_dim]
  Linear attention_out;                    // [hidden, heads · head_dim]
  std::vector<float> post_attention_norm;  // [hidden]
  std::vector<float> ffn_norm;             // [hidden]
  Linear gate_up;                          // [2 · ffn, hidden]
  Linear down;                             // [hidden, ffn]
  std::vector<float> post_ffn_norm;        // [hidden]
};

class Gemma3 final : public Model {
 public:
  Gemma3(ModelConfig config, WeightLoader& weights, kernels::Compute& compute);

  const ModelConfig& config() const override { return config_; }
  int64_t weight_bytes() const override { return weight_bytes_; }
  Precision precision() const override { return precision_; }
  void forward(const ForwardBatch& batch, KvCache& cache, Matrix logits) override;

 private:
  void attend(const Gemma3Layer& layer, const kernels::RopeAngles& angles, int window,
              std::span<const kernels::KvSequence> sequences, kernels::KvLayer kv, Matrix x);
  void feed_forward(const Gemma3Layer& layer, Matrix x);

  ModelConfig config_;
  kernels::Compute& compute_;
  Precision precision_;
  int64_t weight_bytes_ = 0;
  Linear embedding_;  // [vocabulary, hidden]; the output too unless the file has one
  std::vector<Gemma3Layer> layers_;
  std::vector<float> output_norm_;
  Linear output_;
  Rope global_rope_, local_rope_;
  GroupedSequences sequences_;
  Activation stream_, normed_, qkv_, attended_, gate_up_, branch_, last_;
};

Gemma3Layer load_layer(int index, const ModelConfig& c, WeightLoader& weights) {
  const std::string at = "blk." + std::to_string(index) + ".";
  const int q = c.heads * c.head_dim, kv = c.kv_heads * c.head_dim;
  Gemma3Layer layer;
  layer.attention_norm = weights.vector(at + "attn_norm.weight", c.hidden);
  layer.qkv = weights.linear(
      {{at + "attn_q.weight", q}, {at + "attn_k.weight", kv}, {at + "attn_v.weight", kv}}, c.hidden);
  layer.query_norm = weights.vector(at + "attn_q_norm.weight", c.head_dim);
  layer.key_norm = weights.vector(at + "attn_k_norm.weight", c.head_dim);
  layer.attention_out = weights.linear({{at + "attn_output.weight", c.hidden}}, q);
  layer.post_attention_norm = weights.vector(at + "post_attention_norm.weight", c.hidden);
  layer.ffn_norm = weights.vector(at + "ffn_norm.weight", c.hidden);
  layer.gate_up = weights.linear({{at + "ffn_gate.weight", c.ffn}, {at + "ffn_up.weight", c.ffn}}, c.hidden);
  layer.down = weights.linear({{at + "ffn_down.weight", c.hidden}}, c.ffn);
  layer.post_ffn_norm = weights.vector(at + "post_ffw_norm.weight", c.hidden);
  return layer;
}

Gemma3::Gemma3(ModelConfig config, WeightLoader& weights, kernels::Compute& compute)
    : config_(std::move(config)),
      compute_(compute),
      precision_(weights.precision()),
      global_rope_(config_.rope_style, config_.rope_dims, config_.rope_theta, config_.rope_scale, {}),
      local_rope_(config_.rope_style, config_.rope_dims, config_.rope_theta_local, 1.f, {}) {
  embedding_ = weights.linear({{"token_embd.weight", config_.vocabulary}}, config_.hidden);
  for (int i = 0; i < config_.layers; ++i) layers_.push_back(load_layer(i, config_, weights));
  output_norm_ = weights.vector("output_norm.weight", config_.hidden);
  if (weights.has("output.weight"))
    output_ = weights.linear({{"output.weight", config_.vocabulary}}, config_.hidden);
  weight_bytes_ = weights.bytes();
}

void Gemma3::attend(const Gemma3Layer& layer, const kernels::RopeAngles& angles, int window,
                    std::span<const kernels::KvSequence> sequences, kernels::KvLayer kv, Matrix x) {
  const int q_width = config_.heads * config_.head_dim, kv_width = config_.kv_heads * config_.head_dim;
  Matrix qkv = qkv_.of(x.rows, q_width + 2 * kv_width);
  Matrix q = qkv.columns_from(0, q_width);
  Matrix k = qkv.columns_from(q_width, kv_width);
  Matrix v = qkv.columns_from(q_width + kv_width, kv_width);
  Matrix attended = attended_.of(x.rows, q_width);

  in_slices(x.rows, [&](int first, int count) {
    Matrix normed = normed_.of(count, config_.hidden);
    Matrix part = qkv.rows_from(first, count);
    compute_.rms_norm(x.rows_from(first, count), layer.attention_norm.data(), config_.norm_epsilon, normed);
    layer.qkv.apply(compute_, normed, part);
    compute_.rms_norm_heads(part.columns_from(0, q_width), config_.head_dim, layer.query_norm.data(),
                            config_.norm_epsilon);
    compute_.rms_norm_heads(part.columns_from(q_width, kv_width), config_.head_dim, layer.key_norm.data(),
                            config_.norm_epsilon);
    compute_.rope(part.columns_from(0, q_width + kv_width), config_.head_dim,
                  angles.from_row(first));  // q and k
  });
  compute_.write_kv(k, v, sequences, kv);
  compute_.attention(q, sequences, kv, {config_.heads, window, config_.query_scale}, attended);
  in_slices(x.rows, [&](int first, int count) {
    Matrix branch = branch_.of(count, config_.hidden);
    layer.attention_out.apply(compute_, attended.rows_from(first, count), branch);
    compute_.rms_norm(branch, layer.post_attention_norm.data(), config_.norm_epsilon, branch);
    compute_.add(branch, x.rows_from(first, count));
  });
}

void Gemma3::feed_forward(const Gemma3Layer& layer, Matrix x) {
  Matrix normed = normed_.of(x.rows, config_.hidden);
  Matrix gate_up = gate_up_.of(x.rows, 2 * config_.ffn);
  Matrix gate = gate_up.columns_from(0, config_.ffn);
  Matrix up = gate_up.columns_from(config_.ffn, config_.ffn);
  Matrix branch = branch_.of(x.rows, config_.hidden);

  compute_.rms_norm(x, layer.ffn_norm.data(), config_.norm_epsilon, normed);
  layer.gate_up.apply(compute_, normed, gate_up);
  compute_.gelu_multiply(gate, up, gate);
  layer.down.apply(compute_, gate, branch);
  compute_.rms_norm(branch, layer.post_ffn_norm.data(), config_.norm_epsilon, branch);
  compute_.add(branch, x);
}

void Gemma3::forward(const ForwardBatch& batch, KvCache& cache, Matrix logits) {
  const int rows = static_cast<int>(batch.tokens.size());
  Matrix x = stream_.of(rows, config_.hidden);
  sequences_.set(batch, cache.layout().size());
  const kernels::RopeAngles global = global_rope_.angles(batch.positions);
  const kernels::RopeAngles local = local_rope_.angles(batch.positions);

  compute_.embed(batch.tokens, embedding_.matrix(), config_.embedding_scale, x);
  for (int i = 0; i < config_.layers; ++i) {
    const Gemma3Layer& layer = layers_[static_cast<size_t>(i)];
    const bool windowed = config_.layer_is_windowed[static_cast<size_t>(i)];
    attend(layer, windowed ? local : global, windowed ? config_.window : 0, sequences_.of(cache.group_of(i)),
           cache.layer(i), x);
    in_slices(rows, [&](int first, int count) { feed_forward(layer, x.rows_from(first, count)); });
  }
  if (logits.rows == 0) return;
  Matrix last = last_.of(logits.rows, config_.hidden);
  gather_rows(x, batch.logit_rows, last);
  compute_.rms_norm(last, output_norm_.data(), config_.norm_epsilon, last);
  (output_.rows() > 0 ? output_ : embedding_).apply(compute_, last, logits);
}

}  // namespace

std::unique_ptr<Model> make_gemma3(ModelConfig config, WeightLoader& weights, kernels::Compute& compute) {
  return std::make_unique<Gemma3>(std::move(config), weights, compute);
}

}  // namespace pagoda::model
