// One function per endpoint, run on an intake thread unless it says otherwise. Each stands in a file of its
// name.
#pragma once

#include <memory>

#include "http/message.h"

namespace pagoda::api {

class ServiceCore;

void chat_endpoint(ServiceCore& core, const std::shared_ptr<http::Exchange>& exchange);
void completion_endpoint(ServiceCore& core, const std::shared_ptr<http::Exchange>& exchange);
void embedding_endpoint(ServiceCore& core, const std::shared_ptr<http::Exchange>& exchange);
void score_endpoint(ServiceCore& core, const std::shared_ptr<http::Exchange>& exchange);
void rerank_endpoint(ServiceCore& core, const std::shared_ptr<http::Exchange>& exchange);
void tokenize_endpoint(ServiceCore& core, const std::shared_ptr<http::Exchange>& exchange);
void detokenize_endpoint(ServiceCore& core, const std::shared_ptr<http::Exchange>& exchange);

// On the I/O thread: nothing here waits or is long.
void models_endpoint(ServiceCore& core, const std::shared_ptr<http::Exchange>& exchange);
void model_endpoint(ServiceCore& core, const std::shared_ptr<http::Exchange>& exchange);
void health_endpoint(ServiceCore& core, const std::shared_ptr<http::Exchange>& exchange);
void version_endpoint(ServiceCore& core, const std::shared_ptr<http::Exchange>& exchange);
void load_endpoint(ServiceCore& core, const std::shared_ptr<http::Exchange>& exchange);
void metrics_endpoint(ServiceCore& core, const std::shared_ptr<http::Exchange>& exchange);

}  // namespace pagoda::api
