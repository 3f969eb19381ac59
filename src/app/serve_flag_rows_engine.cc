// Rows of flags about the engine: KV cache, scheduling, parallelism, log, and features that are still to
// come.
#include <string>

#include "app/flag_values.h"
#include "app/serve_flag_rows.h"
#include "base/format.h"

namespace pagoda::app {
namespace {

constexpr Takes kSwitch = Takes::kNothing;
constexpr Takes kValue = Takes::kValue;
constexpr Takes kValues = Takes::kValues;
constexpr Takes kJson = Takes::kJson;

Setter to_block_size(int* field) {
  const Setter integer = to_integer(field, {16, 256});
  return [field, integer](std::span<const std::string> values) -> Status {
    PAGODA_TRY(integer(values));
    if (*field % 16 == 0) return {};
    return fail(ErrorCode::kInvalidArgument, format("{} is no multiple of 16", *field));
  };
}

Setter to_kv_dtype(std::optional<DType>* field) {
  return to_choice<std::optional<DType>>(field, {{"auto", std::nullopt},
                                                 {"bfloat16", DType::kBF16},
                                                 {"float32", DType::kF32},
                                                 {"int8", DType::kI8},
                                                 {"int8_per_token_head", DType::kI8}});
}

Setter to_log_level(log::Level* field) {
  using log::Level;
  return to_choice<Level>(field, {{"debug", Level::kDebug},
                                  {"info", Level::kInfo},
                                  {"warning", Level::kWarning},
                                  {"error", Level::kError},
                                  {"critical", Level::kError},
                                  {"trace", Level::kDebug}});
}

}  // namespace

FlagRows cache_rows(ServeOptions& o) {
  return {
      works("gpu-memory-utilization", kValue, "SHARE",
            to_number(&o.memory_utilization, {.above = 0, .max = 1}),
            "share of the device's available memory, here the CPU's under its cgroup (default: 0.9)"),
      works("kv-cache-memory-bytes", kValue, "BYTES",
            to_human_integer(&o.kv_cache_bytes, {1, int64_t{1} << 50}),
            "KV cache size, in place of a share: 512M, 4G"),
      works("num-gpu-blocks-override", kValue, "N", to_integer(&o.blocks_override, {1, int64_t{1} << 31}),
            "KV cache size in blocks, in place of both"),
      works("block-size", kValue, "TOKENS", to_block_size(&o.block_size),
            "tokens per KV block, a multiple of 16 up to 256 (default: 16)"),
      works("kv-cache-dtype", kValue, "TYPE", to_kv_dtype(&o.kv_cache_dtype),
            "auto, bfloat16, float32; int8: half the memory, a scale per token and head (default: auto, "
            "follows --dtype)"),
      works("swap-space", kValue, "GIB", to_number(&o.swap_space_gib, {.min = 0, .max = 1 << 20}),
            "room for the KV of preempted requests; without it they are computed again (default: 0)"),
      works("enable-prefix-caching", kSwitch, "", to_switch(&o.prefix_caching),
            "requests share the KV of equal beginnings (default: on)"),
      no_effect("prefix-caching-hash-algo", kValue, "the prefix index has one form of key"),
      no_effect("preemption-mode", kValue,
                "preempted requests are swapped where --swap-space has room, else computed again"),
      no_effect("disable-hybrid-kv-cache-manager", kSwitch, "layers of each reach have their own blocks"),
      no_effect("use-v2-block-manager", kSwitch, "there is one block manager"),
      not_yet("kv-offloading-size", kValue, "offloading KV is not in this version yet", {"0"}),
      not_yet("cpu-offload-gb", kValue, "offloading weights is not in this version yet", {"0", "0.0"}),
      no_effect("calculate-kv-scales", kSwitch, "int8 KV has a scale per token and head"),
      not_yet("kv-transfer-config", kJson, "transferring KV between servers is not in this version yet"),
      not_yet("kv-events-config", kJson, "KV events are not in this version yet"),
  };
}

FlagRows scheduling_rows(ServeOptions& o) {
  return {
      works("max-num-seqs", kValue, "N", to_integer(&o.max_num_seqs, {1, 65536}),
            "sequences that are computed together (default: 256)"),
      works("max-num-batched-tokens", kValue, "TOKENS",
            to_human_integer(&o.max_num_batched_tokens, {1, 1 << 20}),
            "tokens of one step; more of them keep running answers waiting longer for new prompts (default: "
            "512)"),
      works("max-num-queued-reqs", kValue, "N", to_integer(&o.max_queued_requests, {1, 1 << 24}),
            "waiting requests; more get 429 (default: 16 × --max-num-seqs)"),
      works("scheduling-policy", kValue, "POLICY",
            to_choice<QueueOrder>(&o.queue_order, {{"fcfs", QueueOrder::kFirstComeFirstServed},
                                                   {"priority", QueueOrder::kPriority}}),
            "fcfs, priority: who goes first (default: fcfs)"),
      not_yet("max-num-queued-tokens", kValue,
              "a bound on queued tokens is not in this version yet; use --max-num-queued-reqs"),
      not_yet("long-prefill-token-threshold", kValue,
              "a bound on long prompts' chunks is not in this version yet", {"0"}),
      not_yet("max-num-partial-prefills", kValue, "a bound on partial prefills is not in this version yet",
              {"1"}),
      not_yet("max-long-partial-prefills", kValue, "a bound on partial prefills is not in this version yet",
              {"1"}),
      not_yet("stream-interval", kValue, "every token is streamed as it comes; use 1", {"1"}),
      no_effect("enable-chunked-prefill", kSwitch, "every prompt is computed in chunks that fit the step"),
      no_effect("async-scheduling", kSwitch, "answers do not depend on it"),
      no_effect("num-scheduler-steps", kValue, "each step is scheduled anew"),
      no_effect("multi-step-stream-outputs", kSwitch, "each step is scheduled anew"),
      no_effect("scheduler-delay-factor", kValue, "new requests join the next step"),
      no_effect("num-lookahead-slots", kValue, "each step is scheduled anew"),
      no_effect("disable-async-output-proc", kSwitch, "answers do not depend on it"),
      no_effect("tokenizer-pool-size", kValue, "texts are tokenised where requests arrive"),
      no_effect("tokenizer-pool-type", kValue, "texts are tokenised where requests arrive"),
  };
}

FlagRows parallel_rows() {
  constexpr std::string_view kOneDevice =
      "several devices are not in this version yet; leave the flag out or give 1";
  return {
      also({"tp"}, not_yet("tensor-parallel-size", kValue, kOneDevice, {"1"})),
      also({"pp"}, not_yet("pipeline-parallel-size", kValue, kOneDevice, {"1"})),
      also({"dp"}, not_yet("data-parallel-size", kValue, kOneDevice, {"1"})),
      also({"dcp"}, not_yet("decode-context-parallel-size", kValue, kOneDevice, {"1"})),
      also({"n"}, not_yet("nnodes", kValue, kOneDevice, {"1"})),
      also({"ep"}, not_yet("enable-expert-parallel", kSwitch, "several devices are not in this version yet")),
      not_yet("distributed-executor-backend", kValue,
              "several devices are not in this version yet; leave the flag out", {"mp", "uni"}),
      not_yet("worker-use-ray", kSwitch, "several devices are not in this version yet"),
      not_yet("worker-cls", kValue, "Python workers cannot be loaded", {"auto"}),
      no_effect("max-parallel-loading-workers", kValue, "weights are loaded by all compute threads"),
      no_effect("disable-custom-all-reduce", kSwitch, "one device needs no all-reduce"),
  };
}

FlagRows log_rows(ServeOptions& o) {
  return {
      works("log-format", kValue, "FORM",
            to_choice<log::Style>(&o.log_style, {{"text", log::Style::kText}, {"json", log::Style::kJson}}),
            "text, json (default: text)"),
      also({"uvicorn-log-level"}, works("log-level", kValue, "LEVEL", to_log_level(&o.log_level),
                                        "debug, info, warning, error (default: info)")),
      also({"disable-uvicorn-access-log"}, works("disable-access-log", kSwitch, "",
                                                 to_inverted_switch(&o.access_log), "no line per request")),
      works("disable-log-stats", kSwitch, "", to_inverted_switch(&o.log_stats), "no lines of throughput"),
      no_effect("enable-log-requests", kSwitch,
                "the access log has a line per request; texts are never logged"),
      no_effect("disable-log-requests", kSwitch, "texts of requests are never logged"),
      no_effect("max-log-len", kValue, "texts of requests are never logged"),
      no_effect("disable-access-log-for-endpoints", kValue, "the access log is on or off as a whole"),
      no_effect("log-error-stack", kSwitch, "errors are logged with their cause"),
      no_effect("show-hidden-metrics-for-version", kValue, "no metric is hidden"),
      not_yet("log-config-file", kValue,
              "a logging configuration is not in this version yet; use --log-format"),
      not_yet("enable-log-outputs", kSwitch, "answers are never logged"),
      not_yet("otlp-traces-endpoint", kValue, "traces are not in this version yet"),
      not_yet("collect-detailed-traces", kValues, "traces are not in this version yet"),
  };
}

FlagRows speculation_rows(ServeOptions& options) {
  SpeculationOptions& o = options.speculation;
  return {
      works(
          "speculative-config", kJson, "JSON", to_speculation(&o),
          "guess tokens and check several in a step; answers stay the same. "
          R"({"method": "ngram", "num_speculative_tokens": 4, "prompt_lookup_min": 2, "prompt_lookup_max": 5, )"
          R"("disable_by_batch_size": 8}, or {"model": MODEL} of the same family that guesses)"),
      works("speculative-model", kValue, "NAME", to_speculative_model(&o),
            "[ngram], or a small model of the same family: as --speculative-config"),
      works("num-speculative-tokens", kValue, "N", to_optional_integer(&o.tokens, {1, 64}),
            "most guesses in one step"),
      works("ngram-prompt-lookup-min", kValue, "N", to_optional_integer(&o.shortest, {1, 64}),
            "as in --speculative-config"),
      works("ngram-prompt-lookup-max", kValue, "N", to_optional_integer(&o.longest, {1, 64}),
            "as in --speculative-config"),
      works("speculative-disable-by-batch-size", kValue, "N",
            to_optional_integer(&o.most_running, {0, 1 << 20}), "as in --speculative-config"),
  };
}

FlagRows feature_rows() {
  constexpr std::string_view kAdapters = "LoRA adapters are not in this version yet";
  constexpr std::string_view kNoCompiler = "nothing is compiled at run time";
  return {
      not_yet("enable-lora", kSwitch, kAdapters),
      not_yet("lora-modules", kValues, kAdapters),
      no_effect("max-loras", kValue, kAdapters),
      no_effect("max-lora-rank", kValue, kAdapters),
      no_effect("max-cpu-loras", kValue, kAdapters),
      no_effect("lora-dtype", kValue, kAdapters),
      no_effect("fully-sharded-loras", kSwitch, kAdapters),
      not_yet("enable-prompt-adapter", kSwitch, "prompt adapters are not in this version yet"),
      also({"O", "optimization-level", "cc"}, no_effect("compilation-config", kJson, kNoCompiler)),
  };
}

FlagRows model_repository_rows() {
  constexpr std::string_view kRepository =
      "serving a model repository is not in this version yet; give one MODEL";
  FlagRows rows;
  for (std::string_view name :
       {"model-repository",    "model-store",          "http-port",           "grpc-port",
        "metrics-port",        "http-address",         "grpc-address",        "model-control-mode",
        "load-model",          "repository-poll-secs", "strict-readiness",    "exit-on-error",
        "exit-timeout-secs",   "rate-limit",           "rate-limit-resource", "cache-config",
        "log-verbose",         "allow-http",           "allow-grpc",          "allow-metrics",
        "strict-model-config", "backend-directory",    "backend-config"}) {
    rows.push_back(not_yet(name, kValue, kRepository));
  }
  return rows;
}

}  // namespace pagoda::app
