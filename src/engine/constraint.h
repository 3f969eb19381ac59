// What text/ tells the engine about tokens. The engine knows ids, never text.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace pagoda::engine {

// Watches one choice's tokens for the end that its request asked for (stop strings). Called on the engine
// thread, once per generated token, in order.
class StopWatcher {
 public:
  virtual ~StopWatcher() = default;
  // The stop string that `token` completed, if any.
  virtual std::optional<std::string> accept(int32_t token) = 0;
};

// Restricts which token may come next (a grammar). Called on the engine thread.
class TokenConstraint {
 public:
  virtual ~TokenConstraint() = default;
  // Bit i of word i/32 is set where token i is allowed next. mask covers the vocabulary.
  virtual void fill_mask(std::span<uint32_t> mask) = 0;
  // False when the token was not allowed: the choice then fails closed.
  virtual bool accept(int32_t token) = 0;
  virtual void rollback(int tokens) = 0;
  virtual bool finished() const = 0;
};

}  // namespace pagoda::engine
