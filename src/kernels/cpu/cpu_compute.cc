#include "kernels/cpu/cpu_compute.h"

#include <algorithm>

#include "base/check.h"

namespace pagoda::kernels {
namespace {

// Enough for one worker to take over from another that is held up, few enough to cost nothing.
constexpr int kPartsPerWorker = 8;

void grow(std::vector<float>& buffer, size_t size) {
  if (buffer.size() < size) buffer.resize(size);
}

}  // namespace

CpuCompute::CpuCompute(const IsaTable& isa, ThreadPool& pool)
    : isa_(isa), pool_(pool), attention_scratch_(static_cast<size_t>(pool.size())) {}

void CpuCompute::embed(std::span<const int32_t> tokens, const PackedMatrix& table, float scale, Matrix y) {
  for_each_row(y.rows, static_cast<size_t>(y.columns), [&](int row) {
    float* out = y.row(row);
    unpack_row(table, tokens[static_cast<size_t>(row)], out);
    if (scale != 1.f) {
      for (int i = 0; i < y.columns; ++i) out[i] *= scale;
    }
  });
}

void CpuCompute::rms_norm(ConstMatrix x, const float* weight, float epsilon, Matrix y) {
  for_each_row(x.rows, static_cast<size_t>(x.columns),
               [&](int row) { isa_.rms_norm(x.row(row), x.columns, weight, epsilon, y.row(row)); });
}

void CpuCompute::rms_norm_heads(Matrix x, int head_dim, const float* weight, float epsilon) {
  for_each_row(x.rows, static_cast<size_t>(x.columns), [&](int row) {
    for (int i = 0; i < x.columns; i += head_dim) {
      float* head = x.row(row) + i;
      isa_.rms_norm(head, head_dim, weight, epsilon, head);
    }
  });
}

void CpuCompute::quantise(ConstMatrix x, bool with_halves) {
  const int columns = (x.columns + kQuantGroup - 1) / kQuantGroup * kQuantGroup;
  const size_t entries = static_cast<size_t>(x.rows) * static_cast<size_t>(columns / kQuantGroup);
  grow(quantised_floats_, 4 * entries);
  if (quantised_starts_.size() < 6 * entries) quantised_starts_.resize(6 * entries);
  if (quantised_codes_.size() < kQuantGroup * entries) quantised_codes_.resize(kQuantGroup * entries);
  quantised_.with_halves = with_halves;
  quantised_.rows = x.rows;
  quantised_.columns = columns;
  quantised_.codes = quantised_codes_.data();
  quantised_.scales = quantised_floats_.data();
  quantised_.scaled_sums = quantised_floats_.data() + entries;
  quantised_.half_scaled_sums = quantised_floats_.data() + 2 * entries;
  quantised_.starts4 = quantised_starts_.data();
  quantised_.starts8 = quantised_starts_.data() + entries;
  quantised_.half_starts4 = quantised_starts_.data() + 2 * entries;
  quantised_.half_starts8 = quantised_starts_.data() + 4 * entries;
  const int blocks = (x.rows + kRowBlock - 1) / kRowBlock;
  for_each_row(blocks, static_cast<size_t>(x.columns) * kRowBlock,
               [&](int block) { isa_.quantise(x, quantised_, block); });
}

ConstMatrix CpuCompute::rounded_to_bf16(ConstMatrix x) {
  grow(rounded_, static_cast<size_t>(x.rows) * static_cast<size_t>(x.columns));
  Matrix rounded(rounded_.data(), x.rows, x.columns, x.columns);
  for_each_row(x.rows, static_cast<size_t>(x.columns),
               [&](int row) { isa_.round_to_bf16(x.row(row), rounded.row(row), x.columns); });
  return rounded;
}

ConstMatrix CpuCompute::with_columns_in(const std::vector<int32_t>& order, ConstMatrix x) {
  grow(reordered_, static_cast<size_t>(x.rows) * static_cast<size_t>(x.columns));
  Matrix reordered(reordered_.data(), x.rows, x.columns, x.columns);
  for_each_row(x.rows, static_cast<size_t>(x.columns), [&](int row) {
    const float* in = x.row(row);
    float* out = reordered.row(row);
    for (int k = 0; k < x.columns; ++k) out[k] = in[order[static_cast<size_t>(k)]];
  });
  return reordered;
}

void CpuCompute::linear(ConstMatrix x, Activations activations, std::span<const LinearOutput> outputs) {
  for (size_t first = 0, last; first < outputs.size(); first = last) {
    const std::vector<int32_t>& order = outputs[first].weight->column_order;
    for (last = first + 1; last < outputs.size() && outputs[last].weight->column_order == order;) ++last;
    const auto run = outputs.subspan(first, last - first);
    linear_in_order(order.empty() ? x : with_columns_in(order, x), activations, run);
  }
}

void CpuCompute::linear_in_order(ConstMatrix x, Activations activations,
                                 std::span<const LinearOutput> outputs) {
  bool any_quantised = false, any_float = false, any_halves = false;
  int tiles = 0;
  for (const LinearOutput& output : outputs) {
    PAGODA_CHECK(output.weight->columns == x.columns, "a linear layer's input has its weight's columns");
    const bool is_quantised = output.weight->format.encoding == WeightEncoding::kQuantised;
    PAGODA_CHECK(!is_quantised || activations == Activations::kInt8,
                 "quantised weights multiply int8 activations");
    (is_quantised ? any_quantised : any_float) = true;
    any_halves |= is_quantised && output.weight->format.group == 16;
    tiles += output.weight->tiles();
  }
  if (any_quantised) quantise(x, any_halves);
  if (any_float && activations == Activations::kBF16) x = rounded_to_bf16(x);
  const int pairs = (tiles + 1) / 2;  // tiles are shared out in pairs, as the widest kernel takes them
  const int grain = std::max(1, pairs / (kPartsPerWorker * pool_.size()));
  pool_.share(pairs, grain, [&](int first_pair, int last_pair) {
    int first = 0;  // of this output among all tiles
    for (const LinearOutput& output : outputs) {
      const int begin = std::max(2 * first_pair - first, 0);
      const int end = std::min(2 * last_pair - first, output.weight->tiles());
      first += output.weight->tiles();
      if (begin >= end) continue;
      if (output.weight->format.encoding == WeightEncoding::kQuantised) {
        isa_.linear_int8(*output.weight, quantised_, begin, end, output.y, output.store);
      } else {
        isa_.linear_float(*output.weight, x, begin, end, output.y, output.store);
      }
    }
  });
}

void CpuCompute::rope(Matrix x, int head_dim, const RopeAngles& angles) {
  for_each_row(x.rows, static_cast<size_t>(x.columns), [&](int row) {
    const ptrdiff_t first = static_cast<ptrdiff_t>(row) * (angles.dims / 2);
    for (int i = 0; i < x.columns; i += head_dim) {
      isa_.rope(x.row(row) + i, angles.cosines + first, angles.sines + first, angles.dims, angles.pairs);
    }
  });
}

void CpuCompute::silu_multiply(ConstMatrix gate, ConstMatrix up, Matrix y) {
  for_each_row(y.rows, static_cast<size_t>(y.columns) * 4,
               [&](int row) { isa_.silu_multiply(gate.row(row), up.row(row), y.row(row), y.columns); });
}

void CpuCompute::gelu_multiply(ConstMatrix gate, ConstMatrix up, Matrix y) {
  for_each_row(y.rows, static_cast<size_t>(y.columns) * 4,
               [&](int row) { isa_.gelu_multiply(gate.row(row), up.row(row), y.row(row), y.columns); });
}

void CpuCompute::add(ConstMatrix x, Matrix y) {
  for_each_row(y.rows, static_cast<size_t>(y.columns),
               [&](int row) { isa_.add(x.row(row), y.row(row), y.columns); });
}

void CpuCompute::add_row(const float* row, Matrix y) {
  for_each_row(y.rows, static_cast<size_t>(y.columns), [&](int i) { isa_.add(row, y.row(i), y.columns); });
}

}  // namespace pagoda::kernels
