// The memory arithmetic, in one place: what weights, KV cache and one step's activations take. All results
// are bytes; sums that would pass 2^63 stay at the largest number.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "model/kv_layout.h"
#include "model/model_shape.h"
#include "model/weight_source.h"

namespace pagoda::model {

// What one tensor takes once it is packed for a device.
using PackedBytes = std::function<int64_t(DType dtype, const Shape& shape)>;

int64_t weight_bytes(const WeightSource& source, const PackedBytes& packed_bytes);

// What one more token adds to a sequence that is still inside every window:
// Σ groups 2 · layers · kv_heads · head_dim · bytes of the dtype.
int64_t kv_bytes_per_token(const KvLayout& layout, DType dtype);

// The KV that `tokens` tokens of one sequence keep at rest, a windowed group no more than its window. Blocks
// are not rounded up: the figure that planners and model cards quote.
int64_t kv_bytes_of_sequence(const KvLayout& layout, DType dtype, int64_t tokens);

// The most blocks per group that one sequence of up to `tokens` tokens holds while it computes at most
// `step_tokens` in one step: a windowed group keeps what the step's first token sees and the step itself, and
// both ends of that run may lie inside a block.
std::vector<int64_t> kv_blocks_of_sequence(const KvLayout& layout, int block_size, int64_t tokens,
                                           int64_t step_tokens);

// Activations of one step over `rows` tokens: residual and normed stream, q, k, v, attention's output, the
// two halves of the feed-forward and, where they are f32 (the CPU), the quantised copy of a linear layer's
// input.
int64_t activation_bytes(const ModelShape& model, int64_t rows, DType dtype = DType::kF32);

// f32 logits of `rows` rows.
int64_t logit_bytes(const ModelShape& model, int64_t rows);

// a · b and a + b of numbers that are not negative, at most 2^63 − 1.
int64_t saturating_product(int64_t a, int64_t b);
int64_t saturating_sum(int64_t a, int64_t b);
// A number that is not negative, without its fraction, at most 2^63 − 1.
int64_t whole_number(double value);

}  // namespace pagoda::model
