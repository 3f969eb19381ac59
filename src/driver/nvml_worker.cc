#include "driver/nvml_worker.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>

namespace pagoda::driver {
namespace {

struct Job {
  std::function<void()> body;
  bool done = false;
};

}  // namespace

struct NvmlWorker::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::shared_ptr<Job>> queue;
  std::shared_ptr<Job> running;
  bool stuck = false;
  bool ending = false;
};

NvmlWorker::NvmlWorker() : state_(std::make_shared<State>()), thread_([state = state_] { work(state); }) {}

NvmlWorker::~NvmlWorker() {
  bool stuck = false;
  {
    std::lock_guard lock(state_->mutex);
    state_->ending = true;
    stuck = state_->stuck;
  }
  state_->changed.notify_all();
  if (stuck) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

bool NvmlWorker::stuck() const {
  std::lock_guard lock(state_->mutex);
  return state_->stuck;
}

bool NvmlWorker::run_job(std::function<void()> body, std::chrono::milliseconds deadline) {
  const auto until = std::chrono::steady_clock::now() + deadline;
  auto job = std::make_shared<Job>();
  job->body = std::move(body);
  std::unique_lock lock(state_->mutex);
  if (state_->stuck) return false;
  state_->queue.push_back(job);
  state_->changed.notify_all();
  if (state_->changed.wait_until(lock, until, [&] { return job->done; })) return true;
  // Not started: it never will be. Started: the worker is stuck in it.
  std::erase(state_->queue, job);
  if (state_->running == job) state_->stuck = true;
  return false;
}

void NvmlWorker::work(const std::shared_ptr<State>& state) {
  std::unique_lock lock(state->mutex);
  while (true) {
    state->changed.wait(lock, [&] { return state->ending || !state->queue.empty(); });
    if (state->queue.empty()) return;
    state->running = state->queue.front();
    state->queue.pop_front();
    lock.unlock();
    state->running->body();
    state->running->body = nullptr;  // what the call owned is freed here, not under the lock
    lock.lock();
    state->running->done = true;
    state->running = nullptr;
    state->stuck = false;
    state->changed.notify_all();
  }
}

}  // namespace pagoda::driver
