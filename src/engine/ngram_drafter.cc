#include "engine/ngram_drafter.h"

#include <algorithm>

namespace pagoda::engine {

namespace {

// How many of the newest tokens also end before `end`, at most `longest`.
int match_length(std::span<const int32_t> tokens, size_t end, int longest) {
  const size_t most = std::min(end, static_cast<size_t>(longest));
  size_t length = 0;
  while (length < most && tokens[end - 1 - length] == tokens[tokens.size() - 1 - length]) ++length;
  return static_cast<int>(length);
}

// Where the draft begins; tokens.size() when there is none.
size_t draft_start(std::span<const int32_t> tokens, const NgramLengths& lengths) {
  size_t start = tokens.size();
  int best = lengths.shortest - 1;
  for (size_t end = tokens.size() - 1; end > 0 && best < lengths.longest; --end) {
    const int length = match_length(tokens, end, lengths.longest);
    if (length <= best) continue;
    best = length;
    start = end;
  }
  return start;
}

}  // namespace

Status NgramDrafter::propose(std::span<const DraftRequest> requests) {
  for (const DraftRequest& request : requests) {
    if (request.tokens.empty()) continue;
    const std::span<const int32_t> found = request.tokens.subspan(draft_start(request.tokens, lengths_));
    const size_t size = std::min(found.size(), static_cast<size_t>(request.most));
    request.draft->assign(found.begin(), found.begin() + static_cast<ptrdiff_t>(size));
  }
  return {};
}

}  // namespace pagoda::engine
