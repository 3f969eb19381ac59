#include "app/draft_model.h"

#include <algorithm>

#include "app/model_cache.h"
#include "base/format.h"
#include "engine/model_drafter.h"
#include "engine/ngram_drafter.h"
#include "model/model_config.h"

namespace pagoda::app {

namespace {

// Rows that only pad a vocabulary to a round number have no meaning: the shorter list decides.
Status check_tokens(const model::WeightSource& draft, const model::WeightSource& target) {
  const auto* ours = draft.metadata().texts("tokenizer.ggml.tokens");
  const auto* theirs = target.metadata().texts("tokenizer.ggml.tokens");
  if (ours != nullptr && theirs != nullptr) {
    const size_t common = std::min(ours->size(), theirs->size());
    if (common > 0 &&
        std::equal(ours->begin(), ours->begin() + static_cast<ptrdiff_t>(common), theirs->begin()))
      return {};
  }
  return fail(ErrorCode::kInvalidArgument,
              format("{}: its tokens are not those of {}: a model can guess only for one of the same family",
                     draft.path(), target.path()),
              "speculative-config");
}

// As many sequences as are guessed for at once, each to its end.
int wanted_tokens(const ServeOptions& options, int max_model_len) {
  const int most = options.speculation.most_running.value_or(kMostGuessedFor);
  const int sequences = most > 0 ? std::min(most, options.max_num_seqs) : options.max_num_seqs;
  return static_cast<int>(std::min<int64_t>(static_cast<int64_t>(sequences) * max_model_len, 1 << 30));
}

}  // namespace

Result<DraftModel> load_draft_model(const ServeOptions& options, const model::WeightSource& target,
                                    int max_model_len, int64_t most_kv_bytes, kernels::Compute& compute) {
  DraftModel draft;
  PAGODA_ASSIGN(const auto path, resolve_model(options.speculation.model, model_cache_folder()));
  PAGODA_ASSIGN(draft.source, model::open_weights(path.string()));
  PAGODA_TRY(check_tokens(*draft.source, target));
  PAGODA_ASSIGN(draft.model, model::load_model(*draft.source, {model::Precision::kAuto}, compute));
  draft.source->release_pages();
  draft.kv.dtype = draft.model->precision() == model::Precision::kFloat32 ? DType::kF32 : DType::kBF16;
  draft.kv.block_size = options.block_size;
  int64_t bytes_per_block = 0;
  const model::KvLayout layout = draft.model->config().kv_layout();
  for (const model::KvGroup& group : layout)
    bytes_per_block += group.block_bytes(options.block_size, draft.kv.dtype);
  const int64_t wanted = wanted_tokens(options, max_model_len) / options.block_size + 1;
  const int64_t blocks = std::clamp<int64_t>(most_kv_bytes / bytes_per_block, 1, wanted);
  draft.kv.blocks.assign(layout.size(), static_cast<int>(blocks));
  draft.kv.swap_blocks.assign(layout.size(), 0);
  draft.bytes = draft.model->weight_bytes() + blocks * bytes_per_block;
  return draft;
}

std::unique_ptr<engine::Drafter> make_drafter(const ServeOptions& options, DraftModel& draft,
                                              int vocabulary) {
  using Method = SpeculationOptions::Method;
  switch (options.speculation.method) {
    case Method::kNone:
      return nullptr;
    case Method::kNgram:
      return std::make_unique<engine::NgramDrafter>(ngram_lengths(options.speculation));
    case Method::kModel:
      return std::make_unique<engine::ModelDrafter>(
          std::make_unique<engine::BatchRunner>(std::move(draft.model), draft.kv), vocabulary,
          static_cast<int>(options.max_num_batched_tokens));
  }
  return nullptr;
}

}  // namespace pagoda::app
