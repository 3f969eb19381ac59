// What splitting a model over devices gives each of them, and what their talk costs.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/device_facts.h"
#include "model/model_facts.h"

namespace pagoda::model {

// Ranks of each kind; at least 1.
struct Parallelism {
  int tensor = 1;
  int pipeline = 1;
  int data = 1;
  int64_t devices() const { return static_cast<int64_t>(tensor) * pipeline * data; }
};

// kInvalidArgument when heads, layers or KV heads cannot be divided so.
Status check_split(const ModelFacts& facts, const Parallelism& split);

// The fullest device's share: of layers, heads (KV heads at least one) and the feed-forward's width. Logits
// are gathered: every device may hold whole rows.
ModelShape share_of_device(const ModelFacts& facts, const Parallelism& split);

// Weights of the fullest device, in the scheme's bits.
int64_t weight_bytes_of_device(const ModelFacts& facts, const WeightScheme& scheme, const Parallelism& split);

// Weights that computing `tokens` tokens at once reads, over all devices: of experts those that at least one
// of the tokens is likely to use.
double weight_bytes_read(const ModelFacts& facts, const WeightScheme& scheme, double tokens);

enum class LinkKind : uint8_t { kNone, kNvLink, kPcie, kNetwork };
std::string_view name_of(LinkKind link);  // "NVLink"

// Two all-reduces of the residual stream in each layer (after attention and after the feed-forward), as
// rings.
struct TensorParallelCost {
  LinkKind link = LinkKind::kNone;  // the slowest that the ring passes
  double link_bytes_per_s = 0;
  double bytes_per_token = 0;    // that each device sends
  double seconds_per_token = 0;  // of one stream's step: latencies and transfer
  double decode_loss = 0;        // share of a step's time, one stream
  double prefill_loss = 0;       // share of the time of a long prompt's tokens

  bool worth_a_warning() const { return link == LinkKind::kPcie || link == LinkKind::kNetwork; }
};
TensorParallelCost tensor_parallel_cost(const ModelFacts& facts, const WeightScheme& scheme,
                                        const Parallelism& split, const DeviceFacts& device);

}  // namespace pagoda::model
