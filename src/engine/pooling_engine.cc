#include "engine/pooling_engine.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"

namespace pagoda::engine {

PoolingEngine::PoolingEngine(std::unique_ptr<model::Encoder> encoder, PoolingLimits limits)
    : encoder_(std::move(encoder)), limits_(limits), thread_([this] { work(); }) {}

PoolingEngine::~PoolingEngine() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_one();
  thread_.join();
  for (PoolingRequest& request : waiting_)
    request.sink(fail(ErrorCode::kUnavailable, "the server is shutting down"));
}

Status PoolingEngine::submit(std::vector<PoolingRequest> requests) {
  {
    const std::lock_guard lock(mutex_);
    // A request of more texts than may wait is taken when nothing else waits.
    if (!waiting_.empty() && waiting_.size() + requests.size() > static_cast<size_t>(limits_.waiting))
      return fail(ErrorCode::kResourceExhausted,
                  format("{} texts are waiting already; try again later", waiting_.size()));
    for (PoolingRequest& request : requests) waiting_.push_back(std::move(request));
  }
  wake_.notify_one();
  return {};
}

bool PoolingEngine::idle() const {
  const std::lock_guard lock(mutex_);
  return waiting_.empty() && !running_;
}

std::vector<PoolingRequest> PoolingEngine::next_batch(std::unique_lock<std::mutex>& lock) {
  running_ = false;
  wake_.wait(lock, [&] { return ending_ || !waiting_.empty(); });
  std::vector<PoolingRequest> batch;
  size_t tokens = 0;
  while (!ending_ && !waiting_.empty()) {
    tokens += waiting_.front().tokens.size();
    if (!batch.empty() && tokens > static_cast<size_t>(limits_.batch_tokens)) break;
    batch.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  running_ = !batch.empty();
  return batch;
}

void PoolingEngine::work() {
  while (true) {
    std::unique_lock lock(mutex_);
    std::vector<PoolingRequest> batch = next_batch(lock);
    if (batch.empty()) return;
    lock.unlock();
    run(std::move(batch));
  }
}

void PoolingEngine::run(std::vector<PoolingRequest> requests) {
  model::EncoderBatch batch;
  for (const PoolingRequest& request : requests) {
    batch.tokens.insert(batch.tokens.end(), request.tokens.begin(), request.tokens.end());
    batch.types.insert(batch.types.end(), request.types.begin(), request.types.end());
    batch.types.resize(batch.tokens.size());
    batch.lengths.push_back(static_cast<int>(request.tokens.size()));
  }
  const int width = encoder_->outputs();
  std::vector<float> out(requests.size() * static_cast<size_t>(width));
  encoder_->encode(batch, {out.data(), static_cast<int>(requests.size()), width});
  for (size_t i = 0; i < requests.size(); ++i) {
    const auto begin = out.begin() + static_cast<std::ptrdiff_t>(i) * width;
    std::vector<float> row(begin, begin + width);
    if (std::all_of(row.begin(), row.end(), [](float x) { return std::isfinite(x); })) {
      requests[i].sink(std::move(row));
    } else {
      requests[i].sink(
          fail(ErrorCode::kInternal, "the model gave a vector that is not finite for this text"));
    }
  }
}

}  // namespace pagoda::engine
