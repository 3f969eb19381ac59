#include "app/llm_server.h"

#include <sched.h>

#include <condition_variable>
#include <fstream>
#include <mutex>
#include <sstream>
#include <thread>

#include "app/hugging_face_cache.h"
#include "app/machine.h"
#include "app/version.h"
#include "base/format.h"
#include "engine/batch_runner.h"
#include "kernels/cpu/cpu_compute.h"
#include "model/footprint.h"
#include "tensor/device.h"

namespace pagoda::app {
namespace {

api::AccessLog access_log_of(const ServeOptions& options) {
  if (!options.access_log) return api::AccessLog::kOff;
  return options.log_style == log::Style::kJson ? api::AccessLog::kJson : api::AccessLog::kText;
}

// A model out of a hub's cache keeps its hub's name; its folder there is called by a revision.
std::string served_name(const ServeOptions& options, const std::filesystem::path& path) {
  const bool from_hub = is_hub_name(options.model) && !std::filesystem::exists(options.model);
  return from_hub ? options.model : api::model_name_of_path(path.string());
}

api::ServiceOptions service_options(const ServeOptions& options, const std::filesystem::path& path) {
  api::ServiceOptions service;
  service.names.path = options.model;
  service.names.served = options.served_model_names;
  if (service.names.served.empty()) service.names.served = {served_name(options, path)};
  service.version = version();
  service.middleware.api_keys = options.api_keys;
  service.middleware.allowed_origins = options.allowed_origins;
  service.middleware.request_id_headers = options.request_id_headers;
  service.middleware.access_log = access_log_of(options);
  service.response_role = options.response_role;
  if (!options.chat_template_kwargs.empty())
    service.default_chat_template_kwargs = options.chat_template_kwargs.dump();
  service.return_tokens_as_token_ids = options.tokens_as_token_ids;
  service.prompt_tokens_details = options.prompt_tokens_details;
  service.force_include_usage = options.force_include_usage;
  service.priority_scheduling = options.queue_order == QueueOrder::kPriority;
  service.max_logprobs = options.max_logprobs;
  return service;
}

http::ServerOptions http_options(const ServeOptions& options) {
  http::ServerOptions http;
  http.host = options.host;
  http.port = options.port;
  http.unix_socket = options.unix_socket;
  http.tls = {options.tls_key_file, options.tls_certificate_file, options.tls_client_ca_file,
              options.client_certificate};
  http.root_path = options.root_path;
  return http;
}

model::Precision precision_of(const ServeOptions& options) {
  if (!options.dtype) return model::Precision::kAuto;
  return *options.dtype == DType::kF32   ? model::Precision::kFloat32
         : *options.dtype == DType::kF16 ? model::Precision::kFloat16
                                         : model::Precision::kBFloat16;
}

// --chat-template is a file's path or, as with vLLM, the template itself.
std::string template_text(const std::string& flag) {
  std::ifstream file(flag);
  if (!file) return flag;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string piece_of(const text::Tokenizer& tokenizer, int32_t token) {
  return token < 0 ? std::string() : std::string(tokenizer.piece(token));
}

}  // namespace

LlmServer::LlmServer(const ServeOptions& options, const std::filesystem::path& path)
    : options_(options), path_(path) {}

LlmServer::~LlmServer() = default;

Result<std::unique_ptr<LlmServer>> LlmServer::start(const ServeOptions& options,
                                                    const std::filesystem::path& model) {
  std::unique_ptr<LlmServer> server(new LlmServer(options, model));
  PAGODA_TRY(server->listen());
  PAGODA_TRY(server->load_weights());
  PAGODA_TRY(server->load_text());
  PAGODA_TRY(server->start_engine());
  PAGODA_TRY(server->produce_first_token());
  server->open_service();
  return server;
}

Status LlmServer::listen() {
  PAGODA_ASSIGN(service_, api::Service::create(service_options(options_, path_)));
  http::Router router;
  service_->add_routes(router);
  PAGODA_ASSIGN(http_, http::Server::start(http_options(options_), std::move(router), service_->hooks()));
  return {};
}

Status LlmServer::load_weights() {
  PAGODA_ASSIGN(const kernels::IsaTable* isa, kernels::choose_isa());
  pool_ = std::make_unique<ThreadPool>(options_.threads > 0 ? options_.threads : inspect_machine().cores);
  compute_ = std::make_unique<kernels::CpuCompute>(*isa, *pool_);
  log_.machine(pool_->size(), compute_->isa());
  const int64_t available = cpu_device().capacity_bytes;
  PAGODA_ASSIGN(source_, model::open_weights(path_.string()));
  PAGODA_ASSIGN(const model::ModelConfig config, model::read_config(source_->metadata()));
  log_.source(*source_, config);
  PAGODA_ASSIGN(model_, model::load_model(*source_, {precision_of(options_)}, *compute_));
  source_->release_pages();
  log_.weights(*model_);
  ServingFacts facts;
  facts.memory_available = available;
  facts.weight_bytes = model_->weight_bytes();
  facts.float32 = model_->precision() == model::Precision::kFloat32;
  PAGODA_TRY(load_draft(config, facts));
  PAGODA_ASSIGN(plan_, plan_serving(options_, config, facts));
  log_.kv(plan_, options_);
  return {};
}

// At most a quarter of the memory that is left goes to its KV.
Status LlmServer::load_draft(const model::ModelConfig& config, ServingFacts& facts) {
  if (options_.speculation.method != SpeculationOptions::Method::kModel) return {};
  const int length = options_.max_model_len > 0 ? static_cast<int>(options_.max_model_len) : config.context;
  const double usable = static_cast<double>(facts.memory_available) * options_.memory_utilization;
  const int64_t left = options_.kv_cache_bytes > 0 ? options_.kv_cache_bytes
                                                   : static_cast<int64_t>(usable) - facts.weight_bytes;
  PAGODA_ASSIGN(draft_, load_draft_model(options_, *source_, length, left / 4, *compute_));
  facts.other_bytes = draft_.bytes;
  log_.draft(*draft_.source, draft_.bytes);
  return {};
}

Status LlmServer::load_text() {
  PAGODA_ASSIGN(tokenizer_, text::load_tokenizer(source_->metadata()));
  chat_template_source_ = options_.chat_template.empty()
                              ? std::string(source_->metadata().text("tokenizer.chat_template").value_or(""))
                              : template_text(options_.chat_template);
  if (!chat_template_source_.empty()) {
    PAGODA_ASSIGN(chat_template_,
                  text::parse_chat_template(chat_template_source_, piece_of(*tokenizer_, tokenizer_->bos()),
                                            piece_of(*tokenizer_, tokenizer_->eos())));
  }
  const auto kind = source_->metadata().text("tokenizer.ggml.pre");
  log_.text(kind.value_or(source_->metadata().text("tokenizer.ggml.model").value_or("")), tokenizer_->size(),
            chat_template_ != nullptr);
  return {};
}

Status LlmServer::start_engine() {
  engine::EngineConfig config;
  config.max_model_len = plan_.max_model_len;
  config.max_num_seqs = options_.max_num_seqs;
  config.max_num_batched_tokens = static_cast<int>(options_.max_num_batched_tokens);
  config.max_queued_requests = options_.max_queued_requests;
  config.policy = options_.queue_order == QueueOrder::kPriority ? engine::SchedulingPolicy::kPriority
                                                                : engine::SchedulingPolicy::kFcfs;
  config.prefix_caching = options_.prefix_caching;
  config.end_tokens = tokenizer_->end_tokens();
  config.seed = options_.seed;
  config.draft_tokens = options_.speculation.tokens.value_or(kUsualGuesses);
  config.draft_most_running = options_.speculation.most_running.value_or(kMostGuessedFor);
  const int vocabulary = model_->config().vocabulary;
  const engine::KvSizes sizes{plan_.kv_dtype, options_.block_size, plan_.memory.blocks, plan_.swap_blocks};
  engine_ = engine::Engine::start(std::move(config),
                                  std::make_unique<engine::BatchRunner>(std::move(model_), sizes),
                                  make_drafter(options_, draft_, vocabulary));
  return {};
}

// Ready means that a token came out, not that files were read.
Status LlmServer::produce_first_token() {
  std::mutex mutex;
  std::condition_variable done;
  std::optional<engine::Finish> finish;
  engine::Request request;
  request.label = "start-up";
  request.prompt = {std::max(tokenizer_->bos(), 0)};
  request.sampling.temperature = 0;
  request.sampling.max_tokens = 1;
  request.sampling.ignore_eos = true;
  request.sink = [&](engine::Update&& update) {
    std::lock_guard lock(mutex);
    if (update.finish) finish = std::move(update.finish);
    done.notify_one();
  };
  PAGODA_TRY(engine_->submit(std::move(request)));
  std::unique_lock lock(mutex);
  done.wait(lock, [&] { return finish.has_value(); });
  if (finish->reason == engine::FinishReason::kError) return Unexpected(finish->error);
  return {};
}

void LlmServer::open_service() {
  api::Backend backend;
  backend.engine = engine_.get();
  backend.tokenizer = tokenizer_.get();
  backend.chat_template = chat_template_.get();
  backend.chat_template_source = chat_template_source_;
  backend.max_model_len = plan_.max_model_len;
  backend.cache_config.block_size = options_.block_size;
  backend.cache_config.num_gpu_blocks = plan_.memory.blocks[0];
  backend.cache_config.num_cpu_blocks = plan_.swap_blocks[0];
  backend.cache_config.gpu_memory_utilization = options_.memory_utilization;
  backend.cache_config.swap_space_bytes = plan_.swap_bytes;
  backend.cache_config.cache_dtype = info_of(plan_.kv_dtype).name;
  backend.cache_config.enable_prefix_caching = options_.prefix_caching;
  service_->ready(std::move(backend));
  const auto names = service_options(options_, path_).names.served;
  log_.serving(options_, http_->port(), names.front());
}

void LlmServer::begin_drain() {
  service_->begin_drain();
  engine_->begin_drain();
}

}  // namespace pagoda::app
