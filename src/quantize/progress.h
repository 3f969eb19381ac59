// How far a quantisation has come, told after each tensor or layer.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace pagoda::quantize {

struct Progress {
  int64_t done = 0, total = 0;  // in units of equal work: bytes read, or layers
  std::string at;               // "blk.3.ffn_up.weight"
};
using ProgressSink = std::function<void(const Progress&)>;

}  // namespace pagoda::quantize
