// Rows of flags about the model, the network and the answers.
#include <string>

#include "app/flag_values.h"
#include "app/serve_flag_rows.h"
#include "base/format.h"

namespace pagoda::app {
namespace {

using ClientCertificate = http::TlsFiles::ClientCertificate;

constexpr Takes kSwitch = Takes::kNothing;
constexpr Takes kValue = Takes::kValue;
constexpr Takes kValues = Takes::kValues;
constexpr Takes kJson = Takes::kJson;

// The model may come as a word and as --model; two different ones are a mistake that must not pass.
Setter to_model(std::string* field) {
  return [field](std::span<const std::string> values) -> Status {
    for (const std::string& value : values) {
      if (value != values.front()) {
        return fail(ErrorCode::kInvalidArgument,
                    format("two models given: '{}' and '{}'", values.front(), value));
      }
    }
    *field = values.front();
    return {};
  };
}

Setter to_compute_dtype(std::optional<DType>* field) {
  return to_choice<std::optional<DType>>(
      field,
      {{"auto", std::nullopt}, {"bfloat16", DType::kBF16}, {"float32", DType::kF32}, {"float", DType::kF32}});
}

// Whether the checkpoint agrees is seen when it is open.
Setter to_quantization(std::string* field) {
  return [field](std::span<const std::string> words) -> Status {
    *field = words[0] == "none" || words[0] == "None" ? "" : words[0];
    return {};
  };
}

Setter to_runner(Runner* field) {
  return to_choice<Runner>(field, {{"auto", Runner::kAuto},
                                   {"generate", Runner::kGenerate},
                                   {"pooling", Runner::kPooling},
                                   {"embed", Runner::kPooling},
                                   {"embedding", Runner::kPooling},
                                   {"score", Runner::kPooling}});
}

}  // namespace

FlagRows model_rows(ServeOptions& o) {
  return {
      works("model", kValue, "MODEL", to_model(&o.model),
            "a .gguf file, a folder, a cached model's name, or ORG/NAME of a hub; also as the first word"),
      works("runner", kValue, "KIND", to_runner(&o.runner),
            "generate: text; pooling: vectors and scores of an encoder (default: auto, what the model is)"),
      works("task", kValue, "TASK", to_runner(&o.runner),
            "auto, generate, embed, score: the older name of --runner"),
      works("revision", kValue, "REVISION", to_text(&o.revision),
            "of ORG/NAME: a branch, tag or commit (default: main)"),
      works("download-dir", kValue, "DIR", to_text(&o.download_folder),
            "where ORG/NAME is kept (default: HF_HUB_CACHE)"),
      works("hf-token", kValue, "TOKEN", to_text(&o.hub_token),
            "for private models of a hub (default: HF_TOKEN)"),
      works("served-model-name", kValues, "NAME", to_texts(&o.served_model_names),
            "names that requests use; the first one stands in answers (default: the path and its last part)"),
      works("dtype", kValue, "TYPE", to_compute_dtype(&o.dtype),
            "auto, bfloat16, float32: precision of the computation (default: auto, what the weights are made "
            "for)"),
      also({"q"}, works("quantization", kValue, "METHOD", to_quantization(&o.quantization),
                        "int8, int4, fp8: quantise 16-bit weights while they load; awq, gptq, "
                        "compressed-tensors, bitsandbytes, gguf: the checkpoint must be quantised so "
                        "(default: as the checkpoint is)")),
      works("max-model-len", kValue, "TOKENS", to_context_length(&o.max_model_len),
            "prompt and answer together: 8192, 8k, 8K; auto: as much as memory holds (default: the model's "
            "context)"),
      works("seed", kValue, "N", to_seed(&o.seed), "of requests that bring none (default: 0)"),
      works("chat-template", kValue, "FILE", to_text(&o.chat_template),
            "a Jinja template, as a file or as text (default: the model's own)"),
      works("default-chat-template-kwargs", kJson, "JSON", to_json_object(&o.chat_template_kwargs),
            "template variables of requests that do not set them"),
      works("threads", kValue, "N", to_integer(&o.threads, {0, 1024}),
            "compute threads (default: one per core)"),
      works(
          "config", kValue, "FILE.yaml", [](std::span<const std::string>) -> Status { return {}; },
          "flags as a YAML map; the command line wins"),
      not_yet("tokenizer", kValue,
              "the tokenizer inside the model file is the one that is used; leave the flag out"),
      not_yet("tokenizer-mode", kValue, "only the model file's own tokenizer is read; use auto",
              {"auto", "hf", "slow"}),
      not_yet("skip-tokenizer-init", kSwitch, "a server without a tokenizer is not in this version yet"),
      no_effect("trust-remote-code", kSwitch, "code that comes with a model is never run"),
      no_effect("code-revision", kValue, "code that comes with a model is never run"),
      not_yet("tokenizer-revision", kValue, "the tokenizer comes with the model; leave the flag out"),
      no_effect("ignore-patterns", kValues, "only what serving reads is fetched"),
      not_yet("load-format", kValue, "only GGUF files are read in this version; use auto or gguf",
              {"auto", "gguf"}),
      not_yet("config-format", kValue, "only GGUF files are read in this version; use auto", {"auto"}),
      not_yet("model-loader-extra-config", kJson, "the loader has no such settings"),
      not_yet("hf-overrides", kJson, "overriding the model's own facts is not in this version yet"),
      not_yet("rope-scaling", kJson, "overriding the model's own facts is not in this version yet"),
      not_yet("rope-theta", kValue, "overriding the model's own facts is not in this version yet"),
      not_yet("disable-sliding-window", kSwitch,
              "overriding the model's own facts is not in this version yet"),
      works("generation-config", kValue, "SOURCE", to_text(&o.generation_config),
            "sampling of requests that are silent about it: auto (the model's generation_config.json), vllm "
            "(none), "
            "or a folder that has one (default: auto)"),
      works("override-generation-config", kJson, "JSON", to_json_object(&o.generation_overrides),
            "the same, by hand, e.g. {\"temperature\": 0.5, \"max_new_tokens\": 512}"),
      not_yet("convert", kValue, "only text generation is in this version; use auto or none",
              {"auto", "none"}),
      not_yet("model-impl", kValue, "there is one implementation; use auto", {"auto", "vllm"}),
      not_yet("device", kValue, "this version computes on the CPU; use auto or cpu", {"auto", "cpu"}),
      not_yet("enable-sleep-mode", kSwitch, "sleep mode is not in this version yet"),
      no_effect("enforce-eager", kSwitch,
                "there are no CUDA graphs on a CPU; every step is computed as it comes"),
      no_effect("max-seq-len-to-capture", kValue, "there are no CUDA graphs on a CPU"),
      no_effect("max-context-len-to-capture", kValue, "there are no CUDA graphs on a CPU"),
      no_effect("limit-mm-per-prompt", kJson, "only text is served; requests with images are refused"),
      no_effect("allowed-local-media-path", kValue, "only text is served; no media is read"),
  };
}

FlagRows network_rows(ServeOptions& o) {
  return {
      works("host", kValue, "ADDRESS", to_text(&o.host),
            "address to listen on (default: 127.0.0.1; 0.0.0.0 when called as vllm or in a container image)"),
      works("port", kValue, "PORT", to_integer(&o.port, {0, 65535}),
            "port to listen on; 0: any free one (default: 8000)"),
      works("uds", kValue, "PATH", to_text(&o.unix_socket),
            "listen on a Unix socket instead of host and port"),
      works("api-key", kValues, "KEY", to_texts(&o.api_keys),
            "keys of which a request must bring one (default: $VLLM_API_KEY, $PAGODA_API_KEY, else none "
            "wanted)"),
      works("ssl-keyfile", kValue, "FILE", to_text(&o.tls_key_file), "the TLS key; serves HTTPS"),
      works("ssl-certfile", kValue, "FILE", to_text(&o.tls_certificate_file), "the TLS certificate"),
      works("ssl-ca-certs", kValue, "FILE", to_text(&o.tls_client_ca_file),
            "certificates of those who may sign clients' certificates"),
      works("ssl-cert-reqs", kValue, "0|1|2",
            to_choice<ClientCertificate>(&o.client_certificate, {{"0", ClientCertificate::kNone},
                                                                 {"1", ClientCertificate::kOptional},
                                                                 {"2", ClientCertificate::kRequired}}),
            "clients' certificates: not asked for, checked where one comes, required (default: 0)"),
      works("allowed-origins", kValues, "ORIGIN", to_texts(&o.allowed_origins),
            "web pages' origins that may call, as words or one JSON list (default: *)"),
      works("root-path", kValue, "PREFIX", to_text(&o.root_path),
            "prefix that a proxy in front leaves on paths"),
      works("enable-request-id-headers", kSwitch, "", to_switch(&o.request_id_headers),
            "X-Request-Id on every response"),
      works("shutdown-timeout", kValue, "SECONDS", to_integer(&o.shutdown_timeout_s, {0, 86400}),
            "how long running requests may go on after SIGTERM (default: 30)"),
      not_yet("ssl-ciphers", kValue, "a choice of ciphers is not in this version yet"),
      not_yet("enable-ssl-refresh", kSwitch, "certificates are read once, at start; restart to change them"),
      not_yet("allow-credentials", kSwitch,
              "cross-origin requests with credentials are not in this version yet"),
      not_yet("allowed-methods", kValues, "a choice of cross-origin methods is not in this version yet",
              {"*", "[\"*\"]"}),
      not_yet("allowed-headers", kValues, "a choice of cross-origin headers is not in this version yet",
              {"*", "[\"*\"]"}),
      not_yet("middleware", kValues, "Python middleware cannot be loaded"),
      not_yet("headless", kSwitch, "serving over several nodes is not in this version yet"),
      no_effect("api-server-count", kValue, "one process serves all connections"),
      no_effect("disable-frontend-multiprocessing", kSwitch, "one process serves all connections"),
      no_effect("disable-fastapi-docs", kSwitch, "there are no such pages to turn off"),
      no_effect("h11-max-incomplete-event-size", kValue, "the HTTP server has its own bounds"),
      no_effect("h11-max-header-count", kValue, "the HTTP server has its own bounds"),
  };
}

FlagRows answer_rows(ServeOptions& o) {
  return {
      works("max-logprobs", kValue, "N", to_integer(&o.max_logprobs, {-1, 1 << 20}),
            "most log probabilities that a request may ask for; -1: the whole vocabulary (default: 20)"),
      works("response-role", kValue, "ROLE", to_text(&o.response_role),
            "role of answers (default: assistant)"),
      works("return-tokens-as-token-ids", kSwitch, "", to_switch(&o.tokens_as_token_ids),
            "tokens in logprobs as token_id:N"),
      works("enable-prompt-tokens-details", kSwitch, "", to_switch(&o.prompt_tokens_details),
            "usage tells how many prompt tokens were cached"),
      works("enable-force-include-usage", kSwitch, "", to_switch(&o.force_include_usage),
            "usage in every stream"),
      no_effect("enable-server-load-tracking", kSwitch, "/load always counts"),
      not_yet("chat-template-content-format", kValue, "only auto is in this version", {"auto"}),
      not_yet("trust-request-chat-template", kSwitch,
              "templates that come with a request are not in this version yet"),
      not_yet("enable-tokenizer-info-endpoint", kSwitch, "/tokenizer_info is not in this version yet"),
      not_yet("enable-auto-tool-choice", kSwitch, "tool calls are not in this version yet"),
      not_yet("exclude-tools-when-tool-choice-none", kSwitch, "tool calls are not in this version yet"),
      not_yet("tool-call-parser", kValue, "tool calls are not in this version yet"),
      not_yet("tool-parser-plugin", kValue, "Python plugins cannot be loaded"),
      not_yet("tool-server", kValue, "tool servers are not in this version yet"),
      not_yet("reasoning-parser", kValue, "reasoning parsers are not in this version yet"),
      not_yet("enable-per-request-metrics", kSwitch, "timing in answers is not in this version yet"),
      not_yet("logprobs-mode", kValue, "only raw_logprobs is in this version", {"raw_logprobs"}),
      not_yet("logits-processors", kValues, "Python logits processors cannot be loaded"),
      not_yet("logits-processor-pattern", kValue, "Python logits processors cannot be loaded"),
      not_yet("structured-outputs-config", kJson, "structured outputs are not in this version yet",
              {"{\"backend\":\"auto\"}"}),
      not_yet("guided-decoding-backend", kValue, "structured outputs are not in this version yet", {"auto"}),
  };
}

}  // namespace pagoda::app
