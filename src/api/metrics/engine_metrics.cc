#include "api/metrics/engine_metrics.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <string_view>

namespace pagoda::api::metrics {
namespace {

using engine::EngineStats;

struct GaugeRow {
  std::string_view name, help;
  double (*value)(const EngineStats&);
};
constexpr std::array kGauges{
    GaugeRow{"vllm:num_requests_running", "Sequences that the engine computes in its steps.",
             [](const EngineStats& s) { return double(s.running); }},
    GaugeRow{"vllm:num_requests_waiting", "Sequences that wait for their first step or to be resumed.",
             [](const EngineStats& s) { return double(s.waiting); }},
    GaugeRow{"vllm:num_requests_swapped", "Preempted sequences whose KV lies in swap space.",
             [](const EngineStats& s) { return double(s.swapped); }},
    GaugeRow{"vllm:kv_cache_usage_perc", "Share of KV cache blocks in use; 1 is all of them.",
             [](const EngineStats& s) { return s.kv_usage; }},
    GaugeRow{"vllm:gpu_cache_usage_perc", "Older name of vllm:kv_cache_usage_perc.",
             [](const EngineStats& s) { return s.kv_usage; }},
    GaugeRow{"pagoda:kv_cache_used_bytes", "KV bytes allocated to running sequences.",
             [](const EngineStats& s) { return double(s.kv_used_bytes); }},
    GaugeRow{"pagoda:kv_cache_waste_bytes", "KV bytes allocated to running sequences that hold no token yet.",
             [](const EngineStats& s) { return double(s.kv_waste_bytes); }},
};

struct CounterRow {
  std::string_view name, help;  // the name without _total
  int64_t (*value)(const EngineStats&);
};
// Speculative decoding is not in this build: its counters are there, at zero, for dashboards.
constexpr std::array kCounters{
    CounterRow{"vllm:prefix_cache_queries", "Prompt tokens looked up in the prefix cache.",
               [](const EngineStats& s) { return s.prefix_queries; }},
    CounterRow{"vllm:prefix_cache_hits", "Prompt tokens found in the prefix cache.",
               [](const EngineStats& s) { return s.prefix_hits; }},
    CounterRow{"vllm:num_preemptions", "Sequences put back to make room for others.",
               [](const EngineStats& s) { return s.preemptions; }},
    CounterRow{"vllm:prompt_tokens", "Prompt tokens taken in.",
               [](const EngineStats& s) { return s.prompt_tokens; }},
    CounterRow{"vllm:prompt_tokens_cached", "Prompt tokens that needed no computing.",
               [](const EngineStats& s) { return s.prompt_tokens_cached; }},
    CounterRow{"vllm:generation_tokens", "Tokens generated.",
               [](const EngineStats& s) { return s.generation_tokens; }},
    CounterRow{"vllm:spec_decode_num_drafts", "Drafts of speculative decoding.",
               [](const EngineStats& s) { return s.drafts; }},
    CounterRow{"vllm:spec_decode_num_draft_tokens", "Tokens of those drafts.",
               [](const EngineStats& s) { return s.draft_tokens; }},
    CounterRow{"vllm:spec_decode_num_accepted_tokens", "Draft tokens that were accepted.",
               [](const EngineStats& s) {
                 return std::accumulate(s.accepted_drafts.begin(), s.accepted_drafts.end(), int64_t{0});
               }},
    CounterRow{"pagoda:engine_steps", "Steps that the engine made.",
               [](const EngineStats& s) { return s.steps; }},
    CounterRow{"pagoda:kv_swapped_out_bytes", "KV bytes moved to swap space.",
               [](const EngineStats& s) { return s.swapped_out_bytes; }},
    CounterRow{"pagoda:kv_swapped_in_bytes", "KV bytes moved back from swap space.",
               [](const EngineStats& s) { return s.swapped_in_bytes; }},
};

struct HistogramRow {
  std::string_view name, help;
  const engine::Histogram EngineStats::*histogram;
};
constexpr std::array kHistograms{
    HistogramRow{"vllm:time_to_first_token_seconds", "From a request's arrival to its first token.",
                 &EngineStats::time_to_first_token},
    HistogramRow{"vllm:inter_token_latency_seconds", "Between one token of an answer and the next.",
                 &EngineStats::inter_token_latency},
    HistogramRow{"vllm:time_per_output_token_seconds", "Older name of vllm:inter_token_latency_seconds.",
                 &EngineStats::inter_token_latency},
    HistogramRow{"vllm:request_time_per_output_token_seconds",
                 "Mean time per token after the first, by request.", &EngineStats::time_per_output_token},
    HistogramRow{"vllm:e2e_request_latency_seconds", "From a request's arrival to its last token.",
                 &EngineStats::e2e_latency},
    HistogramRow{"vllm:request_queue_time_seconds", "From arrival to the first step.",
                 &EngineStats::queue_time},
    HistogramRow{"vllm:request_inference_time_seconds", "From the first step to the last token.",
                 &EngineStats::inference_time},
    HistogramRow{"vllm:request_prefill_time_seconds", "From the first step to the first token.",
                 &EngineStats::prefill_time},
    HistogramRow{"vllm:request_decode_time_seconds", "From the first token to the last.",
                 &EngineStats::decode_time},
    HistogramRow{"vllm:request_prompt_tokens", "Prompt tokens by request.",
                 &EngineStats::request_prompt_tokens},
    HistogramRow{"vllm:request_generation_tokens", "Generated tokens by request.",
                 &EngineStats::request_generation_tokens},
    HistogramRow{"vllm:iteration_tokens_total", "Tokens computed in one step.",
                 &EngineStats::iteration_tokens},
    HistogramRow{"vllm:request_params_n", "The n that requests ask for.", &EngineStats::request_params_n},
    HistogramRow{"vllm:request_params_max_tokens", "The max_tokens that requests ask for.",
                 &EngineStats::request_params_max_tokens},
};

// By FinishReason.
constexpr std::array<std::string_view, 4> kFinishReasons{"stop", "length", "abort", "error"};
constexpr std::array<std::string_view, 3> kSleepStates{"awake", "weights_offloaded", "discard_all"};

void write_labelled(Exposition& out, const EngineStats& stats, const Labels& labels) {
  out.begin(MetricType::kCounter, "vllm:request_success", "Choices that ended, by reason.");
  for (size_t i = 0; i < kFinishReasons.size(); ++i) {
    out.sample(labels.with("finished_reason", kFinishReasons[i]), stats.finished[i]);
  }
  out.begin(MetricType::kCounter, "vllm:spec_decode_num_accepted_tokens_per_pos",
            "Draft tokens that were accepted, by position.");
  for (size_t i = 0; i < std::max<size_t>(1, stats.accepted_drafts.size()); ++i) {
    const int64_t accepted = i < stats.accepted_drafts.size() ? stats.accepted_drafts[i] : 0;
    out.sample(labels.with("position", std::to_string(i)), accepted);
  }
  out.begin(MetricType::kGauge, "vllm:engine_sleep_state", "1 for the state that the engine is in.");
  for (std::string_view state : kSleepStates) {
    out.sample(labels.with("sleep_state", state), int64_t{state == "awake"});
  }
  out.begin(MetricType::kGauge, "vllm:lora_requests_info",
            "Adapters of the requests; 0 while there are none.");
  out.sample(labels.with("max_lora", "0").with("waiting_lora_adapters", "").with("running_lora_adapters", ""),
             int64_t{0});
}

void write_blocks(Exposition& out, const EngineStats& stats, const Labels& labels) {
  const auto write = [&](std::string_view name, std::string_view help, const std::vector<int>& blocks) {
    out.begin(MetricType::kGauge, name, help);
    for (size_t group = 0; group < blocks.size(); ++group) {
      out.sample(labels.with("group", std::to_string(group)), int64_t{blocks[group]});
    }
    if (blocks.empty()) out.sample(labels.with("group", "0"), int64_t{0});
  };
  write("pagoda:kv_cache_blocks", "KV cache blocks, by group of layers.", stats.total_blocks);
  write("pagoda:kv_cache_free_blocks", "Those that no sequence uses; cached ones count as free.",
        stats.free_blocks);
}

void write_cache_config(Exposition& out, const CacheConfig& cache, const Labels& labels) {
  out.begin(MetricType::kGauge, "vllm:cache_config_info", "The KV cache's settings, as labels.");
  out.sample(labels.with("block_size", std::to_string(cache.block_size))
                 .with("cache_dtype", cache.cache_dtype)
                 .with("enable_prefix_caching", cache.enable_prefix_caching ? "True" : "False")
                 .with("gpu_memory_utilization", std::to_string(cache.gpu_memory_utilization))
                 .with("num_cpu_blocks", std::to_string(cache.num_cpu_blocks))
                 .with("num_gpu_blocks", std::to_string(cache.num_gpu_blocks))
                 .with("swap_space_bytes", std::to_string(cache.swap_space_bytes)),
             int64_t{1});
}

}  // namespace

void write_engine_metrics(Exposition& out, const EngineStats& stats, const CacheConfig& cache,
                          const std::string& model_name) {
  const Labels labels{{"model_name", model_name}, {"engine", "0"}};
  for (const GaugeRow& row : kGauges) {
    out.begin(MetricType::kGauge, row.name, row.help);
    out.sample(labels, row.value(stats));
  }
  for (const CounterRow& row : kCounters) {
    out.begin(MetricType::kCounter, row.name, row.help);
    out.sample(labels, row.value(stats));
  }
  write_labelled(out, stats, labels);
  write_blocks(out, stats, labels);
  write_cache_config(out, cache, labels);
  for (const HistogramRow& row : kHistograms) {
    const engine::Histogram& histogram = stats.*row.histogram;
    out.begin(MetricType::kHistogram, row.name, row.help);
    out.histogram(labels, {histogram.bounds(), histogram.counts(), histogram.sum()});
  }
}

}  // namespace pagoda::api::metrics
