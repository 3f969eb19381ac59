#include "base/check.h"
#include "base/format.h"
#include "base/log.h"
#include "model/architectures.h"

namespace pagoda::model {
namespace {

struct Architecture {
  std::string_view name;  // general.architecture
  std::unique_ptr<Model> (*make)(ModelConfig config, WeightLoader& weights, kernels::Compute& compute);
};

constexpr Architecture kArchitectures[] = {
    {"llama", make_llama},
    {"qwen2", make_llama},
    {"qwen3", make_llama},
    {"gemma3", make_gemma3},
};

// What the kernels ask of every architecture.
Status check_for_kernels(const WeightSource& source, const ModelConfig& config) {
  if (config.head_dim % 16 == 0) return {};
  return fail(ErrorCode::kUnsupported,
              format("{}: heads of {} dimensions; the attention kernels take multiples of 16", source.path(),
                     config.head_dim));
}

}  // namespace

Result<std::unique_ptr<Model>> load_model(const WeightSource& source, const LoadOptions& options,
                                          kernels::Compute& compute) {
  PAGODA_ASSIGN(ModelConfig config, read_config(source.metadata()));
  PAGODA_TRY(check_for_kernels(source, config));
  WeightLoader weights(source, options, compute.pool());
  for (const Architecture& architecture : kArchitectures) {
    if (architecture.name != config.architecture) continue;
    std::unique_ptr<Model> model = architecture.make(std::move(config), weights, compute);
    PAGODA_TRY(weights.status());
    if (const std::string line = weights.dequantised(); !line.empty()) log::info("weights  {}", line);
    return model;
  }
  PAGODA_CHECK(false, "read_config knows an architecture that load_model does not");
}

}  // namespace pagoda::model
