// POST /v1/embeddings: texts, or arrays of token ids → vectors, as numbers or as base64.
#include <bit>
#include <charconv>

#include "api/openai/endpoints.h"
#include "api/openai/error_body.h"
#include "api/openai/field_reader.h"
#include "api/openai/json_text.h"
#include "api/openai/pooling_answer.h"
#include "base/base64.h"
#include "base/format.h"
#include "engine/pooling_engine.h"

namespace pagoda::api {
namespace {

struct EmbeddingForm {
  bool base64 = false;
  size_t dimensions = 0;  // 0: all
  bool normalizes = false;
};

struct EmbeddingPlan {
  std::vector<PoolingInput> inputs;
  EmbeddingForm form;
};

Unexpected input_fault(std::string message) {
  return fail(ErrorCode::kInvalidArgument, std::move(message), "input");
}

Result<PoolingInput> read_ids(const ServiceCore& core, const Json& ids) {
  PoolingInput input;
  for (const Json& id : ids) {
    const int size = core.backend().tokenizer->size();
    if (!id.is_number_integer() || id.get<int64_t>() < 0 || id.get<int64_t>() >= size)
      return input_fault(
          format("input holds {}, which is no token id below {}", id.dump().substr(0, 40), size));
    input.tokens.push_back(static_cast<int32_t>(id.get<int64_t>()));
  }
  if (input.tokens.empty()) return input_fault("input must not hold an empty array of token ids");
  PAGODA_TRY(check_length(core, input.tokens.size()));
  return input;
}

struct TextOptions {
  bool add_special = true;
  std::optional<int64_t> truncate;
};

Result<PoolingInput> read_entry(const ServiceCore& core, const Json& entry, const TextOptions& options) {
  if (entry.is_string())
    return tokenize_text(core, entry.get_ref<const std::string&>(), options.add_special, options.truncate);
  if (entry.is_array()) return read_ids(core, entry);
  return input_fault(
      format("input must be a string, an array of strings, or arrays of token ids, but it holds {}",
             json_type_name(entry)));
}

Result<std::vector<PoolingInput>> read_inputs(const ServiceCore& core, const Json& body,
                                              const TextOptions& options) {
  const auto input = body.find("input");
  if (input == body.end() || input->is_null()) return input_fault("input is required");
  std::vector<PoolingInput> inputs;
  const bool one = !input->is_array() || (!input->empty() && input->front().is_number());
  if (one) {
    PAGODA_ASSIGN(PoolingInput entry, read_entry(core, *input, options));
    inputs.push_back(std::move(entry));
    return inputs;
  }
  if (input->empty()) return input_fault("input must not be an empty array");
  if (input->size() > static_cast<size_t>(core.limits().max_prompts))
    return input_fault(
        format("input must hold at most {} texts, got {}", core.limits().max_prompts, input->size()));
  for (const Json& entry : *input) {
    PAGODA_ASSIGN(PoolingInput read, read_entry(core, entry, options));
    inputs.push_back(std::move(read));
  }
  return inputs;
}

Result<EmbeddingForm> read_form(const ServiceCore& core, FieldReader& fields) {
  const engine::PoolingEngine& pooling = *core.backend().pooling;
  EmbeddingForm form;
  const std::string encoding = fields.string("encoding_format").value_or("float");
  const auto dimensions = fields.integer("dimensions", {1, int64_t{1} << 20});
  form.normalizes = fields.boolean_or("normalize", pooling.config().normalizes);
  PAGODA_TRY(fields.status());
  if (encoding != "float" && encoding != "base64")
    return fail(ErrorCode::kInvalidArgument, "encoding_format must be \"float\" or \"base64\"",
                "encoding_format");
  form.base64 = encoding == "base64";
  if (!dimensions || *dimensions == pooling.outputs()) return form;
  if (!pooling.config().takes_fewer_dimensions)
    return fail(ErrorCode::kInvalidArgument,
                format("Model \"{}\" does not support matryoshka representation, changing output dimensions "
                       "will lead to "
                       "poor results.",
                       core.model_name()),
                "dimensions");
  if (*dimensions > pooling.outputs())
    return fail(ErrorCode::kInvalidArgument,
                format("dimensions must be at most {}, got {}", pooling.outputs(), *dimensions),
                "dimensions");
  form.dimensions = static_cast<size_t>(*dimensions);
  return form;
}

Result<EmbeddingPlan> plan_embeddings(const ServiceCore& core, const http::Request& request) {
  PAGODA_TRY(needs_vectors(core, "Embeddings"));
  PAGODA_ASSIGN(const Json body, parse_json_object(request.body));
  FieldReader fields(body);
  const std::string model = fields.string("model").value_or("");
  TextOptions options;
  options.add_special = fields.boolean_or("add_special_tokens", true);
  options.truncate = fields.integer("truncate_prompt_tokens", {-1, int64_t{1} << 30});
  PAGODA_TRY(fields.status());
  PAGODA_TRY(core.check_model(model));
  if (core.backend().pooling->config().labels > 0)
    return fail(
        ErrorCode::kInvalidArgument,
        "The model does not support Embeddings API: it scores pairs of texts, by /v1/score and /v1/rerank",
        "model");
  EmbeddingPlan plan;
  PAGODA_ASSIGN(plan.form, read_form(core, fields));
  PAGODA_ASSIGN(plan.inputs, read_inputs(core, body, options));
  return plan;
}

// The client reads little-endian floats.
void append_base64(std::string& out, const std::vector<float>& vector) {
  static_assert(std::endian::native == std::endian::little);
  out += encode_base64({reinterpret_cast<const char*>(vector.data()), vector.size() * sizeof(float)});
}

// The shortest digits that read back as the same float.
void append_numbers(std::string& out, const std::vector<float>& vector) {
  char digits[32];
  for (size_t i = 0; i < vector.size(); ++i) {
    if (i > 0) out += ',';
    const auto written = std::to_chars(digits, digits + sizeof digits, vector[i]);
    out.append(digits, written.ptr);
  }
}

std::string embedding_body(std::vector<std::vector<float>> vectors, const EmbeddingForm& form,
                           const std::string& id, const std::string& model, int64_t tokens) {
  std::string out = R"({"id":)";
  append_json_string(out, id);
  out += format(R"(,"object":"list","created":{},"model":)", now_seconds());
  append_json_string(out, model);
  out += R"(,"data":[)";
  for (size_t i = 0; i < vectors.size(); ++i) {
    std::vector<float>& vector = vectors[i];
    if (form.dimensions > 0) vector.resize(form.dimensions);
    if (form.normalizes) normalise_length(vector);
    out += format(R"({}{{"index":{},"object":"embedding","embedding":)", i > 0 ? "," : "", i);
    out += form.base64 ? '"' : '[';
    form.base64 ? append_base64(out, vector) : append_numbers(out, vector);
    out += form.base64 ? "\"}" : "]}";
  }
  out += format(R"(],"usage":{{"prompt_tokens":{0},"total_tokens":{0},"completion_tokens":0,)"
                R"("prompt_tokens_details":null}}}})",
                tokens);
  return out;
}

}  // namespace

void embedding_endpoint(ServiceCore& core, const std::shared_ptr<http::Exchange>& exchange) {
  Result<EmbeddingPlan> plan = plan_embeddings(core, exchange->request());
  if (!plan) return exchange->respond(error_response(plan.error()));
  int64_t tokens = 0;
  for (const PoolingInput& input : plan->inputs) tokens += static_cast<int64_t>(input.tokens.size());
  answer_pooled(core, exchange, std::move(plan->inputs),
                [form = plan->form, id = pooled_id("embd-", exchange->request()), model = core.model_name(),
                 tokens](std::vector<std::vector<float>> vectors) -> Result<std::string> {
                  return embedding_body(std::move(vectors), form, id, model, tokens);
                });
}

}  // namespace pagoda::api
