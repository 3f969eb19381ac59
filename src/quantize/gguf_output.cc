#include "quantize/gguf_output.h"

#include <algorithm>
#include <numeric>

#include "base/format.h"
#include "base/thread_pool.h"
#include "kernels/dequantise.h"
#include "kernels/grouped_rows.h"
#include "model/model_config.h"
#include "quantize/block_codes.h"
#include "quantize/gguf_writer.h"
#include "text/pre_tokenizer_rules.h"

namespace pagoda::quantize {
namespace {

using model::WeightMetadata;
using model::WeightSource;

constexpr size_t kChunkElements = size_t{4} << 20;  // of a tensor at a time

// GGUF's llama keeps the rows of q and k in the order of interleaved rotation; folders in that of halves.
struct RowOrder {
  int heads = 0;  // 0: as they are
  int head_dim = 0;

  int64_t source_row(int64_t row) const {
    if (heads == 0) return row;
    const int64_t in_head = row % head_dim;
    return row - in_head + in_head % 2 * (head_dim / 2) + in_head / 2;
  }
};

bool keeps_halves(const WeightSource& source) {
  return source.metadata().text("llama.rope.style").value_or("") == "halves";
}

RowOrder row_order_of(const WeightSource& source, const model::ModelConfig& config, std::string_view name) {
  if (!keeps_halves(source)) return {};
  if (name.ends_with("attn_q.weight") || name.ends_with("attn_q.bias"))
    return {config.heads, config.head_dim};
  if (name.ends_with("attn_k.weight") || name.ends_with("attn_k.bias"))
    return {config.kv_heads, config.head_dim};
  return {};
}

// The name that llama.cpp knows a folder's way of cutting words by; empty where it has none.
std::string_view known_pre_tokenizer(const WeightMetadata& metadata) {
  const auto* kinds = metadata.texts("tokenizer.pagoda.split_kinds");
  const auto* patterns = metadata.texts("tokenizer.pagoda.split_patterns");
  if (kinds == nullptr || patterns == nullptr) return {};
  if (kinds->size() == 1 && kinds->front() == "gpt-2") return "gpt-2";
  if (kinds->size() == 2 && kinds->front() == "digits" && kinds->back() == "gpt-2") return "smollm";
  if (kinds->size() != 1 || kinds->front() != "isolate") return {};
  for (const std::string_view name : {"qwen2", "llama-bpe"}) {
    const text::PreTokenizerRule* rule = text::find_pre_tokenizer_rule(name);
    if (rule != nullptr && rule->steps.size() == 1 && rule->steps.front().pattern == patterns->front())
      return name;
  }
  return {};
}

WeightMetadata metadata_for(const WeightSource& source, const GgufScheme& scheme,
                            const model::ModelConfig& config) {
  WeightMetadata out;
  for (const auto& [key, value] : source.metadata().values()) {
    const bool ours = key.starts_with("quantization.") || key.starts_with("split.") ||
                      key == "general.alignment" || key == "general.file_type" ||
                      (key == "llama.rope.style" && keeps_halves(source));
    if (!ours) out.set(key, value);
  }
  out.set("general.file_type", static_cast<int64_t>(scheme.file_type));
  out.set("general.quantization_version", int64_t{2});
  if (keeps_halves(source)) out.set("llama.rope.dimension_count", static_cast<int64_t>(config.rope_dims));
  if (const auto name = known_pre_tokenizer(source.metadata()); !name.empty()) {
    // Ours says no more than the name does.
    WeightMetadata named;
    for (const auto& [key, value] : out.values()) {
      if (!key.starts_with("tokenizer.pagoda.")) named.set(key, value);
    }
    named.set("tokenizer.ggml.pre", name);
    return named;
  }
  return out;
}

struct Job {
  std::string name;
  const TensorView* view;
  DType dtype;
  RowOrder order;
};

// Rows [first, first + count) of the output, as blocks.
void quantise_rows(const Job& job, int64_t first, int64_t count, ThreadPool& pool, std::byte* out) {
  const int columns = static_cast<int>(job.view->columns());
  const size_t row_bytes = bytes_of(job.dtype, static_cast<size_t>(columns));
  pool.run([&](int worker) {
    const Share share = share_of(static_cast<int>(count), worker, pool.size());
    kernels::GroupedRows grouped;
    std::vector<float> values(static_cast<size_t>(columns));
    for (int i = share.begin; i < share.end; ++i) {
      const int64_t row = job.order.source_row(first + i);
      if (job.view->grouped != nullptr) {
        grouped.dequantise(*job.view->grouped, static_cast<int>(row), values.data());
      } else {
        kernels::dequantise_row(job.view->dtype, job.view->row(row), columns, values.data());
      }
      write_blocks(job.dtype, values, out + static_cast<size_t>(i) * row_bytes);
    }
  });
}

// A bias of heads is one row whose elements are in the order of the heads' rows.
void write_vector(const Job& job, std::byte* out) {
  const auto count = static_cast<size_t>(job.view->columns());
  std::vector<float> values(count), ordered(count);
  kernels::dequantise_row(job.view->dtype, job.view->data, static_cast<int>(count), values.data());
  for (size_t i = 0; i < count; ++i)
    ordered[i] = values[static_cast<size_t>(job.order.source_row(static_cast<int64_t>(i)))];
  write_blocks(job.dtype, ordered, out);
}

Status write_tensor(const Job& job, GgufWriter& writer, ThreadPool& pool) {
  const auto columns = static_cast<size_t>(job.view->columns());
  const size_t row_bytes = bytes_of(job.dtype, columns);
  std::vector<std::byte> bytes;
  if (job.view->shape.rank() == 1) {
    bytes.resize(row_bytes);
    write_vector(job, bytes.data());
    PAGODA_TRY(writer.write(bytes));
    return writer.end_tensor();
  }
  const auto chunk = static_cast<int64_t>(std::max<size_t>(1, kChunkElements / columns));
  for (int64_t row = 0; row < job.view->rows(); row += chunk) {
    const int64_t count = std::min(chunk, job.view->rows() - row);
    bytes.resize(static_cast<size_t>(count) * row_bytes);
    quantise_rows(job, row, count, pool, bytes.data());
    PAGODA_TRY(writer.write(bytes));
  }
  return writer.end_tensor();
}

}  // namespace

std::string foreign_tokenizer_note(const WeightSource& source) {
  const bool told = source.metadata().has("tokenizer.pagoda.split_kinds");
  if (!told || !known_pre_tokenizer(source.metadata()).empty()) return {};
  return "the tokenizer cuts words in a way that has no name in GGUF: other programs than pagoda will refuse "
         "the file";
}

Status write_gguf(const WeightSource& source, const GgufScheme& scheme, const std::string& path,
                  ThreadPool& pool, const ProgressSink& progress) {
  PAGODA_ASSIGN(const model::ModelConfig config, model::read_config(source.metadata()));
  const bool has_output = source.find("output.weight") != nullptr;
  std::vector<Job> jobs;
  std::vector<TensorToWrite> table;
  Progress state;
  Status unreadable;
  source.for_each([&](const std::string& name, const TensorView& view) {
    if (view.grouped == nullptr && !kernels::can_dequantise(view.dtype)) {
      unreadable = fail(
          ErrorCode::kUnsupported,
          format("the tensor {} is of type {}, which cannot be quantised", name, info_of(view.dtype).name));
      return;
    }
    const DType dtype = gguf_dtype_of(scheme, name, view.shape, config.layers, has_output);
    jobs.push_back({name, &view, dtype, row_order_of(source, config, name)});
    table.push_back({name, dtype, view.shape});
    state.total += view.shape.elements();
  });
  PAGODA_TRY(std::move(unreadable));
  PAGODA_ASSIGN(const auto writer, GgufWriter::create(path, metadata_for(source, scheme, config), table));
  source.prefetch();
  for (const Job& job : jobs) {
    state.at = job.name;
    if (progress) progress(state);
    PAGODA_TRY(write_tensor(job, *writer, pool));
    state.done += job.view->shape.elements();
  }
  PAGODA_TRY(writer->finish());
  if (progress) progress(state);
  return {};
}

}  // namespace pagoda::quantize
