// The engine's numbers under vLLM's names, so that dashboards made for it draw them, and ours beside them.
#pragma once

#include <string>

#include "api/metrics/cache_config.h"
#include "api/metrics/exposition.h"
#include "engine/stats.h"

namespace pagoda::api::metrics {

void write_engine_metrics(Exposition& out, const engine::EngineStats& stats, const CacheConfig& cache,
                          const std::string& model_name);

}  // namespace pagoda::api::metrics
