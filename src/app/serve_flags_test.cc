#include "app/serve_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

namespace pagoda::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<ServeRequest> parse(std::vector<std::string> arguments, ServeDefaults defaults = {}) {
  return parse_serve_flags(arguments, defaults, "pagoda serve");
}

ServeOptions options_of(std::vector<std::string> arguments, ServeDefaults defaults = {}) {
  auto request = parse(std::move(arguments), defaults);
  EXPECT_TRUE(request) << request.error().message;
  return request ? request->options : ServeOptions{};
}

std::string error_of(std::vector<std::string> arguments) {
  const auto request = parse(std::move(arguments));
  return request ? "no error" : request.error().message;
}

TEST(ServeFlags, NamesAreUnique) {
  ServeOptions options;
  const FlagTable table = serve_flag_table(options, "x");
  std::set<std::string_view> seen;
  for (const Flag& flag : table.flags) {
    EXPECT_TRUE(seen.insert(flag.name).second) << flag.name;
    for (std::string_view alias : flag.aliases) {
      EXPECT_TRUE(seen.insert(alias).second) << alias;
    }
    EXPECT_EQ(flag.standing == Standing::kWorks, static_cast<bool>(flag.set)) << flag.name;
    EXPECT_EQ(flag.standing != Standing::kWorks, !flag.reason.empty()) << flag.name;
  }
}

// The command of the guide that pagoda is built after.
TEST(ServeFlags, TheGuidesCommand) {
  const ServeOptions o = options_of({"--model", "/models/Qwen2.5-7B-Instruct", "--tensor-parallel-size", "1",
                                     "--gpu-memory-utilization", "0.9", "--max-model-len", "8192"});
  EXPECT_EQ(o.model, "/models/Qwen2.5-7B-Instruct");
  EXPECT_EQ(o.memory_utilization, 0.9);
  EXPECT_EQ(o.max_model_len, 8192);
  EXPECT_EQ(options_of({"m", "--swap-space", "4"}).swap_space_gib, 4);
}

TEST(ServeFlags, EveryFieldIsReached) {
  const ServeOptions o = options_of({"m.gguf",
                                     "--served-model-name",
                                     "a",
                                     "b",
                                     "--dtype=bfloat16",
                                     "--max-model-len",
                                     "8k",
                                     "--seed",
                                     "7",
                                     "--chat-template",
                                     "t.jinja",
                                     "--threads",
                                     "2",
                                     "--host",
                                     "::1",
                                     "--port",
                                     "9000",
                                     "--root-path",
                                     "/llm",
                                     "--ssl-keyfile",
                                     "k.pem",
                                     "--ssl-certfile",
                                     "c.pem",
                                     "--api-key",
                                     "k1",
                                     "--api-key",
                                     "k2",
                                     "--allowed-origins",
                                     R"(["https://a.example"])",
                                     "--enable-request-id-headers",
                                     "--shutdown-timeout",
                                     "5",
                                     "--max-logprobs",
                                     "50",
                                     "--response-role",
                                     "bot",
                                     "--return-tokens-as-token-ids",
                                     "--enable-prompt-tokens-details",
                                     "--enable-force-include-usage",
                                     "--enable-server-load-tracking",
                                     "--block-size",
                                     "32",
                                     "--kv-cache-memory-bytes",
                                     "512M",
                                     "--num-gpu-blocks-override",
                                     "64",
                                     "--kv-cache-dtype",
                                     "float32",
                                     "--swap-space",
                                     "0.5",
                                     "--no-enable-prefix-caching",
                                     "--max-num-seqs",
                                     "8",
                                     "--max-num-batched-tokens",
                                     "1K",
                                     "--max-num-queued-reqs",
                                     "9",
                                     "--scheduling-policy",
                                     "priority",
                                     "--log-format",
                                     "json",
                                     "--log-level",
                                     "debug",
                                     "--disable-access-log",
                                     "--disable-log-stats",
                                     "--default-chat-template-kwargs.enable_thinking",
                                     "false"});
  EXPECT_EQ(o.model, "m.gguf");
  EXPECT_THAT(o.served_model_names, ElementsAre("a", "b"));
  EXPECT_EQ(o.dtype, DType::kBF16);
  EXPECT_EQ(o.max_model_len, 8000);
  EXPECT_EQ(o.seed, 7u);
  EXPECT_EQ(o.chat_template, "t.jinja");
  EXPECT_EQ(o.chat_template_kwargs.dump(), R"({"enable_thinking":false})");
  EXPECT_EQ(o.threads, 2);
  EXPECT_EQ(o.host, "::1");
  EXPECT_EQ(o.port, 9000);
  EXPECT_EQ(o.root_path, "/llm");
  EXPECT_EQ(o.tls_key_file, "k.pem");
  EXPECT_EQ(o.tls_certificate_file, "c.pem");
  EXPECT_THAT(o.api_keys, ElementsAre("k1", "k2"));
  EXPECT_THAT(o.allowed_origins, ElementsAre("https://a.example"));
  EXPECT_TRUE(o.request_id_headers && o.tokens_as_token_ids && o.prompt_tokens_details);
  EXPECT_TRUE(o.force_include_usage);
  EXPECT_EQ(o.shutdown_timeout_s, 5);
  EXPECT_EQ(o.max_logprobs, 50);
  EXPECT_EQ(o.response_role, "bot");
  EXPECT_EQ(o.block_size, 32);
  EXPECT_EQ(o.kv_cache_bytes, int64_t{512} << 20);
  EXPECT_EQ(o.blocks_override, 64);
  EXPECT_EQ(o.kv_cache_dtype, DType::kF32);
  EXPECT_EQ(o.swap_space_gib, 0.5);
  EXPECT_FALSE(o.prefix_caching || o.access_log || o.log_stats);
  EXPECT_EQ(o.max_num_seqs, 8);
  EXPECT_EQ(o.max_num_batched_tokens, 1024);
  EXPECT_EQ(o.max_queued_requests, 9);
  EXPECT_EQ(o.queue_order, QueueOrder::kPriority);
  EXPECT_EQ(o.log_style, log::Style::kJson);
  EXPECT_EQ(o.log_level, log::Level::kDebug);
}

TEST(ServeFlags, TheContextLengthMayBeLeftToMemory) {
  EXPECT_EQ(options_of({}).max_model_len, 0);
  EXPECT_EQ(options_of({"--max-model-len", "auto"}).max_model_len, -1);
  EXPECT_EQ(options_of({"--max-model-len", "-1"}).max_model_len, -1);
  EXPECT_THAT(error_of({"--max-model-len", "0"}), HasSubstr("out of range"));
}

TEST(ServeFlags, HostDependsOnTheCaller) {
  EXPECT_EQ(options_of({}).host, "127.0.0.1");
  EXPECT_EQ(options_of({}, {.all_interfaces = true, .api_keys = {}}).host, "0.0.0.0");
  EXPECT_EQ(options_of({"--host", "10.0.0.1"}, {.all_interfaces = true, .api_keys = {}}).host, "10.0.0.1");
  ::unsetenv("PAGODA_IN_CONTAINER");
  EXPECT_FALSE(serve_defaults(false).all_interfaces);
  EXPECT_TRUE(serve_defaults(true).all_interfaces);
  ::setenv("PAGODA_IN_CONTAINER", "1", 1);
  EXPECT_TRUE(serve_defaults(false).all_interfaces);
  ::unsetenv("PAGODA_IN_CONTAINER");
}

TEST(ServeFlags, KeysOfTheEnvironmentYieldToFlags) {
  ::setenv("VLLM_API_KEY", "v", 1);
  ::setenv("PAGODA_API_KEY", "p", 1);
  const ServeDefaults defaults = serve_defaults(false);
  ::unsetenv("VLLM_API_KEY");
  ::unsetenv("PAGODA_API_KEY");
  EXPECT_THAT(options_of({}, defaults).api_keys, ElementsAre("v", "p"));
  EXPECT_THAT(options_of({"--api-key", "f"}, defaults).api_keys, ElementsAre("f"));
  EXPECT_THAT(error_of({"--api-key="}), HasSubstr("--api-key: an empty value"))
      << "an empty key would let anybody in";
}

TEST(ServeFlags, RefusesWhatIsNotThereInOneLine) {
  for (const auto& words : std::vector<std::vector<std::string>>{{"-tp", "2"},
                                                                 {"--pipeline_parallel_size=2"},
                                                                 {"--enable-lora"},
                                                                 {"--quantization", "awq"},
                                                                 {"--cpu-offload-gb", "4"},
                                                                 {"--tool-call-parser", "hermes"},
                                                                 {"--hf-overrides", "{}"},
                                                                 {"--model-repository=/models"}}) {
    const auto request = parse(words);
    ASSERT_FALSE(request) << words[0];
    EXPECT_EQ(request.error().code, ErrorCode::kUnsupported) << words[0];
    EXPECT_EQ(request.error().message.find('\n'), std::string::npos);
  }
  EXPECT_THAT(error_of({"-tp", "2"}),
              HasSubstr("--tensor-parallel-size 2: several devices are not in this version"));
  EXPECT_TRUE(
      parse({"--no-enable-lora", "-pp=1", "--task", "generate", "-q", "gguf", "--cpu-offload-gb", "0"}));
}

TEST(ServeFlags, WhatHasNoMeaningIsSaidOnce) {
  const auto request =
      parse({"m", "--enforce-eager", "--trust-remote-code", "--disable-log-requests", "-O3"});
  ASSERT_TRUE(request) << request.error().message;
  ASSERT_EQ(request->parsed.warnings.size(), 4u);
  EXPECT_THAT(request->parsed.warnings[0], HasSubstr("code that comes with a model is never run"));
}

TEST(ServeFlags, ChecksFlagsThatBelongTogether) {
  EXPECT_THAT(error_of({"--ssl-keyfile", "k"}), HasSubstr("--ssl-keyfile is given without --ssl-certfile"));
  EXPECT_THAT(error_of({"--root-path", "llm"}), HasSubstr("does not begin with /"));
  EXPECT_THAT(error_of({"a.gguf", "--model", "b.gguf"}),
              HasSubstr("two models given: 'a.gguf' and 'b.gguf'"));
  EXPECT_EQ(error_of({"a.gguf", "--model", "a.gguf"}), "no error");
  EXPECT_THAT(error_of({"--block-size", "24"}), HasSubstr("--block-size: 24 is no multiple of 16"));
  const auto request = parse({"--uds", "/s", "--port", "1"});
  ASSERT_TRUE(request);
  EXPECT_THAT(request->parsed.warnings, ElementsAre(HasSubstr("--uds")));
}

}  // namespace
}  // namespace pagoda::app
