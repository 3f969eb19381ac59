// Runs an encoder for many clients: what waits is read together, up to a number of tokens at a time.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/result.h"
#include "model/encoder.h"

namespace pagoda::engine {

struct PoolingRequest {
  std::vector<int32_t> tokens;  // 1 to the encoder's context
  std::vector<int32_t> types;   // [tokens], or empty: all 0
  // Called once, on the engine's thread: outputs() numbers, or why there are none. Must not wait.
  std::function<void(Result<std::vector<float>>)> sink;
};

struct PoolingLimits {
  int batch_tokens = 4096;  // read together; a longer text is read alone
  int waiting = 4096;       // texts; more are refused
};

class PoolingEngine {
 public:
  PoolingEngine(std::unique_ptr<model::Encoder> encoder, PoolingLimits limits);
  ~PoolingEngine();  // what waits gets kUnavailable
  PoolingEngine(const PoolingEngine&) = delete;
  PoolingEngine& operator=(const PoolingEngine&) = delete;

  const model::EncoderConfig& config() const { return encoder_->config(); }
  int outputs() const { return encoder_->outputs(); }

  // Any thread. All or none; kResourceExhausted when too many wait. Texts are read in the order in which they
  // came.
  Status submit(std::vector<PoolingRequest> requests);
  // Nothing waits and nothing runs.
  bool idle() const;

 private:
  void work();
  std::vector<PoolingRequest> next_batch(std::unique_lock<std::mutex>& lock);
  void run(std::vector<PoolingRequest> batch);

  const std::unique_ptr<model::Encoder> encoder_;
  const PoolingLimits limits_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<PoolingRequest> waiting_;  // guarded by mutex_, as the two below
  bool running_ = false, ending_ = false;
  std::thread thread_;
};

}  // namespace pagoda::engine
