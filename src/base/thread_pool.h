// The compute pool: N workers that run one function together and meet again at its end.
// Made for sections of a few microseconds: workers spin shortly for the next one, then park.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace pagoda {

// The half-open range of [0, count) that worker `worker` of `workers` takes: contiguous, sizes differ by at
// most one.
struct Share {
  int begin, end;
};
inline Share share_of(int count, int worker, int workers) {
  return {static_cast<int>(static_cast<long long>(count) * worker / workers),
          static_cast<int>(static_cast<long long>(count) * (worker + 1) / workers)};
}

class ThreadPool {
 public:
  // The caller is worker 0, so `size` workers are `size - 1` threads. size >= 1.
  explicit ThreadPool(int size);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return size_; }

  // Calls function(worker) once on each worker, worker in [0, size), and returns when all are done.
  // Not reentrant, and to be called by one thread at a time.
  template <class Function>
  void run(Function&& function) {
    if (size_ == 1) return function(0);
    auto call = [](void* context, int worker) {
      (*static_cast<std::remove_reference_t<Function>*>(context))(worker);
    };
    run_on_all(call, &function);
  }

  // Calls function(begin, end) on parts of [0, count) of `grain` or less, each part once. Every worker begins
  // with its own contiguous share, the same one each time, and helps the others when that is done: a core
  // that is slow or taken away for a while does not hold up the rest.
  template <class Function>
  void share(int count, int grain, Function&& function) {
    if (count <= grain) {
      if (count > 0) function(0, count);
      return;
    }
    begin_shares(count);
    run([&](int worker) {
      Share part;
      while (next_part(worker, grain, part)) function(part.begin, part.end);
    });
  }

 private:
  // What is left of one worker's share.
  struct alignas(64) Remaining {
    std::atomic<int> next{0};
    int end = 0;
  };
  void begin_shares(int count);
  // The next part for `worker`, of its own share first; false when none is left anywhere.
  bool next_part(int worker, int grain, Share& part);

  using Call = void (*)(void* context, int worker);
  void run_on_all(Call call, void* context);
  void work(int worker);
  bool wait_for_section(unsigned& seen);

  const int size_;
  Call call_ = nullptr;
  void* context_ = nullptr;
  alignas(64) std::atomic<unsigned> section_{0};
  alignas(64) std::atomic<int> unfinished_{0};
  std::atomic<int> parked_{0};
  std::atomic<bool> ending_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Remaining> shares_;  // by worker
  std::vector<std::thread> threads_;
};

}  // namespace pagoda
