// What rendering one chat template may use. A template comes with a model file or a request: it may not hang
// or exhaust the server.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "base/result.h"

namespace pagoda::text {

struct RenderLimits {
  size_t steps = 1'000'000;      // loop iterations, calls and operations
  size_t bytes = 64u << 20;      // of text made on the way, beside 64 times the input's
  size_t stack_bytes = 2 << 20;  // of recursion
  std::chrono::milliseconds time{10'000};
};

// Thrown through the template engine, which catches only std::exception: it must not wrap these.
struct BudgetExceeded {
  std::string message;
};
struct RaisedByTemplate {
  std::string message;
};

// The budget of the rendering on this thread, for the guards that were put into the program
// (guarded_program.h).
class RenderBudget {
 public:
  RenderBudget(const RenderLimits& limits, size_t input_bytes);
  ~RenderBudget();
  RenderBudget(const RenderBudget&) = delete;
  RenderBudget& operator=(const RenderBudget&) = delete;

  // Counts one step that makes `bytes` of text. Throws BudgetExceeded. Without a rendering nothing is
  // counted.
  static void spend(size_t bytes);

 private:
  void check(const char* here);

  RenderLimits limits_;
  size_t steps_ = 0;
  size_t bytes_ = 0;
  const char* stack_base_;
  std::chrono::steady_clock::time_point deadline_;
  RenderBudget* outer_;
};

// Limits on a template's source that keep the recursive parser within its stack: brackets, blocks and the
// length of one tag. The message names which.
Status check_template_source(const std::string& source);

}  // namespace pagoda::text
