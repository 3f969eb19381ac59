// One thread on which calls into the driver run, so that a call that hangs costs its caller a deadline and no
// more. A call that missed its deadline makes the worker `stuck`: later calls are refused at once, until it
// returns.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

namespace pagoda::driver {

class NvmlWorker {
 public:
  NvmlWorker();
  // Waits for no stuck call: its thread is left behind and ends when the call returns.
  ~NvmlWorker();
  NvmlWorker(const NvmlWorker&) = delete;
  NvmlWorker& operator=(const NvmlWorker&) = delete;

  // The function's result; empty when it did not return within `deadline`, or when an earlier call is stuck.
  // What the function works on must live as long as the function (own it, or share it): after a missed
  // deadline it runs on. Thread-safe; callers queue.
  template <class Function>
  std::optional<std::invoke_result_t<Function>> run(Function function, std::chrono::milliseconds deadline) {
    auto result = std::make_shared<std::optional<std::invoke_result_t<Function>>>();
    const bool done = run_job(
        [function = std::move(function), result]() mutable { result->emplace(function()); }, deadline);
    return done ? std::move(*result) : std::nullopt;
  }

  bool stuck() const;

 private:
  struct State;
  bool run_job(std::function<void()> body, std::chrono::milliseconds deadline);
  static void work(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace pagoda::driver
