// The tokens of one step as the forward pass wants them: plain views, owned by the ModelRunner.
#pragma once

#include <cstdint>
#include <span>

namespace pagoda::model {

struct BatchSequence {
  int first_row = 0;  // its tokens are rows [first_row, first_row + rows) of the batch
  int rows = 0;
  int context = 0;  // tokens whose KV exists already; the first row's position
  // One block table per KV group: entry i holds tokens [i·block_size, (i+1)·block_size). Entries that have
  // left a group's window may be -1.
  std::span<const int32_t* const> block_tables;
};

struct ForwardBatch {
  std::span<const int32_t> tokens;     // [rows]
  std::span<const int32_t> positions;  // [rows]
  std::span<const BatchSequence> sequences;
  std::span<const int32_t> logit_rows;  // ascending: rows whose logits are wanted
};

}  // namespace pagoda::model
