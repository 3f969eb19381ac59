// One row per instruction set: the single-threaded pieces that CpuCompute deals out to its workers.
// All rows give the same bytes for the same input.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/compute.h"

namespace pagoda::kernels {

// Rows are quantised and multiplied in blocks, so that one group of weights, once unpacked, serves all of
// them.
constexpr int kRowBlock = 64;
constexpr int kQuantGroup = 32;

// int8 activations. Within a block of R <= kRowBlock rows starting at row b·kRowBlock, entry (group g, row r)
// has index i = b·kRowBlock·groups + g·R + r.
struct QuantisedRows {
  int rows = 0;
  int columns = 0;          // padded to kQuantGroup with zeros
  int8_t* codes = nullptr;  // [i][32]
  float* scales = nullptr;  // [i]
  // What a dot product starts from when weight codes carry a zero point: −zero_point · sum of the codes.
  // "Half" is for weights whose groups are 16 wide: [i][2].
  int32_t* starts4 = nullptr;  // [i], zero point 8
  int32_t* starts8 = nullptr;  // [i], zero point 128
  int32_t* half_starts4 = nullptr;
  int32_t* half_starts8 = nullptr;
  bool with_halves = false;  // whether the "half" arrays are wanted
  // scale · sum of the codes: what a weight's offset is multiplied by.
  float* scaled_sums = nullptr;  // [i]
  float* half_scaled_sums = nullptr;

  int groups() const { return columns / kQuantGroup; }
  int rows_in_block(int block) const {
    const int left = rows - block * kRowBlock;
    return left < kRowBlock ? left : kRowBlock;
  }
};

// A query chunk against a range of positions of one KV head; see attention_body.h.
struct AttentionWork {
  const float* q = nullptr;  // first row of the chunk, the KV head's first query head
  int q_stride = 0;          // elements from row to row
  int rows = 0;
  int group = 0;           // query heads per KV head
  int first_position = 0;  // of the chunk's first row
  int kv_head = 0;
  int begin = 0, end = 0;  // positions of this segment: [begin, end)
  const int32_t* blocks = nullptr;
  KvLayer layer;
  int window = 0;
  float scale = 1.f;
};

// Running softmax of one query over the positions so far: weights sum to `total` at maximum `peak`.
// partials are [rows][group], each: head_dim sums, then peak, then total.
constexpr int kPartialExtra = 2;

struct IsaTable {
  std::string_view name;
  bool (*supported)();

  void (*quantise)(ConstMatrix x, const QuantisedRows& out, int block);
  void (*round_to_bf16)(const float* x, float* y, int count);
  // Tiles [begin, end) of one output, all rows.
  void (*linear_int8)(const PackedMatrix& weight, const QuantisedRows& x, int begin, int end, Matrix y,
                      Store store);
  void (*linear_float)(const PackedMatrix& weight, ConstMatrix x, int begin, int end, Matrix y, Store store);

  void (*rms_norm)(const float* x, int count, const float* weight, float epsilon, float* y);
  void (*rope)(float* head, const float* cosines, const float* sines, int dims, RopePairs pairs);
  void (*write_kv)(const float* k, const float* v, int position, const int32_t* blocks, const KvLayer& layer);
  // Computes the segment's own softmax state into `partials` ([rows][group][head_dim + kPartialExtra]).
  void (*attend)(const AttentionWork& work, float* scratch, float* partials);
  // Adds segment states to a running one, in order of position.
  void (*merge)(float* running, const float* segment, int count, int head_dim);
  // y = sums / total.
  void (*finish)(const float* partial, int head_dim, float* y);
  void (*silu_multiply)(const float* gate, const float* up, float* y, int count);
  void (*gelu_multiply)(const float* gate, const float* up, float* y, int count);
  void (*add)(const float* x, float* y, int count);
};

// f32 elements of `scratch` that attend() needs.
int attention_scratch(int head_dim);

// Best first; the scalar row is last and always supported.
std::span<const IsaTable* const> isa_tables();

// The best supported row, or the one that PAGODA_ISA names. Fails when that is unknown or not supported here,
// naming those that are.
Result<const IsaTable*> choose_isa();

}  // namespace pagoda::kernels
