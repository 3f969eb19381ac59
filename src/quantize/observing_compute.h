// Compute that lets its owner see what a forward pass multiplies: hidden states go in where the embedding
// would be looked up, and every linear layer's input is shown before it is multiplied.
#pragma once

#include <functional>

#include "kernels/compute.h"

namespace pagoda::quantize {

class ObservingCompute final : public kernels::Compute {
 public:
  explicit ObservingCompute(kernels::Compute& inner) : inner_(inner) {}

  // What the next forward pass starts from, [rows, hidden]; where its residual stream lies is kept.
  void start_from(ConstMatrix hidden) { hidden_ = hidden; }
  // The stream of the last pass, which is the layer's output.
  ConstMatrix stream() const { return stream_; }
  // Called with the first output's weight and the input of every linear(). Empty: nothing is called.
  std::function<void(const kernels::PackedMatrix* weight, ConstMatrix x)> on_linear;

  std::string_view isa() const override { return inner_.isa(); }
  ThreadPool& pool() override { return inner_.pool(); }
  void embed(std::span<const int32_t>, const kernels::PackedMatrix&, float, Matrix y) override {
    for (int row = 0; row < y.rows; ++row) std::copy_n(hidden_.row(row), y.columns, y.row(row));
    stream_ = y;
  }
  void linear(ConstMatrix x, kernels::Activations activations,
              std::span<const kernels::LinearOutput> outputs) override {
    if (on_linear) on_linear(outputs.front().weight, x);
    inner_.linear(x, activations, outputs);
  }
  void rms_norm(ConstMatrix x, const float* weight, float epsilon, Matrix y) override {
    inner_.rms_norm(x, weight, epsilon, y);
  }
  void rms_norm_heads(Matrix x, int head_dim, const float* weight, float epsilon) override {
    inner_.rms_norm_heads(x, head_dim, weight, epsilon);
  }
  void rope(Matrix x, int head_dim, const kernels::RopeAngles& angles) override {
    inner_.rope(x, head_dim, angles);
  }
  void write_kv(ConstMatrix k, ConstMatrix v, std::span<const kernels::KvSequence> sequences,
                kernels::KvLayer layer) override {
    inner_.write_kv(k, v, sequences, layer);
  }
  void attention(ConstMatrix q, std::span<const kernels::KvSequence> sequences, kernels::KvLayer layer,
                 const kernels::AttentionShape& shape, Matrix y) override {
    inner_.attention(q, sequences, layer, shape, y);
  }
  void silu_multiply(ConstMatrix gate, ConstMatrix up, Matrix y) override {
    inner_.silu_multiply(gate, up, y);
  }
  void gelu_multiply(ConstMatrix gate, ConstMatrix up, Matrix y) override {
    inner_.gelu_multiply(gate, up, y);
  }
  void add(ConstMatrix x, Matrix y) override { inner_.add(x, y); }
  void add_row(const float* row, Matrix y) override { inner_.add_row(row, y); }

 private:
  kernels::Compute& inner_;
  ConstMatrix hidden_;
  ConstMatrix stream_;
};

}  // namespace pagoda::quantize
