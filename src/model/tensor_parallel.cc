#include "model/tensor_parallel.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "model/footprint.h"

namespace pagoda::model {
namespace {

// A small all-reduce takes about this long whatever its size: launches and hand-overs along the link.
constexpr double kLatencyNvLink_s = 8e-6;
constexpr double kLatencyPcie_s = 30e-6;
constexpr double kLatencyNetwork_s = 50e-6;
// Long prompts reach about this share of the data sheet's dense rate.
constexpr double kPrefillEfficiency = 0.6;
constexpr double kStreamBytes = 2;  // of one number of the residual stream

int64_t divided(int64_t whole, int64_t parts) {
  return (whole + parts - 1) / parts;
}

double bits_of(const WeightKind& kind, const WeightScheme& scheme) {
  switch (kind.role) {
    case WeightRole::kEmbedding:
    case WeightRole::kOutput:
      return scheme.embedding_bits;
    case WeightRole::kAttention:
      return scheme.attention_bits;
    case WeightRole::kRouter:
    case WeightRole::kNorm:
      return 32;
    case WeightRole::kExpert:
      return scheme.linear_bits;
    case WeightRole::kFeedForward:
      // Experts alone are narrow where attention is not.
      return scheme.attention_bits > scheme.linear_bits ? scheme.attention_bits : scheme.linear_bits;
  }
  return 16;
}

bool in_layers(WeightRole role) {
  return role != WeightRole::kEmbedding && role != WeightRole::kOutput;
}

// Elements of the fullest device.
double elements_of_device(const WeightKind& kind, const ModelFacts& facts, const Parallelism& split) {
  double elements = static_cast<double>(kind.elements());
  if (kind.split == TensorSplit::kDivided) elements /= split.tensor;
  if (kind.split == TensorSplit::kByKvHead)
    elements *= static_cast<double>(divided(facts.kv_heads, split.tensor)) / facts.kv_heads;
  if (!in_layers(kind.role) || split.pipeline == 1) return elements;
  return elements * static_cast<double>(divided(facts.layers, split.pipeline)) / facts.layers;
}

LinkKind link_of(const Parallelism& split, const DeviceFacts& device) {
  if (split.tensor == 1) return LinkKind::kNone;
  if (split.tensor <= device.nvlink_group) return LinkKind::kNvLink;
  return split.tensor <= device.per_node ? LinkKind::kPcie : LinkKind::kNetwork;
}

}  // namespace

Status check_split(const ModelFacts& facts, const Parallelism& split) {
  if (facts.heads % split.tensor != 0)
    return fail(ErrorCode::kInvalidArgument,
                format("--tensor-parallel-size {}: the model has {} heads, no multiple of it", split.tensor,
                       facts.heads),
                "tensor-parallel-size");
  const int kv = facts.latent.kv_rank > 0 ? 1 : facts.kv_heads;
  if (kv % split.tensor != 0 && split.tensor % kv != 0)
    return fail(ErrorCode::kInvalidArgument,
                format("--tensor-parallel-size {}: the model has {} KV heads, which divide no such number",
                       split.tensor, kv),
                "tensor-parallel-size");
  if (split.pipeline > facts.layers)
    return fail(ErrorCode::kInvalidArgument,
                format("--pipeline-parallel-size {}: the model has {} layers", split.pipeline, facts.layers),
                "pipeline-parallel-size");
  return {};
}

ModelShape share_of_device(const ModelFacts& facts, const Parallelism& split) {
  ModelShape share = shape_of(facts);
  share.layers = static_cast<int>(divided(share.layers, split.pipeline));
  share.query = divided(share.query, split.tensor);
  share.ffn = divided(share.ffn, split.tensor);
  if (facts.latent.kv_rank == 0) share.key_value = divided(share.key_value, split.tensor);
  for (KvGroup& group : share.kv) {
    group.layers.resize(
        static_cast<size_t>(divided(static_cast<int64_t>(group.layers.size()), split.pipeline)));
    group.kv_heads = static_cast<int>(divided(group.kv_heads, split.tensor));
  }
  return share;
}

int64_t weight_bytes_of_device(const ModelFacts& facts, const WeightScheme& scheme,
                               const Parallelism& split) {
  double bits = 0, embedding = 0, output = 0;
  for (const WeightKind& kind : weight_kinds(facts)) {
    const double part = elements_of_device(kind, facts, split) * bits_of(kind, scheme);
    (kind.role == WeightRole::kEmbedding ? embedding
     : kind.role == WeightRole::kOutput  ? output
                                         : bits) += part;
  }
  // The first stage of a pipeline has the embedding, the last one the output layer.
  bits += split.pipeline == 1 ? embedding + output : std::max(embedding, output);
  return whole_number(bits / 8);
}

double weight_bytes_read(const ModelFacts& facts, const WeightScheme& scheme, double tokens) {
  double bits = 0;
  for (const WeightKind& kind : weight_kinds(facts)) {
    const double used = kind.used <= 0 || kind.used >= 1 ? kind.used : 1 - std::pow(1 - kind.used, tokens);
    bits += static_cast<double>(kind.elements()) * used * bits_of(kind, scheme);
  }
  return bits / 8;
}

std::string_view name_of(LinkKind link) {
  switch (link) {
    case LinkKind::kNone:
      return "no link";
    case LinkKind::kNvLink:
      return "NVLink";
    case LinkKind::kPcie:
      return "PCIe";
    case LinkKind::kNetwork:
      return "the network between nodes";
  }
  return "";
}

TensorParallelCost tensor_parallel_cost(const ModelFacts& facts, const WeightScheme& scheme,
                                        const Parallelism& split, const DeviceFacts& device) {
  TensorParallelCost cost;
  cost.link = link_of(split, device);
  if (cost.link == LinkKind::kNone) return cost;
  const double ranks = split.tensor;
  double latency_s = kLatencyNvLink_s;
  cost.link_bytes_per_s = device.nvlink;
  if (cost.link == LinkKind::kPcie) {
    cost.link_bytes_per_s = device.pcie;
    latency_s = kLatencyPcie_s;
  } else if (cost.link == LinkKind::kNetwork) {
    cost.link_bytes_per_s = device.network;
    latency_s = kLatencyNetwork_s;
  }
  const double all_reduces = 2.0 * facts.layers;
  cost.bytes_per_token = all_reduces * facts.hidden * kStreamBytes * 2 * (ranks - 1) / ranks;
  if (cost.link_bytes_per_s <= 0) return cost;
  const double transfer_s = cost.bytes_per_token / cost.link_bytes_per_s;
  cost.seconds_per_token = all_reduces * latency_s + transfer_s;
  if (device.memory_bandwidth > 0) {
    const double step_s = weight_bytes_read(facts, scheme, 1) / (ranks * device.memory_bandwidth);
    cost.decode_loss = cost.seconds_per_token / (cost.seconds_per_token + step_s);
  }
  if (device.flops_16 > 0) {
    const double compute_s = 2.0 * static_cast<double>(parameters_used_per_token(facts)) /
                             (ranks * device.flops_16 * kPrefillEfficiency);
    cost.prefill_loss = transfer_s / (transfer_s + compute_s);
  }
  return cost;
}

}  // namespace pagoda::model
