// POST /v1/score and /v1/rerank: how well texts belong together. A classifier reads each pair; of a model
// that gives vectors it is their cosine.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <numeric>

#include "api/openai/endpoints.h"
#include "api/openai/error_body.h"
#include "api/openai/field_reader.h"
#include "api/openai/json_text.h"
#include "api/openai/pooling_answer.h"
#include "base/format.h"
#include "engine/pooling_engine.h"

namespace pagoda::api {
namespace {

using Vectors = std::vector<std::vector<float>>;

struct Comparison {
  std::vector<std::string> first, second;  // one first text for all second ones, or as many
  std::optional<int64_t> truncate;

  const std::string& first_of(size_t pair) const { return first.size() == 1 ? first[0] : first[pair]; }
};

struct PairInputs {
  std::vector<PoolingInput> inputs;
  int64_t tokens = 0;
};

void append_float(std::string& out, float value) {
  char digits[32];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

// A text, {"text": …}, or a list of those.
Result<std::vector<std::string>> texts_of(const ServiceCore& core, const Json& value,
                                          const std::string& name) {
  std::vector<std::string> texts;
  const auto take = [&](const Json& entry) -> Status {
    if (entry.is_string()) {
      texts.push_back(entry.get<std::string>());
    } else if (entry.is_object() && entry.contains("text") && entry["text"].is_string()) {
      texts.push_back(entry["text"].get<std::string>());
    } else {
      return fail(
          ErrorCode::kInvalidArgument,
          format("{} must be a string or an array of strings, but it holds {}", name, json_type_name(entry)),
          name);
    }
    return {};
  };
  if (value.is_array()) {
    for (const Json& entry : value) PAGODA_TRY(take(entry));
  } else {
    PAGODA_TRY(take(value));
  }
  if (texts.empty()) return fail(ErrorCode::kInvalidArgument, format("{} must not be empty", name), name);
  if (texts.size() > static_cast<size_t>(core.limits().max_prompts))
    return fail(
        ErrorCode::kInvalidArgument,
        format("{} must hold at most {} texts, got {}", name, core.limits().max_prompts, texts.size()), name);
  return texts;
}

// By the first of its names that the request uses.
Result<std::vector<std::string>> named_texts(const ServiceCore& core, const FieldReader& fields,
                                             std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const Json* value = fields.find(name)) return texts_of(core, *value, name);
  }
  return fail(ErrorCode::kInvalidArgument, format("{} is required", *names.begin()), *names.begin());
}

// The whole head of a request: is there such a model, can it compare, how long may texts be.
Result<std::optional<int64_t>> read_head(const ServiceCore& core, FieldReader& fields, std::string_view api) {
  PAGODA_TRY(needs_vectors(core, api));
  const std::string model = fields.string("model").value_or("");
  const auto truncate = fields.integer("truncate_prompt_tokens", {-1, int64_t{1} << 30});
  PAGODA_TRY(fields.status());
  PAGODA_TRY(core.check_model(model));
  if (core.backend().pooling->config().labels > 1)
    return fail(ErrorCode::kInvalidArgument,
                format("The model does not support {} API: it tells {} labels apart, one is wanted", api,
                       core.backend().pooling->config().labels),
                "model");
  return truncate;
}

// A classifier reads pairs; else every text is read once.
Result<PairInputs> tokenize(const ServiceCore& core, const Comparison& comparison) {
  PairInputs out;
  const auto add = [&](Result<PoolingInput> input) -> Status {
    if (!input) return Unexpected(std::move(input).error());
    out.tokens += static_cast<int64_t>(input->tokens.size());
    out.inputs.push_back(std::move(*input));
    return {};
  };
  if (core.backend().pooling->config().labels == 1) {
    for (size_t i = 0; i < comparison.second.size(); ++i)
      PAGODA_TRY(add(tokenize_pair(core, comparison.first_of(i), comparison.second[i], comparison.truncate)));
    return out;
  }
  for (const std::vector<std::string>* texts : {&comparison.first, &comparison.second}) {
    for (const std::string& text : *texts)
      PAGODA_TRY(add(tokenize_text(core, text, true, comparison.truncate)));
  }
  return out;
}

std::vector<float> scores_of(Vectors vectors, size_t first_texts, size_t pairs, bool classifies) {
  std::vector<float> scores;
  if (classifies) {
    for (const auto& logit : vectors) scores.push_back(1 / (1 + std::exp(-logit[0])));
    return scores;
  }
  for (auto& vector : vectors) normalise_length(vector);
  for (size_t i = 0; i < pairs; ++i) {
    const auto& a = vectors[first_texts == 1 ? 0 : i];
    const auto& b = vectors[first_texts + i];
    scores.push_back(static_cast<float>(std::inner_product(
        a.begin(), a.end(), b.begin(), 0.0, std::plus<>(),
        [](float x, float y) { return static_cast<double>(x) * static_cast<double>(y); })));
  }
  return scores;
}

using WriteScores = std::function<std::string(const std::vector<float>& scores, int64_t tokens)>;

void answer_scores(ServiceCore& core, const std::shared_ptr<http::Exchange>& exchange,
                   const Comparison& comparison, WriteScores write) {
  Result<PairInputs> pairs = tokenize(core, comparison);
  if (!pairs) return exchange->respond(error_response(pairs.error()));
  const bool classifies = core.backend().pooling->config().labels == 1;
  answer_pooled(core, exchange, std::move(pairs->inputs),
                [first = comparison.first.size(), count = comparison.second.size(), classifies,
                 tokens = pairs->tokens, write = std::move(write)](Vectors vectors) -> Result<std::string> {
                  return write(scores_of(std::move(vectors), first, count, classifies), tokens);
                });
}

Result<Comparison> read_comparison(const ServiceCore& core, const Json& body) {
  FieldReader fields(body);
  Comparison comparison;
  PAGODA_ASSIGN(comparison.truncate, read_head(core, fields, "Score"));
  PAGODA_ASSIGN(comparison.first, named_texts(core, fields, {"text_1", "queries", "data_1"}));
  PAGODA_ASSIGN(comparison.second, named_texts(core, fields, {"text_2", "documents", "items", "data_2"}));
  if (comparison.first.size() != 1 && comparison.first.size() != comparison.second.size())
    return fail(ErrorCode::kInvalidArgument,
                format("text_1 must hold one text or as many as text_2: got {} and {}",
                       comparison.first.size(), comparison.second.size()),
                "text_1");
  return comparison;
}

struct RerankRequest {
  Comparison comparison;
  size_t top_n = 0;  // 0: all
};

Result<RerankRequest> read_rerank(const ServiceCore& core, const Json& body) {
  FieldReader fields(body);
  RerankRequest request;
  PAGODA_ASSIGN(request.comparison.truncate, read_head(core, fields, "Rerank"));
  PAGODA_ASSIGN(request.comparison.first, named_texts(core, fields, {"query"}));
  if (request.comparison.first.size() != 1)
    return fail(ErrorCode::kInvalidArgument, "query must be one text", "query");
  PAGODA_ASSIGN(request.comparison.second, named_texts(core, fields, {"documents"}));
  request.top_n = static_cast<size_t>(fields.integer("top_n", {0, int64_t{1} << 30}).value_or(0));
  PAGODA_TRY(fields.status());
  return request;
}

std::string score_body(const std::vector<float>& scores, int64_t tokens, const std::string& id,
                       const std::string& model) {
  std::string out = R"({"id":)";
  append_json_string(out, id);
  out += format(R"(,"object":"list","created":{},"model":)", now_seconds());
  append_json_string(out, model);
  out += R"(,"data":[)";
  for (size_t i = 0; i < scores.size(); ++i) {
    out += format(R"({}{{"index":{},"object":"score","score":)", i > 0 ? "," : "", i);
    append_float(out, scores[i]);
    out += '}';
  }
  out += format(R"(],"usage":{{"prompt_tokens":{0},"total_tokens":{0},"completion_tokens":0,)"
                R"("prompt_tokens_details":null}}}})",
                tokens);
  return out;
}

// The best first.
std::string rerank_body(const std::vector<float>& scores, int64_t tokens, const RerankRequest& request,
                        const std::string& id, const std::string& model) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  if (request.top_n > 0 && request.top_n < order.size()) order.resize(request.top_n);
  std::string out = R"({"id":)";
  append_json_string(out, id);
  out += R"(,"model":)";
  append_json_string(out, model);
  out += format(R"(,"usage":{{"prompt_tokens":{0},"total_tokens":{0}}},"results":[)", tokens);
  for (size_t i = 0; i < order.size(); ++i) {
    out += format(R"({}{{"index":{},"document":{{"text":)", i > 0 ? "," : "", order[i]);
    append_json_string(out, request.comparison.second[order[i]]);
    out += R"(,"multi_modal":null},"relevance_score":)";
    append_float(out, scores[order[i]]);
    out += '}';
  }
  return out + "]}";
}

}  // namespace

void score_endpoint(ServiceCore& core, const std::shared_ptr<http::Exchange>& exchange) {
  Result<Json> body = parse_json_object(exchange->request().body);
  if (!body) return exchange->respond(error_response(body.error()));
  const Result<Comparison> comparison = read_comparison(core, *body);
  if (!comparison) return exchange->respond(error_response(comparison.error()));
  answer_scores(core, exchange, *comparison,
                [id = pooled_id("score-", exchange->request()), model = core.model_name()](
                    const std::vector<float>& scores, int64_t tokens) {
                  return score_body(scores, tokens, id, model);
                });
}

void rerank_endpoint(ServiceCore& core, const std::shared_ptr<http::Exchange>& exchange) {
  Result<Json> body = parse_json_object(exchange->request().body);
  if (!body) return exchange->respond(error_response(body.error()));
  const Result<RerankRequest> request = read_rerank(core, *body);
  if (!request) return exchange->respond(error_response(request.error()));
  answer_scores(core, exchange, request->comparison,
                [request = *request, id = pooled_id("rerank-", exchange->request()),
                 model = core.model_name()](const std::vector<float>& scores, int64_t tokens) {
                  return rerank_body(scores, tokens, request, id, model);
                });
}

}  // namespace pagoda::api
