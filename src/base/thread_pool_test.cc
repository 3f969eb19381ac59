#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <chrono>

namespace pagoda {
namespace {

TEST(ThreadPool, EveryWorkerRunsOncePerSection) {
  for (int size : {1, 2, 3, 5}) {
    ThreadPool pool(size);
    std::vector<int> runs(static_cast<size_t>(size), 0);
    for (int section = 0; section < 2000; ++section)
      pool.run([&](int worker) { ++runs[static_cast<size_t>(worker)]; });
    for (int count : runs) EXPECT_EQ(count, 2000);
  }
}

TEST(ThreadPool, WakesParkedWorkers) {
  ThreadPool pool(3);
  std::atomic<int> runs{0};
  for (int section = 0; section < 5; ++section) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // long enough for all to park
    pool.run([&](int) { ++runs; });
  }
  EXPECT_EQ(runs.load(), 15);
}

TEST(ThreadPool, SharesCoverTheRangeOnce) {
  for (int count : {0, 1, 2, 7, 96}) {
    for (int workers : {1, 2, 3, 8}) {
      int next = 0;
      for (int worker = 0; worker < workers; ++worker) {
        Share share = share_of(count, worker, workers);
        EXPECT_EQ(share.begin, next);
        next = share.end;
      }
      EXPECT_EQ(next, count);
    }
  }
}

}  // namespace
}  // namespace pagoda
