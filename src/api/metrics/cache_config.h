// The KV cache's settings, as vllm:cache_config_info shows them: facts of the start, they never change.
#pragma once

#include <cstdint>
#include <string>

namespace pagoda::api::metrics {

struct CacheConfig {
  int block_size = 16;                // tokens
  int num_gpu_blocks = 0;             // device blocks, whichever device it is
  int num_cpu_blocks = 0;             // swap space
  double gpu_memory_utilization = 0;  // [0, 1]
  int64_t swap_space_bytes = 0;
  std::string cache_dtype = "auto";
  bool enable_prefix_caching = true;
};

}  // namespace pagoda::api::metrics
