#include "model_under_test.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "base/check.h"

namespace pagoda::model {
namespace {

constexpr int kBlockSize = 16;

// Block numbers for `count` blocks, shuffled: a table that is in order would hide a mistake in its use.
std::vector<int32_t> shuffled_blocks(int count, unsigned seed) {
  std::vector<int32_t> blocks(static_cast<size_t>(count));
  std::iota(blocks.begin(), blocks.end(), 0);
  std::shuffle(blocks.begin(), blocks.end(), std::mt19937(seed));
  return blocks;
}

// What no token from `position` on sees has left the table, as in the engine.
void forget_before_window(const KvGroup& group, int position, std::vector<int32_t>& table) {
  if (group.window == 0) return;
  const int first = std::max(0, position - group.window + 1) / kBlockSize;
  std::fill(table.begin(), table.begin() + first, -1);
}

const kernels::IsaTable& chosen_isa() {
  const auto isa = kernels::choose_isa();
  if (!isa) check_failed("choose_isa", __FILE__, __LINE__, isa.error().message.c_str());
  return **isa;
}

}  // namespace

ModelUnderTest::ModelUnderTest(const std::string& path, Precision precision, int threads)
    : pool_(threads), compute_(chosen_isa(), pool_) {
  auto source = open_weights(path);
  PAGODA_CHECK(source.has_value(), path.c_str());
  source_ = std::move(*source);
  auto model = load_model(*source_, LoadOptions{precision}, compute_);
  if (!model) check_failed("load_model", __FILE__, __LINE__, model.error().message.c_str());
  model_ = std::move(*model);
}

void ModelUnderTest::run(std::span<const int32_t> ids, int step_tokens,
                         const std::function<void(int, std::span<const float>)>& visit) {
  const int tokens = static_cast<int>(ids.size());
  const int blocks = (tokens + kBlockSize - 1) / kBlockSize;
  const KvLayout layout = model_->config().kv_layout();
  const DType usual = model_->precision() == Precision::kFloat32 ? DType::kF32 : DType::kBF16;
  KvCache cache(layout, kv_.value_or(usual), kBlockSize, std::vector<int>(layout.size(), blocks));
  std::vector<std::vector<int32_t>> tables;
  std::vector<const int32_t*> table_pointers;
  for (size_t group = 0; group < layout.size(); ++group)
    tables.push_back(shuffled_blocks(blocks, static_cast<unsigned>(group) + 1));
  for (const auto& table : tables) table_pointers.push_back(table.data());

  const size_t vocabulary = static_cast<size_t>(model_->config().vocabulary);
  std::vector<int32_t> positions(ids.size()), rows(static_cast<size_t>(std::min(step_tokens, tokens)));
  std::iota(positions.begin(), positions.end(), 0);
  std::iota(rows.begin(), rows.end(), 0);
  std::vector<float> logits(rows.size() * vocabulary);
  for (int done = 0; done < tokens; done += step_tokens) {
    const int count = std::min(step_tokens, tokens - done);
    for (size_t group = 0; group < layout.size(); ++group)
      forget_before_window(layout[group], done, tables[group]);
    const size_t begin = static_cast<size_t>(done), size = static_cast<size_t>(count);
    const BatchSequence sequence{0, count, done, table_pointers};
    const ForwardBatch batch{ids.subspan(begin, size),
                             std::span<const int32_t>(positions).subspan(begin, size),
                             {&sequence, 1},
                             std::span<const int32_t>(rows).first(size)};
    model_->forward(batch, cache, Matrix(logits.data(), count, static_cast<int>(vocabulary)));
    for (int row = 0; row < count; ++row)
      visit(done + row,
            std::span<const float>(logits).subspan(static_cast<size_t>(row) * vocabulary, vocabulary));
  }
}

}  // namespace pagoda::model
