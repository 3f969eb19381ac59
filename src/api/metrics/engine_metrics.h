// The engine's numbers under vLLM's names, so that dashboards made for it draw them, and ours beside them.
#pragma once

#include <string>

#include "api/metrics/cache_config.h"
#include "engine/stats.h"
#include "telemetry/exposition.h"

namespace pagoda::api::metrics {

void write_engine_metrics(telemetry::Exposition& out, const engine::EngineStats& stats,
                          const CacheConfig& cache, const std::string& model_name);

}  // namespace pagoda::api::metrics
