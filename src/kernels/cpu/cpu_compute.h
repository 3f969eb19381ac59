// Compute on the CPU: splits each op over the workers of a ThreadPool and hands the pieces to one row of the
// ISA table. Keeps its scratch memory between calls, so that a steady step allocates nothing.
#pragma once

#include <atomic>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/compute.h"
#include "kernels/cpu/isa_table.h"
#include "tensor/buffer.h"

namespace pagoda::kernels {

class CpuCompute final : public Compute {
 public:
  // Both must outlive it.
  CpuCompute(const IsaTable& isa, ThreadPool& pool);

  std::string_view isa() const override { return isa_.name; }
  ThreadPool& pool() override { return pool_; }

  void embed(std::span<const int32_t> tokens, const PackedMatrix& table, float scale, Matrix y) override;
  void rms_norm(ConstMatrix x, const float* weight, float epsilon, Matrix y) override;
  void rms_norm_heads(Matrix x, int head_dim, const float* weight, float epsilon) override;
  void linear(ConstMatrix x, Activations activations, std::span<const LinearOutput> outputs) override;
  void rope(Matrix x, int head_dim, const RopeAngles& angles) override;
  void write_kv(ConstMatrix k, ConstMatrix v, std::span<const KvSequence> sequences, KvLayer layer) override;
  void attention(ConstMatrix q, std::span<const KvSequence> sequences, KvLayer layer,
                 const AttentionShape& shape, Matrix y) override;
  void silu_multiply(ConstMatrix gate, ConstMatrix up, Matrix y) override;
  void gelu_multiply(ConstMatrix gate, ConstMatrix up, Matrix y) override;
  void add(ConstMatrix x, Matrix y) override;
  void add_row(const float* row, Matrix y) override;

 private:
  // Below this many elements an op is done before another core has heard of it.
  static constexpr size_t kWorthSharing = 4096;

  // A chunk of one sequence's queries on one KV head, over all segments or one of them.
  struct AttentionItem {
    const KvSequence* sequence;
    int kv_head, row, rows;
    int begin, end;  // positions
    size_t partial;  // f32 offset in partials_, when segments are shared out
  };

  // Shares rows out where that is worth it; function(row) may run on any worker.
  template <class Function>
  void for_each_row(int rows, size_t work_per_row, Function&& function) {
    const size_t least = static_cast<size_t>(pool_.size()) * kWorthSharing / 2;
    const bool alone = rows == 1 || static_cast<size_t>(rows) * work_per_row < least;
    const int grain = alone ? rows : static_cast<int>(kWorthSharing / work_per_row + 1);
    pool_.share(rows, grain, [&](int begin, int end) {
      for (int row = begin; row < end; ++row) function(row);
    });
  }
  void quantise(ConstMatrix x, bool with_halves);
  ConstMatrix rounded_to_bf16(ConstMatrix x);
  ConstMatrix with_columns_in(const std::vector<int32_t>& order, ConstMatrix x);
  // Outputs whose weights take the input's columns in one order.
  void linear_in_order(ConstMatrix x, Activations activations, std::span<const LinearOutput> outputs);
  void attend_whole(const AttentionItem& item, ConstMatrix q, const KvLayer& layer,
                    const AttentionShape& shape, float* scratch, Matrix y) const;
  void merge_segments(std::span<const AttentionItem> items, const KvLayer& layer, const AttentionShape& shape,
                      Matrix y);
  AttentionWork work_of(const AttentionItem& item, ConstMatrix q, const KvLayer& layer,
                        const AttentionShape& shape) const;

  const IsaTable& isa_;
  ThreadPool& pool_;
  QuantisedRows quantised_;
  std::vector<float> quantised_floats_;
  std::vector<int32_t> quantised_starts_;
  std::vector<int8_t> quantised_codes_;
  std::vector<float> rounded_;
  std::vector<float> reordered_;
  std::vector<AttentionItem> items_;
  std::vector<float> partials_;
  std::vector<std::vector<float>> attention_scratch_;  // by worker
};

}  // namespace pagoda::kernels
