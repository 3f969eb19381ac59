// The engine's numbers, as a snapshot: plain data for /metrics, /load and tests.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace pagoda::engine {

// Cumulative counts are made when written out; counts[i] holds values <= bounds[i], the last one those above
// all.
class Histogram {
 public:
  explicit Histogram(std::span<const double> bounds)
      : bounds_(bounds.begin(), bounds.end()), counts_(bounds.size() + 1, 0) {}
  void observe(double value, int64_t times = 1);
  const std::vector<double>& bounds() const { return bounds_; }
  const std::vector<int64_t>& counts() const { return counts_; }
  double sum() const { return sum_; }
  int64_t count() const { return count_; }

 private:
  std::vector<double> bounds_;
  std::vector<int64_t> counts_;
  double sum_ = 0;
  int64_t count_ = 0;
};

// Bucket bounds are vLLM's, so that its dashboards draw the same curves (engine/stats.cc).
struct EngineStats {
  // The token histograms reach to max_model_len, as vLLM's do.
  explicit EngineStats(int max_model_len = 131072);
  // Gauges.
  int running = 0;
  int waiting = 0;
  int swapped = 0;
  double kv_usage = 0;           // share of blocks in use, [0, 1]
  int64_t kv_waste_bytes = 0;    // allocated to running sequences and not (yet) holding a token
  int64_t kv_used_bytes = 0;     // allocated to running sequences
  std::vector<int> free_blocks;  // per group; cached and unreferenced blocks count as free
  std::vector<int> total_blocks;
  // Counters.
  int64_t prefix_queries = 0;  // prompt tokens looked up
  int64_t prefix_hits = 0;     // prompt tokens found
  int64_t preemptions = 0;
  int64_t swapped_out_bytes = 0;
  int64_t swapped_in_bytes = 0;
  int64_t prompt_tokens = 0;
  int64_t prompt_tokens_cached = 0;
  int64_t generation_tokens = 0;
  std::array<int64_t, 4> finished{};  // by FinishReason
  int64_t steps = 0;
  int64_t drafts = 0;  // times that guesses were checked
  int64_t draft_tokens = 0;
  std::vector<int64_t> accepted_drafts;  // [i]: how often the i-th guess of a draft was right
  // Histograms, seconds or tokens.
  Histogram time_to_first_token;
  Histogram inter_token_latency;
  Histogram time_per_output_token;
  Histogram e2e_latency;
  Histogram queue_time;
  Histogram inference_time;
  Histogram prefill_time;
  Histogram decode_time;
  Histogram request_prompt_tokens;
  Histogram request_generation_tokens;
  Histogram iteration_tokens;
  Histogram request_params_n;
  Histogram request_params_max_tokens;
};

}  // namespace pagoda::engine
