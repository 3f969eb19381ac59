#include "quantize/calibration.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/format.h"
#include "kernels/dequantise.h"
#include "model/model.h"
#include "quantize/observing_compute.h"

namespace pagoda::quantize {
namespace {

constexpr int kBlockSize = 16;

// y [columns, columns] += xᵀ x, by the linear kernel: the transposed input is both factors.
void add_squares(ConstMatrix x, kernels::Compute& compute, std::vector<float>& squares) {
  const auto columns = static_cast<size_t>(x.columns), rows = static_cast<size_t>(x.rows);
  std::vector<float> transposed(columns * rows);
  for (size_t r = 0; r < rows; ++r) {
    const float* row = x.row(static_cast<int>(r));
    for (size_t k = 0; k < columns; ++k) transposed[k * rows + r] = row[k];
  }
  const TensorView view{reinterpret_cast<const std::byte*>(transposed.data()), DType::kF32,
                        Shape{x.columns, x.rows}};
  const auto packed =
      kernels::pack({&view, 1}, kernels::plain_format(kernels::WeightEncoding::kF32), compute.pool());
  const kernels::LinearOutput output{&*packed, Matrix(squares.data(), x.columns, x.columns, x.columns),
                                     kernels::Store::kAdd};
  compute.linear(ConstMatrix(transposed.data(), x.columns, x.rows, x.rows), kernels::Activations::kF32,
                 {&output, 1});
}

// Sorts the linear calls of a layer into groups by the order in which their weights first come.
class GroupSorter {
 public:
  explicit GroupSorter(kernels::Compute& compute) : compute_(compute) {}

  void see(const kernels::PackedMatrix* weight, ConstMatrix x) {
    const auto found = std::find(weights_.begin(), weights_.end(), weight);
    const auto group = static_cast<size_t>(found - weights_.begin());
    if (found == weights_.end()) weights_.push_back(weight);
    if (group >= kLinearGroups) return;
    InputStatistics& statistics = statistics_[group];
    if (statistics.columns == 0) {
      const auto columns = static_cast<size_t>(x.columns);
      statistics.columns = x.columns;
      statistics.squares.resize(columns * columns);
      statistics.means.resize(columns);
    }
    statistics.rows += x.rows;
    for (int row = 0; row < x.rows; ++row) {
      for (int k = 0; k < x.columns; ++k)
        statistics.means[static_cast<size_t>(k)] += std::fabs(x.row(row)[k]);
    }
    add_squares(x, compute_, statistics.squares);
  }

  size_t groups() const { return weights_.size(); }
  std::array<InputStatistics, kLinearGroups>& statistics() { return statistics_; }

 private:
  kernels::Compute& compute_;
  std::vector<const kernels::PackedMatrix*> weights_;
  std::array<InputStatistics, kLinearGroups> statistics_;
};

}  // namespace

const std::array<LinearGroup, kLinearGroups>& linear_groups() {
  static const std::array<LinearGroup, kLinearGroups> groups = {{
      {"attention", {"attn_q.weight", "attn_k.weight", "attn_v.weight"}},
      {"attention's output", {"attn_output.weight"}},
      {"feed-forward", {"ffn_gate.weight", "ffn_up.weight"}},
      {"feed-forward's output", {"ffn_down.weight"}},
  }};
  return groups;
}

Calibration::Calibration(const model::WeightSource& whole, const model::ModelConfig& config,
                         std::span<const int32_t> tokens, int sample_tokens, kernels::Compute& compute)
    : config_(config),
      compute_(compute),
      sample_tokens_(sample_tokens),
      samples_(tokens.size() / static_cast<size_t>(sample_tokens)) {
  const TensorView& table = *whole.find("token_embd.weight");
  const auto hidden = static_cast<size_t>(config.hidden);
  hidden_.resize(samples_ * static_cast<size_t>(sample_tokens) * hidden);
  for (size_t i = 0; i < samples_ * static_cast<size_t>(sample_tokens); ++i) {
    float* row = hidden_.data() + i * hidden;
    kernels::dequantise_row(table.dtype, table.row(tokens[i]), config.hidden, row);
    for (size_t k = 0; k < hidden; ++k) row[k] *= config.embedding_scale;
  }
}

template <class AfterSample>
Status Calibration::run(const LayerSource& layer, ObservingCompute& compute, AfterSample&& after_sample) {
  PAGODA_ASSIGN(const auto model, model::load_model(layer, {model::Precision::kFloat32}, compute));
  const int blocks = (sample_tokens_ + kBlockSize - 1) / kBlockSize;
  const model::KvLayout layout = model->config().kv_layout();
  model::KvCache cache(layout, DType::kF32, kBlockSize, std::vector<int>(layout.size(), blocks));
  std::vector<int32_t> table(static_cast<size_t>(blocks)), tokens(static_cast<size_t>(sample_tokens_)),
      positions(tokens.size());
  std::iota(table.begin(), table.end(), 0);
  std::iota(positions.begin(), positions.end(), 0);
  const int32_t* const table_pointer = table.data();
  const model::BatchSequence sequence{0, sample_tokens_, 0, {&table_pointer, 1}};
  const model::ForwardBatch batch{tokens, positions, {&sequence, 1}, {}};
  for (size_t sample = 0; sample < samples_; ++sample) {
    float* rows = hidden_.data() + sample * tokens.size() * static_cast<size_t>(config_.hidden);
    compute.start_from(ConstMatrix(rows, sample_tokens_, config_.hidden, config_.hidden));
    model->forward(batch, cache, Matrix());
    after_sample(rows);
  }
  return {};
}

Result<std::array<InputStatistics, kLinearGroups>> Calibration::observe(const LayerSource& layer) {
  ObservingCompute observing(compute_);
  GroupSorter sorter(compute_);
  observing.on_linear = [&](const kernels::PackedMatrix* weight, ConstMatrix x) { sorter.see(weight, x); };
  PAGODA_TRY(run(layer, observing, [](float*) {}));
  auto& statistics = sorter.statistics();
  bool as_expected = sorter.groups() == kLinearGroups;
  for (size_t g = 0; g < kLinearGroups && as_expected; ++g) {
    for (const std::string_view name : linear_groups()[g].weights) {
      const TensorView* weight = layer.in_layer(std::string(name));
      as_expected = as_expected && weight != nullptr && weight->columns() == statistics[g].columns;
    }
    for (float& mean : statistics[g].means) mean /= static_cast<float>(statistics[g].rows);
  }
  if (!as_expected)
    return fail(ErrorCode::kUnsupported,
                format("layers of the architecture '{}' are not built of attention and a gated feed-forward; "
                       "gptq and awq know no others",
                       config_.architecture));
  return std::move(statistics);
}

Status Calibration::advance(const LayerSource& layer) {
  ObservingCompute observing(compute_);
  return run(layer, observing, [&](float* rows) {
    const ConstMatrix stream = observing.stream();
    for (int row = 0; row < sample_tokens_; ++row)
      std::copy_n(stream.row(row), config_.hidden, rows + static_cast<ptrdiff_t>(row) * config_.hidden);
  });
}

}  // namespace pagoda::quantize
