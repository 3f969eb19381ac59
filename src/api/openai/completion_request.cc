#include "api/openai/completion_request.h"

#include <algorithm>
#include <limits>

#include "base/format.h"

namespace pagoda::api {
namespace {

Unexpected prompt_fault(std::string message) {
  return fail(ErrorCode::kInvalidArgument, std::move(message), "prompt");
}

Result<std::vector<int32_t>> read_ids(const Json& array, int vocabulary) {
  std::vector<int32_t> ids;
  ids.reserve(array.size());
  for (const Json& entry : array) {
    PAGODA_ASSIGN(const int32_t id, token_id_of(entry, vocabulary, "prompt"));
    ids.push_back(id);
  }
  if (ids.empty()) return prompt_fault("prompt must not hold an empty array of token ids");
  return ids;
}

Result<CompletionPrompt> read_prompt_entry(const Json& entry, int vocabulary) {
  if (entry.is_string()) {
    std::string text = entry.get<std::string>();
    if (text.empty()) return prompt_fault("prompt must not be empty");
    return CompletionPrompt(std::move(text));
  }
  if (entry.is_array()) {
    PAGODA_ASSIGN(std::vector<int32_t> ids, read_ids(entry, vocabulary));
    return CompletionPrompt(std::move(ids));
  }
  return prompt_fault(
      format("prompt must be a string, an array of strings, an array of token ids or an array of "
             "those, but it holds {}",
             json_type_name(entry)));
}

Result<std::vector<CompletionPrompt>> read_prompts(const Json& body, const RequestLimits& limits) {
  const auto prompt = body.find("prompt");
  const int vocabulary = limits.tokenizer->size();
  if (prompt == body.end() || prompt->is_null()) return prompt_fault("prompt is required");
  std::vector<CompletionPrompt> prompts;
  const bool one = !prompt->is_array() || (!prompt->empty() && prompt->front().is_number());
  if (one) {
    PAGODA_ASSIGN(CompletionPrompt entry, read_prompt_entry(*prompt, vocabulary));
    prompts.push_back(std::move(entry));
    return prompts;
  }
  if (prompt->empty()) return prompt_fault("prompt must not be an empty array");
  if (prompt->size() > static_cast<size_t>(limits.max_prompts)) {
    return prompt_fault(
        format("prompt must hold at most {} prompts, got {}", limits.max_prompts, prompt->size()));
  }
  for (const Json& entry : *prompt) {
    PAGODA_ASSIGN(CompletionPrompt read, read_prompt_entry(entry, vocabulary));
    prompts.push_back(std::move(read));
  }
  return prompts;
}

}  // namespace

Result<CompletionRequest> parse_completion_request(const Json& body, const RequestLimits& limits) {
  FieldReader fields(body);
  CompletionRequest request;
  GenerationRequest& generation = request.generation;
  generation = read_generation_fields(fields, limits);
  if (const auto most = fields.integer("max_tokens", {0, std::numeric_limits<int32_t>::max()})) {
    generation.max_tokens = static_cast<int>(*most);
  }
  generation.answer.logprobs = generation.sampling.logprobs = read_logprob_count(fields, "logprobs", limits);
  read_prompt_logprobs(fields, limits, generation);
  request.echo = fields.boolean_or("echo", false);
  request.add_special_tokens = fields.boolean_or("add_special_tokens", true);
  if (!fields.string("suffix").value_or("").empty()) {
    fields.fault("suffix", "suffix is not supported: the model continues a text, it does not fill one in",
                 ErrorCode::kUnsupported);
  }
  // The echoed prompt shows its logprobs like the answer does.
  if (request.echo && generation.answer.logprobs) {
    generation.sampling.prompt_logprobs =
        std::max(*generation.answer.logprobs, generation.sampling.prompt_logprobs.value_or(0));
  }
  PAGODA_TRY(fields.status());
  PAGODA_ASSIGN(request.prompts, read_prompts(body, limits));
  return request;
}

}  // namespace pagoda::api
