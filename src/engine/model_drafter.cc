#include "engine/model_drafter.h"

#include <algorithm>

#include "base/check.h"

namespace pagoda::engine {

ModelDrafter::ModelDrafter(std::unique_ptr<ModelRunner> runner, int vocabulary, int most_rows)
    : runner_(std::move(runner)),
      vocabulary_(std::min(vocabulary, runner_->vocabulary())),
      most_rows_(most_rows),
      kv_(runner_->capacity(), /*prefix_caching=*/false) {
  PAGODA_CHECK(most_rows_ > 0, "a forward pass has rows");
}

void ModelDrafter::forget(uint64_t sequence) {
  const auto found = readers_.find(sequence);
  if (found == readers_.end()) return;
  close(found->second);
  readers_.erase(found);
}

void ModelDrafter::close(Reader& reader) {
  if (reader.kv.open()) kv_.release(reader.kv);
  reader.tokens.clear();
}

// With the KV of what the sequence really has: guesses that were wrong are taken back.
ModelDrafter::Reader& ModelDrafter::reader_of(const DraftRequest& request) {
  Reader& reader = readers_[request.sequence];
  if (reader.given_up) return reader;
  if (!reader.kv.open()) kv_.open(reader.kv, request.tokens, {}, /*reuse=*/false);
  const auto same = std::ranges::mismatch(reader.tokens, request.tokens).in1 - reader.tokens.begin();
  // The newest token's row is what the first guess comes from: it is always computed.
  reader.tokens.resize(std::min(static_cast<size_t>(same), request.tokens.size() - 1));
  kv_.computed(reader.kv, reader.tokens, static_cast<int>(reader.tokens.size()));
  return reader;
}

// False when the KV has no room, or a token is not the model's: the sequence is given up.
bool ModelDrafter::add(Turn& turn, std::span<const int32_t> tokens, LogitsWanted logits) {
  Reader& reader = *turn.reader;
  const int first = static_cast<int>(reader.tokens.size());
  const int end = first + static_cast<int>(tokens.size());
  const bool foreign = std::ranges::any_of(tokens, [&](int32_t token) { return token >= vocabulary_; });
  if (foreign || end > kv_.reach_in_step(reader.kv) || !kv_.extend(reader.kv, first, end, plan_.copies)) {
    close(reader);
    reader.given_up = true;
    return false;
  }
  SequencePlan& plan = plan_.sequences.emplace_back();
  plan.sequence = turn.request->sequence;
  plan.first_position = first;
  plan.tokens.assign(tokens.begin(), tokens.end());
  plan.block_tables.assign(reader.kv.blocks.begin(), reader.kv.blocks.end());
  plan.logits = logits;
  reader.tokens.insert(reader.tokens.end(), tokens.begin(), tokens.end());
  return true;
}

void ModelDrafter::read_what_is_new(std::vector<Turn>& turns) {
  int rows = most_rows_;
  for (Turn& turn : turns) {
    const std::span<const int32_t> left = turn.request->tokens.subspan(turn.reader->tokens.size());
    const size_t count = std::min(left.size(), static_cast<size_t>(rows));
    if (count == 0) continue;
    turn.guesses = count == left.size();
    if (!add(turn, left.first(count), turn.guesses ? LogitsWanted::kLast : LogitsWanted::kNone))
      turn.guesses = false;
    else
      rows -= static_cast<int>(count);
  }
}

void ModelDrafter::read_last_guesses(std::vector<Turn>& turns) {
  for (Turn& turn : turns) {
    const std::vector<int32_t>& draft = *turn.request->draft;
    const bool more = static_cast<int>(draft.size()) < turn.request->most;
    turn.guesses = more && add(turn, std::span(draft).last(1), LogitsWanted::kLast);
  }
}

// Appends each guess to its draft.
Status ModelDrafter::run(std::span<const Turn> turns) {
  if (plan_.sequences.empty()) return {};
  Result<StepLogits> logits = runner_->run(plan_);
  plan_.sequences.clear();
  plan_.copies.clear();
  if (!logits) {
    // What was written is not known: everything is read again.
    for (auto& [id, reader] : readers_) close(reader);
    return Unexpected(logits.error());
  }
  int row = 0;
  for (const Turn& turn : turns) {
    if (!turn.guesses) continue;
    const std::span<const float> values = logits->row(row++).first(static_cast<size_t>(vocabulary_));
    turn.request->draft->push_back(static_cast<int32_t>(std::ranges::max_element(values) - values.begin()));
  }
  return {};
}

Status ModelDrafter::propose(std::span<const DraftRequest> requests) {
  turns_.clear();
  for (const DraftRequest& request : requests) {
    Reader& reader = reader_of(request);
    if (!reader.given_up) turns_.push_back({&request, &reader});
  }
  read_what_is_new(turns_);
  PAGODA_TRY(run(turns_));
  while (true) {
    std::erase_if(turns_, [](const Turn& turn) { return !turn.guesses; });
    read_last_guesses(turns_);
    if (plan_.sequences.empty()) return {};
    PAGODA_TRY(run(turns_));
  }
}

}  // namespace pagoda::engine
