#include "model/footprint.h"

#include <algorithm>
#include <limits>

namespace pagoda::model {

int64_t saturating_product(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<int64_t>::max() : product;
}

int64_t saturating_sum(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

int64_t whole_number(double value) {
  constexpr double kMost = 9223372036854774784.0;  // the largest double below 2^63
  return value >= kMost ? std::numeric_limits<int64_t>::max() : static_cast<int64_t>(value);
}

int64_t weight_bytes(const WeightSource& source, const PackedBytes& packed_bytes) {
  int64_t sum = 0;
  source.for_each([&](const std::string&, const TensorView& tensor) {
    sum = saturating_sum(sum, packed_bytes(tensor.dtype, tensor.shape));
  });
  return sum;
}

int64_t kv_bytes_per_token(const KvLayout& layout, DType dtype) {
  int64_t sum = 0;
  for (const KvGroup& group : layout) sum = saturating_sum(sum, group.block_bytes(1, dtype));
  return sum;
}

int64_t kv_bytes_of_sequence(const KvLayout& layout, DType dtype, int64_t tokens) {
  int64_t sum = 0;
  for (const KvGroup& group : layout) {
    const int64_t kept = group.window > 0 ? std::min<int64_t>(tokens, group.window) : tokens;
    sum = saturating_sum(sum, saturating_product(kept, group.block_bytes(1, dtype)));
  }
  return sum;
}

std::vector<int64_t> kv_blocks_of_sequence(const KvLayout& layout, int block_size, int64_t tokens,
                                           int64_t step_tokens) {
  std::vector<int64_t> blocks;
  const int64_t all = (tokens + block_size - 1) / block_size;
  for (const KvGroup& group : layout) {
    if (group.window == 0) {
      blocks.push_back(all);
      continue;
    }
    const int64_t run = group.window - 1 + std::min(step_tokens, tokens);
    blocks.push_back(std::min(all, (run + block_size - 2) / block_size + 1));
  }
  return blocks;
}

int64_t activation_bytes(const ModelShape& model, int64_t rows, DType dtype) {
  const int64_t numbers = 2 * model.hidden + 2 * model.query + model.key_value + 2 * model.ffn;
  const int64_t row_bytes = numbers * static_cast<int64_t>(bytes_of(dtype, 1));
  if (dtype != DType::kF32) return saturating_product(rows, row_bytes);
  const int64_t widest = std::max({model.hidden, model.query, model.ffn});
  const int64_t quantised = widest + (widest + 31) / 32 * 8;  // int8 codes, a scale and a sum per block of 32
  return saturating_product(rows, row_bytes + quantised);
}

int64_t logit_bytes(const ModelShape& model, int64_t rows) {
  return saturating_product(rows, model.vocabulary * static_cast<int64_t>(sizeof(float)));
}

}  // namespace pagoda::model
