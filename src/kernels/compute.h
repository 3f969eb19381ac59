// The op contracts: what a forward pass may ask of a device. CpuCompute (cpu/cpu_compute.h) is one
// implementation.
//
// All matrices are f32, row-major, [rows, columns] with a stride in elements. Every row's result depends on
// that row alone, never on how many others there are or on the number of threads. One thread calls a Compute
// at a time.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/kv_layer.h"
#include "kernels/packed_matrix.h"
#include "tensor/tensor_view.h"

namespace pagoda {
class ThreadPool;
}

namespace pagoda::kernels {

// How linear() treats its input before multiplying.
enum class Activations : uint8_t {
  kF32,   // as it is
  kBF16,  // rounded to bf16
  kInt8,  // quantised per row in blocks of 32: scale = max|x| / 127, round to nearest even
};

enum class Store : uint8_t { kOverwrite, kAdd };

// One output of linear(): y (+)= x · weightᵀ.
struct LinearOutput {
  const PackedMatrix* weight = nullptr;
  Matrix y;  // [rows, weight->rows]
  Store store = Store::kOverwrite;
};

enum class RopePairs : uint8_t {
  kInterleaved,  // (2i, 2i + 1)
  kHalves,       // (i, i + dims / 2)
};

// cos and sin of position · frequency for each row of a batch: [rows, dims / 2] each.
struct RopeAngles {
  const float* cosines = nullptr;
  const float* sines = nullptr;
  int dims = 0;  // leading dims of each head that rotate; even
  RopePairs pairs = RopePairs::kInterleaved;

  RopeAngles from_row(int row) const {
    const ptrdiff_t skipped = static_cast<ptrdiff_t>(row) * (dims / 2);
    return {cosines + skipped, sines + skipped, dims, pairs};
  }
};

// Rows of one sequence in a batch, for the ops that touch its KV.
struct KvSequence {
  int first_row = 0;
  int rows = 0;
  int context = 0;                  // position of first_row
  const int32_t* blocks = nullptr;  // block table of the layer's group
};

struct AttentionShape {
  int heads = 0;
  int window = 0;     // a query sees the last `window` positions, itself included; 0: all
  float scale = 1.f;  // softmax(scale · q·k)
};

class Compute {
 public:
  virtual ~Compute() = default;

  virtual std::string_view isa() const = 0;  // "avx512", "avx2", "scalar"
  virtual ThreadPool& pool() = 0;

  // y[i] = scale · row tokens[i] of `table` (dequantised).
  virtual void embed(std::span<const int32_t> tokens, const PackedMatrix& table, float scale, Matrix y) = 0;

  // y = x / sqrt(mean(x²) + epsilon) · weight, per row; in place is fine.
  virtual void rms_norm(ConstMatrix x, const float* weight, float epsilon, Matrix y) = 0;
  // The same over each head of a row: x is [rows, heads · head_dim], weight [head_dim].
  virtual void rms_norm_heads(Matrix x, int head_dim, const float* weight, float epsilon) = 0;

  // Several outputs from one input. x is [rows, columns of every weight].
  virtual void linear(ConstMatrix x, Activations activations, std::span<const LinearOutput> outputs) = 0;

  // Rotates every head of x [rows, heads · head_dim] in place.
  virtual void rope(Matrix x, int head_dim, const RopeAngles& angles) = 0;

  // Stores k and v [rows, kv_heads · head_dim] of each sequence at positions context, context + 1, …
  virtual void write_kv(ConstMatrix k, ConstMatrix v, std::span<const KvSequence> sequences,
                        KvLayer layer) = 0;

  // Causal attention of q [rows, heads · head_dim] over the paged KV; the rows' own k and v must be written.
  // y has q's shape. Heads / kv_heads query heads share a KV head.
  virtual void attention(ConstMatrix q, std::span<const KvSequence> sequences, KvLayer layer,
                         const AttentionShape& shape, Matrix y) = 0;

  // y = silu(gate) · up and y = gelu_tanh(gate) · up; y may be gate.
  virtual void silu_multiply(ConstMatrix gate, ConstMatrix up, Matrix y) = 0;
  virtual void gelu_multiply(ConstMatrix gate, ConstMatrix up, Matrix y) = 0;
  // y += x
  virtual void add(ConstMatrix x, Matrix y) = 0;
  // Every row of y += row [columns]: a bias.
  virtual void add_row(const float* row, Matrix y) = 0;
};

}  // namespace pagoda::kernels
