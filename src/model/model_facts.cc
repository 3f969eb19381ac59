#include "model/model_facts.h"

#include <algorithm>

#include "base/format.h"
#include "model/footprint.h"

namespace pagoda::model {
namespace {

using enum WeightRole;
using enum TensorSplit;

class KindList {
 public:
  void add(WeightRole role, TensorSplit split, int64_t count, int64_t rows, int64_t columns,
           double used = 1) {
    if (count > 0 && rows > 0 && columns > 0) kinds_.push_back({role, split, count, rows, columns, used});
  }
  std::vector<WeightKind> take() { return std::move(kinds_); }

 private:
  std::vector<WeightKind> kinds_;
};

void add_attention(const ModelFacts& f, KindList& list) {
  const int64_t query = static_cast<int64_t>(f.heads) * f.head_dim;
  const int64_t kv = static_cast<int64_t>(f.kv_heads) * f.head_dim;
  list.add(kAttention, kDivided, f.layers, query, f.hidden);
  list.add(kAttention, kByKvHead, int64_t{2} * f.layers, kv, f.hidden);
  list.add(kAttention, kDivided, f.layers, f.hidden, query);
  if (f.qkv_bias) list.add(kNorm, kDivided, f.layers, 1, query + 2 * kv);
  if (f.head_norms) list.add(kNorm, kCopied, int64_t{2} * f.layers, 1, f.head_dim);
}

void add_latent_attention(const ModelFacts& f, KindList& list) {
  const LatentFacts& l = f.latent;
  const int64_t query = static_cast<int64_t>(f.heads) * (l.nope_dim + l.rope_dim);
  if (l.query_rank > 0) list.add(kAttention, kCopied, f.layers, l.query_rank, f.hidden);
  list.add(kAttention, kDivided, f.layers, query, l.query_rank > 0 ? l.query_rank : f.hidden);
  list.add(kAttention, kCopied, f.layers, l.kv_rank + l.rope_dim, f.hidden);
  list.add(kAttention, kDivided, f.layers, static_cast<int64_t>(f.heads) * (l.nope_dim + l.value_dim),
           l.kv_rank);
  list.add(kAttention, kDivided, f.layers, f.hidden, static_cast<int64_t>(f.heads) * l.value_dim);
  list.add(kNorm, kCopied, f.layers, 1, l.kv_rank + l.query_rank);
}

void add_feed_forward(const ModelFacts& f, KindList& list) {
  const int64_t halves = f.gated_ffn ? 2 : 1;
  const int64_t sparse = f.experts.count > 0 ? f.layers - f.experts.dense_layers : 0;
  const int64_t dense = f.layers - sparse;
  list.add(kFeedForward, kDivided, halves * dense, f.ffn, f.hidden);
  list.add(kFeedForward, kDivided, dense, f.hidden, f.ffn);
  if (sparse == 0) return;
  const ExpertFacts& e = f.experts;
  const double used = static_cast<double>(e.per_token) / e.count;
  list.add(kExpert, kDivided, halves * sparse * e.count, e.ffn, f.hidden, used);
  list.add(kExpert, kDivided, sparse * e.count, f.hidden, e.ffn, used);
  list.add(kRouter, kCopied, sparse, e.count, f.hidden);
  list.add(kFeedForward, kDivided, halves * sparse, e.shared_ffn, f.hidden);
  list.add(kFeedForward, kDivided, sparse, f.hidden, e.shared_ffn);
}

}  // namespace

int64_t WeightKind::elements() const {
  return saturating_product(count, saturating_product(rows, columns));
}

std::vector<WeightKind> weight_kinds(const ModelFacts& f) {
  KindList list;
  // One row of the embedding is looked up, unless it is the output layer too.
  list.add(kEmbedding, kDivided, 1, f.vocabulary, f.hidden, f.tied_output ? 1 : 0);
  if (!f.tied_output) list.add(kOutput, kDivided, 1, f.vocabulary, f.hidden);
  f.latent.kv_rank > 0 ? add_latent_attention(f, list) : add_attention(f, list);
  add_feed_forward(f, list);
  list.add(kNorm, kCopied, static_cast<int64_t>(f.layers) * f.norms_per_layer + 1, 1, f.hidden);
  return list.take();
}

int64_t parameter_count(const ModelFacts& facts) {
  int64_t sum = 0;
  for (const WeightKind& kind : weight_kinds(facts)) sum = saturating_sum(sum, kind.elements());
  return sum;
}

int64_t parameters_used_per_token(const ModelFacts& facts) {
  double sum = 0;
  for (const WeightKind& kind : weight_kinds(facts)) sum += static_cast<double>(kind.elements()) * kind.used;
  return whole_number(sum);
}

KvLayout kv_layout(const ModelFacts& f) {
  const bool latent = f.latent.kv_rank > 0;
  const int heads = latent ? 1 : f.kv_heads;
  const int dim = latent ? (f.latent.kv_rank + f.latent.rope_dim) / 2 : f.head_dim;
  KvGroup full{{}, heads, dim, 0};
  KvGroup windowed{{}, heads, dim, f.window};
  for (int layer = 0; layer < f.layers; ++layer) {
    const LayerReach reach = f.reach.empty() ? LayerReach::kFull : f.reach[static_cast<size_t>(layer)];
    if (reach == LayerReach::kFull) full.layers.push_back(layer);
    if (reach == LayerReach::kWindowed) windowed.layers.push_back(layer);
  }
  KvLayout layout;
  if (!full.layers.empty()) layout.push_back(std::move(full));
  if (!windowed.layers.empty()) layout.push_back(std::move(windowed));
  return layout;
}

ModelShape shape_of(const ModelFacts& f) {
  ModelShape shape;
  shape.layers = f.layers;
  shape.hidden = f.hidden;
  shape.query = static_cast<int64_t>(f.heads) * f.head_dim;
  shape.key_value = static_cast<int64_t>(2) * f.kv_heads * f.head_dim;
  if (f.latent.kv_rank > 0) {
    shape.query = static_cast<int64_t>(f.heads) * (f.latent.nope_dim + f.latent.rope_dim);
    shape.key_value = f.latent.kv_rank + f.latent.rope_dim;
  }
  const int64_t sparse =
      f.experts.count > 0 ? static_cast<int64_t>(f.experts.per_token) * f.experts.ffn + f.experts.shared_ffn
                          : 0;
  shape.ffn = std::max<int64_t>(f.ffn, sparse);
  shape.vocabulary = f.vocabulary;
  shape.context = f.context;
  shape.kv = kv_layout(f);
  return shape;
}

Status check_facts(const ModelFacts& f) {
  const struct {
    std::string_view name;
    int64_t value, least, most;
  } ranges[] = {
      {"layers", f.layers, 1, 4096},
      {"hidden size", f.hidden, 1, 1 << 20},
      {"heads", f.heads, 1, 1 << 16},
      {"KV heads", f.kv_heads, 1, 1 << 16},
      {"head dimension", f.head_dim, 1, 1 << 16},
      {"feed-forward width", f.experts.count > 0 ? f.experts.ffn : f.ffn, 1, 1 << 24},
      {"vocabulary", f.vocabulary, 1, 1 << 28},
      {"context", f.context, 1, 1 << 30},
      {"number of experts", f.experts.count, 0, 1 << 16},
      {"width of the shared experts", f.experts.shared_ffn, 0, 1 << 24},
      {"latent width", int64_t{f.latent.kv_rank} + f.latent.rope_dim, 0, 1 << 16},
      {"query's latent width", f.latent.query_rank, 0, 1 << 20},
      {"latent head dimension", int64_t{f.latent.nope_dim} + f.latent.value_dim, 0, 1 << 16},
  };
  for (const auto& range : ranges) {
    if (range.value < range.least || range.value > range.most)
      return fail(ErrorCode::kCorruptData, format("the model's {} is {}, not in {} to {}", range.name,
                                                  range.value, range.least, range.most));
  }
  if (f.heads % f.kv_heads != 0)
    return fail(ErrorCode::kCorruptData,
                format("{} query heads are no multiple of {} KV heads", f.heads, f.kv_heads));
  if (!f.reach.empty() && f.reach.size() != static_cast<size_t>(f.layers))
    return fail(ErrorCode::kCorruptData,
                format("{} entries say how layers attend, for {} layers", f.reach.size(), f.layers));
  if (f.experts.count > 0 && (f.experts.per_token < 1 || f.experts.per_token > f.experts.count))
    return fail(ErrorCode::kCorruptData,
                format("{} experts of {} are used by a token", f.experts.per_token, f.experts.count));
  if (kv_layout(f).empty())
    return fail(ErrorCode::kUnsupported, "no layer keeps KV: there is no cache to plan");
  return {};
}

}  // namespace pagoda::model
