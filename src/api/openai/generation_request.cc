#include "api/openai/generation_request.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "api/openai/unsupported_fields.h"
#include "base/format.h"

namespace pagoda::api {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kMaxInt32 = std::numeric_limits<int32_t>::max();
constexpr IntegerRange kSeedRange{std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
// A temperature beyond this only ever is a mistake: the distribution is flat long before.
constexpr NumberRange kTemperatureRange{0, 100};
constexpr size_t kMaxStopStrings = 256;
constexpr size_t kMaxBadWords = 1024;

void read_sampling(FieldReader& fields, const RequestLimits& limits, engine::SamplingParams& out) {
  out = limits.default_sampling;
  out.temperature = fields.number_or("temperature", out.temperature, kTemperatureRange);
  out.top_p = fields.number_or("top_p", out.top_p, {0, 1, true});
  out.top_k = fields.integer_or("top_k", out.top_k, {-1, kMaxInt32});
  out.min_p = fields.number_or("min_p", out.min_p, {0, 1});
  out.repetition_penalty = fields.number_or("repetition_penalty", out.repetition_penalty, {0, 100, true});
  out.presence_penalty = fields.number_or("presence_penalty", out.presence_penalty, {-2, 2});
  out.frequency_penalty = fields.number_or("frequency_penalty", out.frequency_penalty, {-2, 2});
  out.min_tokens = fields.integer_or("min_tokens", 0, {0, limits.max_model_len});
  out.ignore_eos = fields.boolean_or("ignore_eos", false);
  if (const auto seed = fields.integer("seed", kSeedRange)) out.seed = static_cast<uint64_t>(*seed);
  // Has a meaning for beam search only, and that is refused by name.
  fields.number_or("length_penalty", 1.f, {-kInfinity, kInfinity});
}

void read_logit_bias(FieldReader& fields, int vocabulary, engine::SamplingParams& out) {
  const Json* map = fields.find("logit_bias");
  if (!map) return;
  if (!map->is_object()) {
    fields.fault("logit_bias", format("logit_bias must be an object of token ids and numbers, not {}",
                                      json_type_name(*map)));
    return;
  }
  for (const auto& [key, value] : map->items()) {
    int32_t token = -1;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), token);
    if (error != std::errc() || end != key.data() + key.size() || token < 0 || token >= vocabulary) {
      fields.fault("logit_bias",
                   format("logit_bias names the token id \"{}\", which is out of vocabulary (0 to {})",
                          key.substr(0, 40), vocabulary - 1));
      return;
    }
    const double bias = value.is_number() ? value.get<double>() : kInfinity;
    if (!(bias >= -100 && bias <= 100)) {
      fields.fault("logit_bias", format("logit_bias of token {} must be a number from -100 to 100", token));
      return;
    }
    out.logit_bias.emplace_back(token, static_cast<float>(bias));
  }
}

// A word is forbidden as it stands alone and as it stands after a space, where that gives other tokens of the
// same number (vLLM's rule).
void read_bad_words(FieldReader& fields, const text::Tokenizer& tokenizer, engine::SamplingParams& out) {
  const std::vector<std::string> words = fields.strings("bad_words", false);
  if (words.size() > kMaxBadWords) {
    fields.fault("bad_words",
                 format("bad_words must hold at most {} words, got {}", kMaxBadWords, words.size()));
    return;
  }
  for (const std::string& word : words) {
    const std::string bare = word.substr(std::min(word.find_first_not_of(' '), word.size()));
    if (bare.empty()) {
      fields.fault("bad_words", "bad_words must not hold an empty word");
      return;
    }
    const text::EncodeOptions plain{.add_special = false, .parse_special = false};
    std::vector<int32_t> alone = tokenizer.encode(bare, plain);
    std::vector<int32_t> spaced = tokenizer.encode(" " + bare, plain);
    if (alone.empty()) continue;
    const bool distinct = !spaced.empty() && spaced.size() == alone.size() && spaced[0] != alone[0];
    out.bad_words.push_back(std::move(alone));
    if (distinct) out.bad_words.push_back(std::move(spaced));
  }
}

void read_stop(FieldReader& fields, AnswerOptions& out) {
  out.stop = fields.strings("stop", true);
  if (out.stop.size() > kMaxStopStrings) {
    fields.fault("stop",
                 format("stop must hold at most {} strings, got {}", kMaxStopStrings, out.stop.size()));
  }
  for (const std::string& stop : out.stop) {
    if (stop.empty()) fields.fault("stop", "stop must not hold an empty string");
  }
}

void read_stream_options(FieldReader& fields, const RequestLimits& limits, AnswerOptions& out) {
  out.stream = fields.boolean_or("stream", false);
  bool include_usage = limits.force_include_usage;
  if (const Json* options = fields.find("stream_options")) {
    if (!options->is_object()) {
      fields.fault("stream_options",
                   format("stream_options must be an object, not {}", json_type_name(*options)));
      return;
    }
    if (!out.stream && !options->empty()) {
      fields.fault("stream_options", "stream_options can only be given when stream is true");
      return;
    }
    FieldReader inner(*options, "stream_options.");
    include_usage |= inner.boolean_or("include_usage", false);
    const bool continuous = inner.boolean_or("continuous_usage_stats", false);
    out.continuous_usage = continuous && include_usage;
    fields.keep(inner.status());
  }
  out.include_usage = out.stream && include_usage;
}

void read_answer_options(FieldReader& fields, const RequestLimits& limits, AnswerOptions& out) {
  out.n = fields.integer_or("n", 1, {1, limits.max_choices});
  if (const auto best_of = fields.integer("best_of", {1, kMaxInt32}); best_of && *best_of != out.n) {
    fields.fault("best_of", format("best_of ({}) is only supported when it equals n ({})", *best_of, out.n),
                 ErrorCode::kUnsupported);
  }
  read_stream_options(fields, limits, out);
  read_stop(fields, out);
  out.skip_special_tokens = fields.boolean_or("skip_special_tokens", true);
  out.include_stop_string = fields.boolean_or("include_stop_str_in_output", false);
  out.return_token_ids = fields.boolean_or("return_token_ids", false);
  out.tokens_as_ids = fields.boolean_or("return_tokens_as_token_ids", limits.return_tokens_as_token_ids);
  // Only Python's slow tokenizers know the difference.
  fields.boolean_or("spaces_between_special_tokens", true);
}

void read_scheduling(FieldReader& fields, const RequestLimits& limits, GenerationRequest& out) {
  out.priority = fields.integer_or("priority", 0, {std::numeric_limits<int32_t>::min(), kMaxInt32});
  if (out.priority != 0 && !limits.priority_scheduling) {
    fields.fault(
        "priority",
        format("priority must be 0, got {}: the server runs with --scheduling-policy fcfs", out.priority));
  }
  if (const auto salt = fields.string("cache_salt")) {
    if (salt->empty()) fields.fault("cache_salt", "cache_salt must be a non-empty string");
    out.cache_salt = *salt;
  }
  out.request_id = fields.string("request_id").value_or("");
  fields.string("user");
}

void read_truncation(FieldReader& fields, const RequestLimits& limits, GenerationRequest& out) {
  if (const auto limit = fields.integer("truncate_prompt_tokens", {-1, limits.max_model_len})) {
    if (*limit == 0) {
      fields.fault("truncate_prompt_tokens",
                   format("truncate_prompt_tokens must be -1 or an integer from 1 to {}, got 0",
                          limits.max_model_len));
    }
    out.truncate_prompt_tokens = static_cast<int>(*limit);
  }
  if (const auto side = fields.string("truncation_side")) {
    if (*side != "left" && *side != "right") {
      fields.fault("truncation_side", R"(truncation_side must be "left" or "right")");
    }
    out.truncation_side = *side == "right" ? TruncationSide::kRight : TruncationSide::kLeft;
  }
}

}  // namespace

GenerationRequest read_generation_fields(FieldReader& fields, const RequestLimits& limits) {
  GenerationRequest request;
  const int vocabulary = limits.tokenizer->size();
  request.model = fields.string("model").value_or("");
  refuse_unsupported_fields(fields);
  read_sampling(fields, limits, request.sampling);
  read_logit_bias(fields, vocabulary, request.sampling);
  read_bad_words(fields, *limits.tokenizer, request.sampling);
  std::vector<int32_t> stop_token_ids = fields.token_ids("stop_token_ids", vocabulary);
  request.sampling.stop_token_ids.insert(request.sampling.stop_token_ids.end(), stop_token_ids.begin(),
                                         stop_token_ids.end());
  request.sampling.allowed_token_ids = fields.token_ids("allowed_token_ids", vocabulary);
  if (fields.find("allowed_token_ids") && request.sampling.allowed_token_ids.empty()) {
    fields.fault("allowed_token_ids", "allowed_token_ids must not be empty");
  }
  read_answer_options(fields, limits, request.answer);
  read_scheduling(fields, limits, request);
  read_truncation(fields, limits, request);
  return request;
}

std::optional<int> read_logprob_count(FieldReader& fields, std::string_view name,
                                      const RequestLimits& limits) {
  const int vocabulary = limits.tokenizer->size();
  const int most = limits.max_logprobs < 0 ? vocabulary : std::min(limits.max_logprobs, vocabulary);
  // -1 asks for the whole vocabulary, which only a server without a limit gives.
  const int least = limits.max_logprobs < 0 ? -1 : 0;
  const auto count = fields.integer(name, {least, most});
  if (!count) return std::nullopt;
  return *count < 0 ? vocabulary : static_cast<int>(*count);
}

void read_prompt_logprobs(FieldReader& fields, const RequestLimits& limits, GenerationRequest& request) {
  const auto count = read_logprob_count(fields, "prompt_logprobs", limits);
  if (!count) return;
  if (request.answer.stream && *count > 0) {
    fields.fault("prompt_logprobs", "prompt_logprobs are not available when stream is true");
  }
  request.answer.prompt_logprobs = count;
  request.sampling.prompt_logprobs = count;
}

namespace {

void truncate(const GenerationRequest& request, int max_model_len, std::vector<int32_t>& prompt) {
  if (!request.truncate_prompt_tokens) return;
  const int answer = std::max(1, request.max_tokens.value_or(1));
  const int limit = *request.truncate_prompt_tokens > 0 ? *request.truncate_prompt_tokens
                                                        : std::max(1, max_model_len - answer);
  const auto keep = static_cast<ptrdiff_t>(limit);
  if (static_cast<ptrdiff_t>(prompt.size()) <= keep) return;
  if (request.truncation_side == TruncationSide::kLeft) {
    prompt.erase(prompt.begin(), prompt.end() - keep);
  } else {
    prompt.resize(static_cast<size_t>(keep));
  }
}

Unexpected too_long(const RequestLimits& limits, std::string tokens) {
  return fail(
      ErrorCode::kInvalidArgument,
      format("this model's maximum context length is {} tokens, but the prompt has {} tokens; shorten the "
             "prompt, or start the server with a larger --max-model-len",
             limits.max_model_len, tokens),
      "prompt");
}

}  // namespace

Status fit_to_context(const GenerationRequest& request, const RequestLimits& limits,
                      std::optional<int> default_max_tokens, std::vector<int32_t>& prompt,
                      engine::SamplingParams& sampling) {
  truncate(request, limits.max_model_len, prompt);
  const int prompt_size = static_cast<int>(prompt.size());
  const int room = limits.max_model_len - prompt_size;
  const bool prompt_only = request.max_tokens == 0;
  if (prompt_size == 0) return fail(ErrorCode::kInvalidArgument, "the prompt has no tokens", "prompt");
  if (room < (prompt_only ? 0 : 1)) return too_long(limits, format("{}", prompt_size));
  if (request.max_tokens && *request.max_tokens > room) {
    return fail(
        ErrorCode::kInvalidArgument,
        format("max_tokens is too large: this model's maximum context length is {} tokens, and the prompt "
               "has {} tokens, which leaves {}; got {}",
               limits.max_model_len, prompt_size, room, *request.max_tokens),
        "max_tokens");
  }
  sampling.max_tokens = request.max_tokens.value_or(std::min(default_max_tokens.value_or(room), room));
  if (limits.max_new_tokens) sampling.max_tokens = std::min(sampling.max_tokens, *limits.max_new_tokens);
  if (sampling.min_tokens > sampling.max_tokens) {
    return fail(ErrorCode::kInvalidArgument,
                format("min_tokens must be an integer from 0 to max_tokens ({}), got {}", sampling.max_tokens,
                       sampling.min_tokens),
                "min_tokens");
  }
  return {};
}

Status check_text_size(std::string_view text, size_t longest_piece, const RequestLimits& limits) {
  const size_t least_tokens = text.size() / std::max<size_t>(1, longest_piece);
  if (least_tokens <= static_cast<size_t>(limits.max_model_len)) return {};
  return too_long(limits, format("at least {}", least_tokens));
}

}  // namespace pagoda::api
