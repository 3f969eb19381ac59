#include "faults/block_pipeline.h"

#include <algorithm>
#include <thread>

namespace pagoda::faults {
namespace {

constexpr unsigned kMostThreads = 4;  // beyond that the reading thread is the limit

}  // namespace

BlockPipeline::BlockPipeline(const PatternMatcher& matcher)
    : recognisers_(std::make_shared<Recognisers>(matcher)),
      most_(1 + std::clamp(std::thread::hardware_concurrency(), 1u, kMostThreads)) {}

TextBlock BlockPipeline::recognise(Recognisers& recognisers, TextBlock block) {
  std::unique_ptr<LineRecogniser> recogniser;
  {
    const std::scoped_lock lock(recognisers.mutex);
    if (!recognisers.idle.empty()) {
      recogniser = std::move(recognisers.idle.back());
      recognisers.idle.pop_back();
    }
  }
  if (recogniser == nullptr) recogniser = std::make_unique<LineRecogniser>(recognisers.matcher);
  block.recognised = recogniser->recognise(block.text, block.end);
  const std::scoped_lock lock(recognisers.mutex);
  recognisers.idle.push_back(std::move(recogniser));
  return block;
}

void BlockPipeline::put(TextBlock block, bool alone) {
  if (alone) {
    std::promise<TextBlock> done;
    done.set_value(recognise(*recognisers_, std::move(block)));
    under_way_.push_back(done.get_future());
    return;
  }
  under_way_.push_back(
      std::async(std::launch::async, [recognisers = recognisers_, work = std::move(block)]() mutable {
        return recognise(*recognisers, std::move(work));
      }));
}

std::optional<TextBlock> BlockPipeline::take() {
  if (under_way_.empty()) return std::nullopt;
  TextBlock block = under_way_.front().get();
  under_way_.pop_front();
  return block;
}

}  // namespace pagoda::faults
