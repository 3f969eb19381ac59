#include "api/openai/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>

namespace pagoda::api {
namespace {

TEST(WorkerPool, RunsEverythingThatIsPosted) {
  std::atomic<int> sum{0};
  {
    WorkerPool pool(3);
    std::atomic<int> done{0};
    for (int i = 1; i <= 1000; ++i) {
      ASSERT_TRUE(pool.post([&sum, &done, i] {
        sum += i;
        ++done;
      }));
    }
    while (done < 1000) std::this_thread::yield();
  }
  EXPECT_EQ(sum, 500500);
}

TEST(WorkerPool, DropsTasksAfterStop) {
  WorkerPool pool(1);
  pool.stop();
  EXPECT_FALSE(pool.post([] { FAIL(); }));
  pool.stop();
}

// A dropped task may be what keeps an answer alive, whose end posts again.
TEST(WorkerPool, DroppedTasksMayPostFromTheirDestructors) {
  struct PostsAtItsEnd {
    WorkerPool& pool;
    ~PostsAtItsEnd() {
      pool.post([] {});
    }
  };
  WorkerPool pool(1);
  std::atomic<bool> release{false}, begun{false};
  pool.post([&] {
    begun = true;
    while (!release) std::this_thread::yield();
  });
  while (!begun) std::this_thread::yield();
  pool.post([keep = std::shared_ptr<PostsAtItsEnd>(new PostsAtItsEnd{pool})] {});
  std::thread releaser([&] { release = true; });
  pool.stop();
  releaser.join();
}

}  // namespace
}  // namespace pagoda::api
