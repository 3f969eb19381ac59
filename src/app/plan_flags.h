// What `pagoda plan` is asked: its flags are those of `pagoda serve` where both have them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/flags.h"
#include "tensor/dtype.h"

namespace pagoda::app {

struct PlanOptions {
  std::string model;
  std::vector<std::string> gpu;  // words of --gpu: a name, xN; empty: this machine
  int64_t max_model_len = 0;     // 0: the model's context; -1: the longest that fits
  std::optional<int> max_num_seqs;
  std::optional<int> max_num_batched_tokens;  // absent: 512 on a CPU, 2048 on a GPU
  std::string dtype = "auto";
  std::string quantization;            // a weight scheme's name; empty: as the checkpoint has it
  std::optional<int> tensor_parallel;  // absent: all GPUs of --gpu that --pp and --dp leave
  int pipeline_parallel = 1;
  int data_parallel = 1;
  std::string kv_cache_dtype = "auto";
  int64_t kv_cache_bytes = 0;
  double memory_utilization = 0.9;
  double swap_space_gib = 0;
  bool eager = false;  // no CUDA graphs
  int gpus_per_node = 8;
  double network_gbit = 100;
  bool json = false;
};

FlagTable plan_flag_table(PlanOptions& options, const std::string& program);

// A type of the size that --kv-cache-dtype's has, scales included; of "auto": nullopt.
std::optional<DType> kv_dtype_named(std::string_view name);

}  // namespace pagoda::app
