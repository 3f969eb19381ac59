// Guesses by a small model of the same vocabulary: its most likely tokens, one after the other. It keeps a KV
// cache of its own, as far as that reaches.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "engine/drafter.h"
#include "engine/kv_blocks.h"

namespace pagoda::engine {

class ModelDrafter final : public Drafter {
 public:
  // `vocabulary` is that of the model that is guessed for; where the two differ, tokens that only one of them
  // has are neither read nor guessed. `most_rows`: tokens of one forward pass, >= 1. A prompt that is longer
  // is read in several calls of propose(), and brings no guesses before.
  ModelDrafter(std::unique_ptr<ModelRunner> runner, int vocabulary, int most_rows);

  // A sequence for which the KV blocks do not suffice is guessed for no more.
  Status propose(std::span<const DraftRequest> requests) override;
  void forget(uint64_t sequence) override;

 private:
  struct Reader {
    KvTable kv;
    std::vector<int32_t> tokens;  // whose KV exists: the sequence's, then guesses of last time
    bool given_up = false;
  };
  struct Turn {
    const DraftRequest* request;
    Reader* reader;
    bool guesses = false;  // the next row says what follows
  };

  void close(Reader& reader);
  Reader& reader_of(const DraftRequest& request);
  bool add(Turn& turn, std::span<const int32_t> tokens, LogitsWanted logits);
  void read_what_is_new(std::vector<Turn>& turns);
  void read_last_guesses(std::vector<Turn>& turns);
  Status run(std::span<const Turn> turns);

  const std::unique_ptr<ModelRunner> runner_;
  const int vocabulary_;  // tokens that both models have
  const int most_rows_;
  KvBlocks kv_;
  std::map<uint64_t, Reader> readers_;
  StepPlan plan_;
  std::vector<Turn> turns_;
};

}  // namespace pagoda::engine
