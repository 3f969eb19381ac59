// One served model: HTTP in front from the first moment (503 while loading), then weights, KV, engine and
// API, in the order in which they depend on each other.
#pragma once

#include <filesystem>
#include <memory>

#include "api/openai/service.h"
#include "app/draft_model.h"
#include "app/serve_options.h"
#include "app/serving_plan.h"
#include "app/startup_log.h"
#include "base/result.h"
#include "base/thread_pool.h"
#include "engine/engine.h"
#include "http/server.h"
#include "kernels/compute.h"
#include "model/model.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace pagoda::app {

class LlmServer {
 public:
  // Serves when it returns: a first token has been produced.
  static Result<std::unique_ptr<LlmServer>> start(const ServeOptions& options,
                                                  const std::filesystem::path& model);
  ~LlmServer();

  int port() const { return http_->port(); }
  bool alive() const { return engine_->alive(); }
  engine::EngineStats stats() const { return engine_->stats(); }
  // New requests are refused; running ones go on.
  void begin_drain();
  bool idle() const { return engine_->idle() && http_->open_exchanges() == 0; }

 private:
  LlmServer(const ServeOptions& options, const std::filesystem::path& path);
  Status listen();
  Status load_text();
  Status load_weights();
  Status load_draft(const model::ModelConfig& config, ServingFacts& facts);
  Status start_engine();
  Status produce_first_token();
  void open_service();

  const ServeOptions options_;
  const std::filesystem::path path_;
  StartupLog log_;

  // Destroyed from the bottom up: HTTP first, then the API, then the engine and what it computes with.
  std::unique_ptr<model::WeightSource> source_;
  std::unique_ptr<ThreadPool> pool_;
  std::unique_ptr<kernels::Compute> compute_;
  DraftModel draft_;
  std::unique_ptr<text::Tokenizer> tokenizer_;
  std::unique_ptr<text::ChatTemplate> chat_template_;
  std::string chat_template_source_;
  std::unique_ptr<model::Model> model_;  // until the engine's runner takes it
  ServingPlan plan_;
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<api::Service> service_;
  std::unique_ptr<http::Server> http_;
};

}  // namespace pagoda::app
