// One request to an encoder on its way: its texts in the engine, their vectors coming back, its answer going
// out.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/openai/service_core.h"
#include "http/message.h"

namespace pagoda::api {

struct PoolingInput {
  std::vector<int32_t> tokens, types;
};

// Submits the texts; `write` makes the body of the answer from their vectors, on a worker, or says why there
// is none.
using WritePooled = std::function<Result<std::string>(std::vector<std::vector<float>> vectors)>;
void answer_pooled(ServiceCore& core, const std::shared_ptr<http::Exchange>& exchange,
                   std::vector<PoolingInput> inputs, WritePooled write);

// kInvalidArgument where the served model does not do that: "The model does not support Embeddings API".
Status needs_vectors(const ServiceCore& core, std::string_view api);

// Texts as tokens, in the frame that the model wants. `truncate`: the most tokens that are kept, −1: what the
// model takes; without it a text that is too long is an error that states both sizes.
Result<PoolingInput> tokenize_text(const ServiceCore& core, std::string_view text, bool add_special,
                                   std::optional<int64_t> truncate);
Result<PoolingInput> tokenize_pair(const ServiceCore& core, std::string_view first, std::string_view second,
                                   std::optional<int64_t> truncate);
Status check_length(const ServiceCore& core, size_t tokens);

void normalise_length(std::vector<float>& vector);

// "embd-…", and Unix seconds.
std::string pooled_id(std::string_view prefix, const http::Request& request);
int64_t now_seconds();

}  // namespace pagoda::api
