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

TEST(ThreadPool, SharedWorkIsDoneOnceEach) {
  for (int size : {1, 2, 5}) {
    ThreadPool pool(size);
    for (int count : {0, 1, 3, 64, 1000}) {
      for (int grain : {1, 3, 7, 2000}) {
        std::vector<std::atomic<int>> done(static_cast<size_t>(count));
        pool.share(count, grain, [&](int begin, int end) {
          EXPECT_LE(end - begin, grain);
          for (int i = begin; i < end; ++i) ++done[static_cast<size_t>(i)];
        });
        for (const auto& times : done) EXPECT_EQ(times.load(), 1);
      }
    }
  }
}

TEST(ThreadPool, OthersTakeOverFromASlowWorker) {
  ThreadPool pool(2);
  std::atomic<bool> blocked{false};
  std::atomic<int> done{0};
  pool.share(64, 1, [&](int, int) {
    // Whoever comes first is held up until the other has done everything else.
    if (!blocked.exchange(true)) {
      while (done.load() < 63) std::this_thread::yield();
    }
    ++done;
  });
  EXPECT_EQ(done.load(), 64);
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
