// The first stage of a tokenizer.json: how a text is rewritten before it is cut. Immutable, safe from any
// thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "text/pipeline/json_part.h"

namespace pagoda::text {

class NormalizerStep {
 public:
  virtual ~NormalizerStep() = default;
  // `text` is valid UTF-8, and so is the result.
  virtual std::string apply(std::string text) const = 0;
};

class Normalizer {
 public:
  // null: no step. kUnsupported names the step that is not there.
  static Result<Normalizer> make(const Json& part);

  std::string apply(std::string text) const;
  bool empty() const { return steps_.empty(); }

 private:
  std::vector<std::unique_ptr<NormalizerStep>> steps_;
};

}  // namespace pagoda::text
