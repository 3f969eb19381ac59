#include "base/thread_pool.h"

#include "base/check.h"

namespace pagoda {
namespace {

// About 50 µs on today's cores: longer than the gaps between the ops of one step, shorter than anything
// that a person or another process would notice.
constexpr int kSpins = 2000;

inline void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

}  // namespace

ThreadPool::ThreadPool(int size) : size_(size), shares_(static_cast<size_t>(size)) {
  PAGODA_CHECK(size >= 1, "a pool has at least the calling thread");
  for (int worker = 1; worker < size; ++worker) threads_.emplace_back([this, worker] { work(worker); });
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex_);
    ending_.store(true);
    section_.fetch_add(1);
  }
  wake_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void ThreadPool::run_on_all(Call call, void* context) {
  call_ = call;
  context_ = context;
  unfinished_.store(size_ - 1, std::memory_order_relaxed);
  section_.fetch_add(1);  // seq_cst: orders against parked_ below
  if (parked_.load() > 0) {
    { std::lock_guard lock(mutex_); }
    wake_.notify_all();
  }
  call(context, 0);
  // A worker that lost its core to another process may need the one that waits here.
  for (int spin = 0; unfinished_.load(std::memory_order_acquire) != 0; ++spin) {
    if (spin < kSpins)
      pause_briefly();
    else
      std::this_thread::yield();
  }
}

void ThreadPool::begin_shares(int count) {
  for (int worker = 0; worker < size_; ++worker) {
    const Share share = share_of(count, worker, size_);
    Remaining& remaining = shares_[static_cast<size_t>(worker)];
    remaining.next.store(share.begin, std::memory_order_relaxed);
    remaining.end = share.end;
  }
}

bool ThreadPool::next_part(int worker, int grain, Share& part) {
  for (int i = 0; i < size_; ++i) {
    Remaining& remaining = shares_[static_cast<size_t>((worker + i) % size_)];
    if (remaining.next.load(std::memory_order_relaxed) >= remaining.end) continue;
    const int begin = remaining.next.fetch_add(grain, std::memory_order_relaxed);
    if (begin >= remaining.end) continue;
    part = {begin, begin + grain < remaining.end ? begin + grain : remaining.end};
    return true;
  }
  return false;
}

bool ThreadPool::wait_for_section(unsigned& seen) {
  for (int spin = 0; spin < kSpins; ++spin) {
    if (section_.load(std::memory_order_acquire) != seen) {
      seen = section_.load(std::memory_order_acquire);
      return !ending_.load();
    }
    pause_briefly();
  }
  std::unique_lock lock(mutex_);
  parked_.fetch_add(1);
  wake_.wait(lock, [&] { return section_.load() != seen; });
  parked_.fetch_sub(1);
  seen = section_.load();
  return !ending_.load();
}

void ThreadPool::work(int worker) {
  unsigned seen = 0;
  while (wait_for_section(seen)) {
    call_(context_, worker);
    unfinished_.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace pagoda
