#include "api/metrics/engine_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pagoda::api::metrics {
namespace {

using telemetry::Exposition;
using telemetry::ExpositionForm;

using ::testing::HasSubstr;

std::string text_of(const engine::EngineStats& stats, ExpositionForm form = ExpositionForm::kPrometheus) {
  Exposition out(form);
  write_engine_metrics(out, stats, CacheConfig(), "smol");
  return out.finish();
}

// The contract's names: what dashboards made for vLLM query.
TEST(EngineMetrics, EverySeriesIsThereFromTheStart) {
  const std::string text = text_of(engine::EngineStats());
  for (const char* gauge : {"num_requests_running", "num_requests_waiting", "kv_cache_usage_perc"}) {
    EXPECT_THAT(text, HasSubstr("\nvllm:" + std::string(gauge) + "{model_name=\"smol\",engine=\"0\"} 0"));
  }
  for (const char* counter : {"prefix_cache_queries", "prefix_cache_hits", "num_preemptions", "prompt_tokens",
                              "prompt_tokens_cached", "generation_tokens", "spec_decode_num_drafts",
                              "spec_decode_num_draft_tokens", "spec_decode_num_accepted_tokens"}) {
    EXPECT_THAT(text,
                HasSubstr("\nvllm:" + std::string(counter) + "_total{model_name=\"smol\",engine=\"0\"} 0"));
  }
  for (const char* histogram :
       {"time_to_first_token_seconds", "inter_token_latency_seconds", "request_time_per_output_token_seconds",
        "e2e_request_latency_seconds", "request_queue_time_seconds", "request_inference_time_seconds",
        "request_prefill_time_seconds", "request_decode_time_seconds", "request_prompt_tokens",
        "request_generation_tokens", "iteration_tokens_total", "request_params_n",
        "request_params_max_tokens"}) {
    EXPECT_THAT(text,
                HasSubstr("\nvllm:" + std::string(histogram) + "_count{model_name=\"smol\",engine=\"0\"} 0"));
  }
  for (const char* reason : {"stop", "length", "abort", "error"}) {
    EXPECT_THAT(text, HasSubstr("finished_reason=\"" + std::string(reason) + "\"} 0"));
  }
  EXPECT_THAT(text, HasSubstr("vllm:cache_config_info{"));
  EXPECT_THAT(text, HasSubstr("sleep_state=\"awake\"} 1"));
  EXPECT_THAT(text, HasSubstr("vllm:lora_requests_info{"));
  EXPECT_THAT(text, HasSubstr("pagoda:kv_cache_waste_bytes{"));
  EXPECT_THAT(text, HasSubstr("pagoda:kv_swapped_out_bytes_total{"));
}

TEST(EngineMetrics, ShowsTheNumbers) {
  engine::EngineStats stats;
  stats.running = 3;
  stats.kv_waste_bytes = 4096;
  stats.finished[1] = 7;
  stats.generation_tokens = 99;
  stats.total_blocks = {10, 20};
  stats.time_to_first_token.observe(0.0005);
  const std::string text = text_of(stats);
  EXPECT_THAT(text, HasSubstr("vllm:num_requests_running{model_name=\"smol\",engine=\"0\"} 3"));
  EXPECT_THAT(text, HasSubstr("pagoda:kv_cache_waste_bytes{model_name=\"smol\",engine=\"0\"} 4096"));
  EXPECT_THAT(text, HasSubstr("finished_reason=\"length\"} 7"));
  EXPECT_THAT(text, HasSubstr("vllm:generation_tokens_total{model_name=\"smol\",engine=\"0\"} 99"));
  EXPECT_THAT(text, HasSubstr("group=\"1\"} 20"));
  EXPECT_THAT(text, HasSubstr("vllm:time_to_first_token_seconds_count{model_name=\"smol\",engine=\"0\"} 1"));
}

}  // namespace
}  // namespace pagoda::api::metrics
