// A few threads that run tasks, and strands on them that keep order. API work runs here: never on the I/O
// threads, never on the engine's.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace pagoda::api {

class WorkerPool {
 public:
  explicit WorkerPool(int threads);
  ~WorkerPool();  // stop()
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Any thread. Cheap when the workers are busy anyway. False, and the task is dropped, after stop().
  bool post(std::function<void()> task);
  // Ends the task that each worker has in hand, drops the others, joins. Not from a worker.
  void stop();

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  int idle_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace pagoda::api
