// Request bodies of every endpoint that reads one: parse, validate, and write errors as JSON.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/openai/chat_request.h"
#include "api/openai/completion_request.h"
#include "api/openai/error_body.h"
#include "api/testing/byte_tokenizer.h"

namespace {

const pagoda::api::testing::ByteTokenizer kTokenizer;

// An error must be JSON whatever of the request it quotes.
void check_error(const pagoda::Error& error) {
  const std::string json = pagoda::api::error_json(error);
  if (!pagoda::api::Json::accept(json)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pagoda::api;
  const auto body = parse_json_object({reinterpret_cast<const char*>(data), size});
  if (!body) {
    check_error(body.error());
    return 0;
  }
  RequestLimits limits;
  limits.tokenizer = &kTokenizer;
  limits.model_name = "model";
  limits.max_model_len = 128;
  limits.priority_scheduling = true;
  limits.trust_request_chat_template = true;
  const MessageForm form{"model", size % 2 == 0, size % 3 == 0};
  const Json no_defaults = Json::object();
  auto chat = parse_chat_request(*body, limits, form, no_defaults);
  if (!chat) check_error(chat.error());
  auto completion = parse_completion_request(*body, limits);
  if (!completion) return check_error(completion.error()), 0;
  for (CompletionPrompt& prompt : completion->prompts) {
    std::vector<int32_t> ids;
    if (const auto* text = std::get_if<std::string>(&prompt))
      ids = kTokenizer.encode(*text, {});
    else
      ids = std::get<std::vector<int32_t>>(prompt);
    pagoda::engine::SamplingParams sampling = completion->generation.sampling;
    const auto fits = fit_to_context(completion->generation, limits, kDefaultCompletionTokens, ids, sampling);
    if (!fits)
      check_error(fits.error());
    else if (ids.size() + static_cast<size_t>(sampling.max_tokens) > 128)
      std::abort();
  }
  return 0;
}
