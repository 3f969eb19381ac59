#include "quantize/layer_quantiser.h"

#include "base/format.h"
#include "base/thread_pool.h"
#include "kernels/dequantise.h"
#include "quantize/awq.h"
#include "quantize/gptq.h"

namespace pagoda::quantize {
namespace {

struct Matrix32 {
  std::vector<float> values;
  int rows = 0, columns = 0;
};

Matrix32 read(const TensorView& view) {
  Matrix32 matrix;
  matrix.rows = static_cast<int>(view.rows());
  matrix.columns = static_cast<int>(view.columns());
  matrix.values.resize(static_cast<size_t>(view.shape.elements()));
  kernels::dequantise_row(view.dtype, view.data, static_cast<int>(matrix.values.size()),
                          matrix.values.data());
  return matrix;
}

// Divides each row by its factor.
void divide_rows(Matrix32& matrix, const std::vector<float>& factors) {
  const auto columns = static_cast<size_t>(matrix.columns);
  for (size_t row = 0; row < static_cast<size_t>(matrix.rows); ++row) {
    for (size_t k = 0; k < columns; ++k) matrix.values[row * columns + k] /= factors[row];
  }
}

class LayerQuantiser {
 public:
  LayerQuantiser(LayerSource& layer, const model::ModelConfig& config, const FolderOptions& options,
                 ThreadPool& pool)
      : layer_(layer), config_(config), options_(options), pool_(pool) {}

  Result<QuantisedLayer> run(std::array<InputStatistics, kLinearGroups> statistics) {
    for (size_t g = 0; g < kLinearGroups; ++g) {
      for (const std::string_view name : linear_groups()[g].weights)
        weights_.emplace(name, read(*layer_.in_layer(std::string(name))));
    }
    if (options_.scheme == FolderScheme::kAwq) {
      quantise_with_factors(statistics);
    } else {
      for (size_t g = 0; g < kLinearGroups; ++g) {
        PAGODA_ASSIGN(const auto factor, inverse_factor(statistics[g], pool_));
        for (const std::string_view name : linear_groups()[g].weights) {
          Matrix32& w = weights_.at(std::string(name));
          const GptqOptions how{options_.bits, group_of(w), /*symmetric=*/true};
          keep(name, quantise_gptq(w.values, w.rows, w.columns, factor, how, pool_));
        }
      }
    }
    for (const auto& [name, weights] : result_.weights)
      layer_.replace(name, Shape{weights.rows, weights.columns}, weights.values());
    for (const auto& [name, values] : result_.vectors)
      layer_.replace(name, Shape{static_cast<int64_t>(values.size())}, values);
    return std::move(result_);
  }

 private:
  int group_of(const Matrix32& w) const { return options_.group_size > 0 ? options_.group_size : w.columns; }
  void keep(std::string_view name, IntegerWeights weights) {
    result_.weights.emplace(std::string(name), std::move(weights));
  }

  // AWQ: what precedes a group takes its factors over: a norm, the values' rows, the up projection's rows.
  void quantise_with_factors(const std::array<InputStatistics, kLinearGroups>& statistics) {
    std::array<std::vector<float>, kLinearGroups> factors;
    for (size_t g = 0; g < kLinearGroups; ++g) {
      std::vector<SharedInput> group;
      for (const std::string_view name : linear_groups()[g].weights) {
        Matrix32& w = weights_.at(std::string(name));
        group.push_back({&w.values, w.rows});
      }
      const bool shared_values = g == 1 && config_.kv_heads != config_.heads;
      const AwqOptions how{group_of(weights_.at(std::string(linear_groups()[g].weights.front())))};
      factors[g] = shared_values ? std::vector<float>(static_cast<size_t>(statistics[g].columns), 1.f)
                                 : best_column_factors(group, statistics[g], how, pool_);
    }
    divide_vector("attn_norm.weight", factors[0]);
    divide_vector("ffn_norm.weight", factors[2]);
    if (config_.kv_heads == config_.heads) {
      divide_rows(weights_.at("attn_v.weight"), factors[1]);
      divide_vector("attn_v.bias", factors[1]);
    }
    divide_rows(weights_.at("ffn_up.weight"), factors[3]);
    for (size_t g = 0; g < kLinearGroups; ++g) {
      for (const std::string_view name : linear_groups()[g].weights) {
        const Matrix32& w = weights_.at(std::string(name));
        keep(name, quantise_awq(w.values, w.rows, statistics[g], factors[g], {group_of(w)}, pool_));
      }
    }
  }

  void divide_vector(const std::string& name, const std::vector<float>& factors) {
    const TensorView* view = layer_.in_layer(name);
    if (view == nullptr) return;
    std::vector<float> values = read(*view).values;
    for (size_t k = 0; k < values.size(); ++k) values[k] /= factors[k];
    result_.vectors.emplace(name, std::move(values));
  }

  LayerSource& layer_;
  const model::ModelConfig& config_;
  const FolderOptions& options_;
  ThreadPool& pool_;
  std::map<std::string, Matrix32> weights_;
  QuantisedLayer result_;
};

}  // namespace

Result<QuantisedLayer> quantise_layer(LayerSource& layer, const model::ModelConfig& config,
                                      Calibration& calibration, const FolderOptions& options,
                                      ThreadPool& pool) {
  PAGODA_ASSIGN(auto statistics, calibration.observe(layer));
  PAGODA_ASSIGN(QuantisedLayer result,
                LayerQuantiser(layer, config, options, pool).run(std::move(statistics)));
  PAGODA_TRY(calibration.advance(layer));
  return result;
}

}  // namespace pagoda::quantize
