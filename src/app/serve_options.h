// What `pagoda serve` was asked for: its flags as values, each checked on its own. Whether they fit the model
// and the machine is decided while serving starts.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/speculation_options.h"
#include "base/log.h"
#include "http/server.h"
#include "tensor/dtype.h"

namespace pagoda::app {

enum class QueueOrder { kFirstComeFirstServed, kPriority };

struct ServeOptions {
  // Model.
  std::string model;                            // as given: a path, or a name in the model cache
  std::vector<std::string> served_model_names;  // empty: the model's path and name
  std::optional<DType> dtype;  // of computing: kBF16, kF32; absent: what the file is made for
  int64_t max_model_len = 0;   // tokens; 0: the model's context; -1: as much of it as memory holds
  uint64_t seed = 0;           // of requests that bring none
  std::string chat_template;   // a file, or the template itself; empty: the model's own
  nlohmann::ordered_json chat_template_kwargs =
      nlohmann::ordered_json::object();  // defaults of every request
  int threads = 0;                       // of the compute pool; 0: one per usable core

  // Network.
  std::string host = "127.0.0.1";
  int port = 8000;                                 // 0: any free one
  std::string unix_socket;                         // a path; host and port then do not count
  std::string root_path;                           // prefix that a proxy leaves in front of paths: "/llm"
  std::string tls_key_file, tls_certificate_file;  // both or neither
  std::string tls_client_ca_file;                  // who may sign clients' certificates
  http::TlsFiles::ClientCertificate client_certificate = http::TlsFiles::ClientCertificate::kNone;
  std::vector<std::string> api_keys;  // empty: no key wanted
  std::vector<std::string> allowed_origins = {"*"};
  bool request_id_headers = false;  // X-Request-Id in every response
  int shutdown_timeout_s = 30;      // of draining after SIGTERM

  // Answers.
  int max_logprobs = 20;  // upper bound of a request's (top_)logprobs; -1: the vocabulary
  std::string response_role = "assistant";
  bool tokens_as_token_ids = false;    // "token_id:17" in place of text in logprobs
  bool prompt_tokens_details = false;  // usage.prompt_tokens_details.cached_tokens
  bool force_include_usage = false;    // stream usage although stream_options does not ask for it

  // KV cache.
  int block_size = 16;                  // tokens, a multiple of 16
  double memory_utilization = 0.9;      // share of the device's available memory, (0, 1]
  int64_t kv_cache_bytes = 0;           // overrides memory_utilization; 0: derived
  int64_t blocks_override = 0;          // overrides both; 0: derived
  std::optional<DType> kv_cache_dtype;  // kBF16, kF32, kI8; absent: follows dtype
  double swap_space_gib = 0;
  bool prefix_caching = true;

  // Scheduling.
  int max_num_seqs = 256;
  int64_t max_num_batched_tokens = 512;  // of one step: how long running answers wait for new prompts
  int max_queued_requests = 0;           // 0: 16 × max_num_seqs
  QueueOrder queue_order = QueueOrder::kFirstComeFirstServed;
  SpeculationOptions speculation;

  // Log.
  log::Level log_level = log::Level::kInfo;
  log::Style log_style = log::Style::kText;
  bool access_log = true;  // a line per request
  bool log_stats = true;   // a line of throughput now and then while there is work
};

}  // namespace pagoda::app
