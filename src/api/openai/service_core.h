// What the endpoints share. Lives as long as anything that may still answer.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "api/metrics/http_metrics.h"
#include "api/openai/answer.h"
#include "api/openai/chat_messages.h"
#include "api/openai/chat_request.h"
#include "api/openai/service.h"
#include "api/openai/worker_pool.h"

namespace pagoda::api {

enum class ServiceState { kLoading, kReady, kDraining };

class ServiceCore : public std::enable_shared_from_this<ServiceCore> {
 public:
  ServiceCore(ServiceOptions options, Json default_template_kwargs);

  // By app/, once.
  void ready(Backend backend);
  void begin_drain();
  void stop();  // joins the workers

  // Why the model cannot answer now; nothing when it can.
  Status availability() const;
  // The model that a request names is the one that serves.
  Status check_model(std::string_view name) const;

  // Runs `work` on an intake thread and answers its error. `Content-Type: application/json` and availability
  // are checked before.
  using Work = void (*)(ServiceCore&, const std::shared_ptr<http::Exchange>&);
  void take_in(Work work, const std::shared_ptr<http::Exchange>& exchange);

  // kInvalidArgument where the served model does not generate: "The model does not support Completions API".
  Status needs_generation(std::string_view api) const;
  // Runs it on an answer thread. False, and it is dropped, once the service has stopped.
  bool post_answer(std::function<void()> task) { return answers_->post(std::move(task)); }

  const ServiceOptions& options() const { return options_; }
  const Backend& backend() const { return backend_; }
  // nullptr while loading.
  const Backend* loaded_backend() const { return state_ == ServiceState::kLoading ? nullptr : &backend_; }
  const RequestLimits& limits() const { return limits_; }
  const MessageForm& message_form() const { return form_; }
  const Json& default_template_kwargs() const { return default_template_kwargs_; }
  size_t longest_piece() const { return longest_piece_; }
  const std::string& model_name() const { return options_.names.served.front(); }
  int64_t created() const { return created_; }  // Unix seconds of the start
  int in_flight() const { return in_flight_->load(); }
  metrics::HttpMetrics& http_metrics() { return http_metrics_; }

  AnswerSurroundings surroundings() const;

 private:
  ServiceOptions options_;
  Json default_template_kwargs_;
  std::atomic<ServiceState> state_{ServiceState::kLoading};
  // Written by ready() before state_, read after it.
  Backend backend_;
  RequestLimits limits_;
  MessageForm form_;
  size_t longest_piece_ = 1;
  int64_t created_ = 0;
  metrics::HttpMetrics http_metrics_;
  std::shared_ptr<std::atomic<int>> in_flight_ = std::make_shared<std::atomic<int>>(0);
  std::atomic<int64_t> waiting_body_bytes_{0};
  std::shared_ptr<WorkerPool> intake_;
  std::shared_ptr<WorkerPool> answers_;
};

}  // namespace pagoda::api
