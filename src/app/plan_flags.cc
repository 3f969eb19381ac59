#include "app/plan_flags.h"

#include <algorithm>
#include <array>

#include "app/command_words.h"
#include "app/flag_values.h"
#include "base/format.h"
#include "model/weight_scheme.h"

namespace pagoda::app {
namespace {

struct KvType {
  std::string_view name;
  DType dtype;
};
// FP8 has no element type of its own here: a type of one byte without scales has its size.
constexpr DType kOneByte = DType::kQ8_0;
constexpr std::array kKvTypes = {
    KvType{"bfloat16", DType::kBF16}, KvType{"float16", DType::kBF16}, KvType{"float32", DType::kF32},
    KvType{"fp8", kOneByte},          KvType{"fp8_e4m3", kOneByte},    KvType{"fp8_e5m2", kOneByte},
    KvType{"int8", DType::kI8},
};

Setter to_name(std::string* field, std::vector<std::string_view> names) {
  return [field, names = std::move(names)](std::span<const std::string> values) -> Status {
    if (std::find(names.begin(), names.end(), values.back()) == names.end()) {
      std::string all;
      for (std::string_view name : names) all += format("{}{}", all.empty() ? "" : ", ", name);
      return fail(ErrorCode::kInvalidArgument, format("'{}' is none of {}", values.back(), all));
    }
    *field = values.back();
    return {};
  };
}

Setter to_optional(std::optional<int>* field, IntegerRange range) {
  return [field, range](std::span<const std::string> values) -> Status {
    int value = 0;
    PAGODA_TRY(to_integer(&value, range)(values));
    *field = value;
    return {};
  };
}

std::vector<std::string_view> scheme_names() {
  std::vector<std::string_view> names;
  for (const auto& scheme : model::weight_schemes()) names.push_back(scheme.name);
  return names;
}

std::vector<std::string_view> kv_names() {
  std::vector<std::string_view> names = {"auto"};
  for (const KvType& type : kKvTypes) names.push_back(type.name);
  return names;
}

}  // namespace

std::optional<DType> kv_dtype_named(std::string_view name) {
  for (const KvType& type : kKvTypes) {
    if (type.name == name) return type.dtype;
  }
  return std::nullopt;
}

FlagTable plan_flag_table(PlanOptions& o, const std::string& program) {
  FlagTable table;
  table.usage = program + " MODEL [flags]";
  table.summary =
      "Will it fit: weights, KV cache, activations and what runs beside them, per device; how many sequences "
      "at once and how fast; and, when it does not fit, what does.";
  table.examples = {
      {"pagoda plan Qwen/Qwen2.5-7B-Instruct --gpu rtx-4090", "a known model on a card"},
      {"pagoda plan Qwen2.5-72B-Instruct --gpu a100-80gb x2 --max-model-len 8192", "over two of them"},
      {"pagoda plan ./config.json --gpu h100-80gb x8 --json", "before anything is downloaded"},
      {"pagoda plan SmolLM2-135M-Instruct.Q4_1", "a cached model on this machine"},
  };
  table.positional = "model";
  constexpr int kMostSequences = 1 << 20, kMostRanks = 4096;
  Flag gpu = list_row("gpu", "NAME", &o.gpu,
                      "a card and how many: h100-80gb x8, rtx-4090; cpu: this machine's CPU (default: this "
                      "machine's GPUs, else its CPU)");
  table.flags = {
      flag_row(
          "model", "MODEL", to_text(&o.model),
          "a Hugging Face folder, a .gguf file, a config.json, a cached or a known model's name; also as "
          "the first word"),
      std::move(gpu),
      flag_row("max-model-len", "TOKENS", to_context_length(&o.max_model_len),
               "prompt and answer together; auto: the longest that fits (default: the model's context)"),
      flag_row("max-num-seqs", "N", to_optional(&o.max_num_seqs, {1, kMostSequences}),
               "sequences that must be held at once; without it one is enough"),
      flag_row("max-num-batched-tokens", "N", to_optional(&o.max_num_batched_tokens, {1, kMostSequences}),
               "tokens of one step (default: 512 on a CPU, 2048 on a GPU)"),
      flag_row("dtype", "TYPE",
               to_name(&o.dtype, {"auto", "bfloat16", "float16", "half", "float32", "float"}),
               "of weights that are not quantised (default: auto, as stored)"),
      flag_row("quantization", "SCHEME", to_name(&o.quantization, scheme_names()),
               "plan as if the weights were held so (default: as stored)", {"q"}),
      flag_row("tensor-parallel-size", "N", to_optional(&o.tensor_parallel, {1, kMostRanks}),
               "GPUs that share each layer (default: all of --gpu)", {"tp"}),
      flag_row("pipeline-parallel-size", "N", to_integer(&o.pipeline_parallel, {1, kMostRanks}),
               "groups of layers in a row (default: 1)", {"pp"}),
      flag_row("data-parallel-size", "N", to_integer(&o.data_parallel, {1, kMostRanks}),
               "copies of the model side by side (default: 1)", {"dp"}),
      flag_row("kv-cache-dtype", "TYPE", to_name(&o.kv_cache_dtype, kv_names()),
               "auto, bfloat16, float16, float32, fp8, int8 (default: auto, follows the weights)"),
      flag_row("kv-cache-memory-bytes", "BYTES", to_human_integer(&o.kv_cache_bytes, {1, int64_t{1} << 50}),
               "KV cache size of each device, in place of a share"),
      flag_row("gpu-memory-utilization", "SHARE", to_number(&o.memory_utilization, {.above = 0, .max = 1}),
               "share of the device's memory that may be used (default: 0.9)"),
      flag_row("swap-space", "GIB", to_number(&o.swap_space_gib, {.min = 0, .max = 1 << 20}),
               "room for the KV of preempted sequences (default: 0)"),
      switch_row("enforce-eager", &o.eager, "no CUDA graphs"),
      flag_row("gpus-per-node", "N", to_integer(&o.gpus_per_node, {1, 1024}),
               "beyond them tensor parallelism goes over the network (default: 8)"),
      flag_row("network-gbit", "RATE", to_number(&o.network_gbit, {.above = 0, .max = 1e6}),
               "of that network, for each GPU, in Gbit/s (default: 100)"),
      switch_row("json", &o.json, "print JSON"),
  };
  return table;
}

}  // namespace pagoda::app
