// BERT (https://arxiv.org/abs/1810.04805) and RoBERTa: embeddings of tokens, positions and types, layers of
// attention in both directions with their norms behind the sums, a pooled vector or a classifier's head.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/format.h"
#include "base/thread_pool.h"
#include "model/encoder.h"
#include "model/footprint.h"
#include "model/weight_loader.h"
#include "model/workspace.h"

namespace pagoda::model {
namespace {

constexpr int kRowGrain = 8;  // rows that one worker takes at a time

struct Norm {
  std::vector<float> weight, bias;  // [hidden]
};

struct Dense {
  Linear weight;
  std::vector<float> bias;  // [weight.rows()]

  void apply(kernels::Compute& compute, ConstMatrix x, Matrix y) const {
    weight.apply(compute, x, y);
    compute.add_row(bias.data(), y);
  }
};

struct Layer {
  Dense query, key, value, output, up, down;
  Norm output_norm, final_norm;
};

// Σ a[i] · b[i] in eight running sums: the same order whatever the compiler makes of it.
float dot(const float* a, const float* b, int count) {
  float sums[8] = {};
  int i = 0;
  for (; i + 8 <= count; i += 8) {
    for (int lane = 0; lane < 8; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  for (; i < count; ++i) sums[i % 8] += a[i] * b[i];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

void normalise_row(float* row, const Norm& norm, float epsilon) {
  const size_t size = norm.weight.size();
  double sum = 0;
  for (size_t i = 0; i < size; ++i) sum += static_cast<double>(row[i]);
  const double mean = sum / static_cast<double>(size);
  double squares = 0;
  for (size_t i = 0; i < size; ++i) {
    const double off = static_cast<double>(row[i]) - mean;
    squares += off * off;
  }
  const double scale = 1 / std::sqrt(squares / static_cast<double>(size) + static_cast<double>(epsilon));
  for (size_t i = 0; i < size; ++i) {
    const double off = static_cast<double>(row[i]) - mean;
    row[i] = static_cast<float>(off * scale) * norm.weight[i] + norm.bias[i];
  }
}

float activated(float x, EncoderActivation activation) {
  switch (activation) {
    case EncoderActivation::kGelu:
      return 0.5f * x * (1 + std::erf(x * static_cast<float>(std::numbers::sqrt2 / 2)));
    case EncoderActivation::kGeluTanh: {
      constexpr float kSlope = 0.7978845608f;  // √(2 / π)
      return 0.5f * x * (1 + std::tanh(kSlope * (x + 0.044715f * x * x * x)));
    }
    case EncoderActivation::kRelu:
      return std::max(x, 0.f);
  }
  return x;
}

void soften(std::vector<float>& scores) {
  const float most = *std::max_element(scores.begin(), scores.end());
  float sum = 0;
  for (float& score : scores) sum += score = std::exp(score - most);
  for (float& score : scores) score /= sum;
}

class Bert final : public Encoder {
 public:
  Bert(EncoderConfig config, WeightLoader& weights, kernels::Compute& compute)
      : config_(std::move(config)), compute_(compute), precision_(weights.precision()) {
    const int hidden = config_.hidden;
    tokens_ = weights.linear({{"token_embd.weight", config_.vocabulary}}, hidden);
    positions_ = weights.linear({{"position_embd.weight", config_.positions}}, hidden);
    types_ = weights.linear({{"token_types.weight", config_.types}}, hidden);
    embedding_norm_ = norm(weights, "token_embd_norm");
    for (int i = 0; i < config_.layers; ++i) load_layer(weights, format("blk.{}.", i));
    if (config_.labels > 0) {
      head_ = dense(weights, "cls", hidden, hidden);
      classifier_ = dense(weights, "cls.output", config_.labels, hidden);
    }
    weight_bytes_ = weights.bytes();
  }

  const EncoderConfig& config() const override { return config_; }
  int64_t weight_bytes() const override { return weight_bytes_; }
  Precision precision() const override { return precision_; }
  int outputs() const override { return config_.labels > 0 ? config_.labels : config_.hidden; }

  void encode(const EncoderBatch& batch, Matrix out) override {
    const int rows = static_cast<int>(batch.tokens.size());
    Matrix x = stream_.of(rows, config_.hidden);  // [rows, hidden]
    embed(batch, x);
    for (const Layer& layer : layers_) {
      attend(batch, layer, x);
      feed_forward(layer, x);
    }
    pool(batch, x, out);
  }

 private:
  Norm norm(WeightLoader& weights, const std::string& name) const {
    return {weights.vector(name + ".weight", config_.hidden), weights.vector(name + ".bias", config_.hidden)};
  }
  static Dense dense(WeightLoader& weights, const std::string& name, int rows, int columns) {
    return {weights.linear({{name + ".weight", rows}}, columns), weights.vector(name + ".bias", rows)};
  }

  void load_layer(WeightLoader& weights, const std::string& prefix) {
    const int hidden = config_.hidden;
    Layer layer;
    layer.query = dense(weights, prefix + "attn_q", hidden, hidden);
    layer.key = dense(weights, prefix + "attn_k", hidden, hidden);
    layer.value = dense(weights, prefix + "attn_v", hidden, hidden);
    layer.output = dense(weights, prefix + "attn_output", hidden, hidden);
    layer.output_norm = norm(weights, prefix + "attn_output_norm");
    layer.up = dense(weights, prefix + "ffn_up", config_.ffn, hidden);
    layer.down = dense(weights, prefix + "ffn_down", hidden, config_.ffn);
    layer.final_norm = norm(weights, prefix + "layer_output_norm");
    layers_.push_back(std::move(layer));
  }

  void embed(const EncoderBatch& batch, Matrix x) {
    compute_.embed(batch.tokens, tokens_.matrix(), 1.f, x);
    std::vector<int32_t> index(batch.tokens.size());
    size_t row = 0;
    for (const int length : batch.lengths) {
      std::iota(index.begin() + static_cast<std::ptrdiff_t>(row),
                index.begin() + static_cast<std::ptrdiff_t>(row) + length, config_.position_offset);
      row += static_cast<size_t>(length);
    }
    Matrix part = branch_.of(x.rows, x.columns);
    compute_.embed(index, positions_.matrix(), 1.f, part);
    compute_.add(part, x);
    index.assign(batch.tokens.size(), 0);
    if (!batch.types.empty()) index = batch.types;
    // A model of one type (RoBERTa) tells a pair's texts apart by the tokens between them.
    for (int32_t& type : index) type = std::clamp(type, 0, config_.types - 1);
    compute_.embed(index, types_.matrix(), 1.f, part);
    compute_.add(part, x);
    normalise(x, embedding_norm_);
  }

  void normalise(Matrix x, const Norm& norm) {
    compute_.pool().share(x.rows, kRowGrain, [&](int begin, int end) {
      for (int row = begin; row < end; ++row) normalise_row(x.row(row), norm, config_.norm_epsilon);
    });
  }

  // x = norm(x + output(softmax(q · kᵀ / √head_dim) · v))
  void attend(const EncoderBatch& batch, const Layer& layer, Matrix x) {
    Matrix q = query_.of(x.rows, x.columns), k = key_.of(x.rows, x.columns), v = value_.of(x.rows, x.columns);
    layer.query.apply(compute_, x, q);
    layer.key.apply(compute_, x, k);
    layer.value.apply(compute_, x, v);
    Matrix mixed = branch_.of(x.rows, x.columns);
    int first = 0;
    for (const int length : batch.lengths) {
      mix(q.rows_from(first, length), k.rows_from(first, length), v.rows_from(first, length),
          mixed.rows_from(first, length));
      first += length;
    }
    layer.output.apply(compute_, mixed, q);  // q is no longer needed
    compute_.add(q, x);
    normalise(x, layer.output_norm);
  }

  // One text: every token looks at all of them, head by head.
  void mix(ConstMatrix q, ConstMatrix k, ConstMatrix v, Matrix out) {
    const int dims = config_.head_dim;
    const float scale = 1.f / std::sqrt(static_cast<float>(dims));
    compute_.pool().share(q.rows * config_.heads, kRowGrain, [&](int begin, int end) {
      std::vector<float> scores(static_cast<size_t>(k.rows));
      for (int i = begin; i < end; ++i) {
        const int row = i / config_.heads, column = i % config_.heads * dims;
        const float* query = q.row(row) + column;
        for (int other = 0; other < k.rows; ++other)
          scores[static_cast<size_t>(other)] = scale * dot(query, k.row(other) + column, dims);
        soften(scores);
        float* sum = out.row(row) + column;
        std::fill(sum, sum + dims, 0.f);
        for (int other = 0; other < v.rows; ++other) {
          const float share = scores[static_cast<size_t>(other)];
          const float* value = v.row(other) + column;
          for (int d = 0; d < dims; ++d) sum[d] += share * value[d];
        }
      }
    });
  }

  // x = norm(x + down(activation(up(x))))
  void feed_forward(const Layer& layer, Matrix x) {
    Matrix wide = wide_.of(x.rows, config_.ffn);
    layer.up.apply(compute_, x, wide);
    compute_.pool().share(wide.rows, kRowGrain, [&](int begin, int end) {
      for (int row = begin; row < end; ++row) {
        float* values = wide.row(row);
        for (int i = 0; i < wide.columns; ++i) values[i] = activated(values[i], config_.activation);
      }
    });
    Matrix sum = branch_.of(x.rows, x.columns);
    layer.down.apply(compute_, wide, sum);
    compute_.add(sum, x);
    normalise(x, layer.final_norm);
  }

  void pool(const EncoderBatch& batch, ConstMatrix x, Matrix out) {
    const int texts = static_cast<int>(batch.lengths.size());
    Matrix pooled = config_.labels > 0 ? pooled_.of(texts, config_.hidden) : out;
    int first = 0;
    for (int text = 0; text < texts; ++text) {
      const int length = batch.lengths[static_cast<size_t>(text)];
      pool_text(x.rows_from(first, length), pooled.row(text));
      first += length;
    }
    if (config_.labels == 0) return;
    Matrix inner = branch_.of(texts, config_.hidden);
    head_.apply(compute_, pooled, inner);
    for (int text = 0; text < texts; ++text) {
      float* row = inner.row(text);
      for (int i = 0; i < inner.columns; ++i) row[i] = std::tanh(row[i]);
    }
    classifier_.apply(compute_, inner, out);
  }

  void pool_text(ConstMatrix states, float* out) const {
    const int width = config_.hidden;
    // A classifier reads the first token, whatever vectors are made of.
    if (config_.pooling == Pooling::kFirst || config_.labels > 0) {
      std::copy(states.row(0), states.row(0) + width, out);
      return;
    }
    if (config_.pooling == Pooling::kLast) {
      std::copy(states.row(states.rows - 1), states.row(states.rows - 1) + width, out);
      return;
    }
    std::vector<double> sums(static_cast<size_t>(width));
    for (int row = 0; row < states.rows; ++row) {
      for (int i = 0; i < width; ++i) sums[static_cast<size_t>(i)] += static_cast<double>(states.row(row)[i]);
    }
    for (int i = 0; i < width; ++i)
      out[i] = static_cast<float>(sums[static_cast<size_t>(i)] / static_cast<double>(states.rows));
  }

  const EncoderConfig config_;
  kernels::Compute& compute_;
  const Precision precision_;
  Linear tokens_, positions_, types_;
  Norm embedding_norm_;
  std::vector<Layer> layers_;
  Dense head_, classifier_;
  int64_t weight_bytes_ = 0;
  Activation stream_, branch_, query_, key_, value_, wide_, pooled_;
};

}  // namespace

Result<std::unique_ptr<Encoder>> load_encoder(const WeightSource& source, const LoadOptions& options,
                                              kernels::Compute& compute) {
  PAGODA_ASSIGN(EncoderConfig config, read_encoder_config(source.metadata()));
  WeightLoader weights(source, options, compute.pool());
  auto encoder = std::make_unique<Bert>(std::move(config), weights, compute);
  PAGODA_TRY(weights.status());
  return encoder;
}

int64_t encoder_activation_bytes(const EncoderConfig& config, int64_t rows) {
  const int64_t floats = 5 * static_cast<int64_t>(config.hidden) + config.ffn;
  return saturating_product(rows, floats * static_cast<int64_t>(sizeof(float)));
}

}  // namespace pagoda::model
