// Prints /metrics as a server that has worked would: `metrics_text prometheus|openmetrics`.
#include <cstdio>
#include <string_view>

#include "api/metrics/engine_metrics.h"
#include "api/metrics/http_metrics.h"

int main(int argc, char** argv) {
  using namespace pagoda::api::metrics;
  using pagoda::telemetry::Exposition;
  using pagoda::telemetry::ExpositionForm;
  const bool open_metrics = argc > 1 && std::string_view(argv[1]) == "openmetrics";
  Exposition out(open_metrics ? ExpositionForm::kOpenMetrics : ExpositionForm::kPrometheus);

  pagoda::engine::EngineStats stats;
  stats.running = 2;
  stats.kv_usage = 0.25;
  stats.total_blocks = {100, 50};
  stats.free_blocks = {90, 40};
  stats.finished = {5, 1, 1, 0};
  stats.generation_tokens = 1234567890123;
  stats.time_to_first_token.observe(0.03, 4);
  stats.e2e_latency.observe(9e9);
  stats.request_prompt_tokens.observe(300);
  write_engine_metrics(out, stats, CacheConfig(), "a \"quoted\\name\"\nof two lines");

  HttpMetrics http;
  http.expect("POST", "/v1/chat/completions");
  pagoda::http::ExchangeRecord record;
  record.method = "POST";
  record.pattern = "/v1/chat/completions";
  record.status = 200;
  record.seconds = 0.3;
  record.request_bytes = 100;
  http.record(record);
  http.write(out);

  const std::string text = out.finish();
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}
