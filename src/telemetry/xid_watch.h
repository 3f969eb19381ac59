// Listens for XIDs of all GPUs, on a thread of its own, from its making on. Thread-safe.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "driver/nvml.h"
#include "telemetry/gpu_sample.h"

namespace pagoda::telemetry {

class XidWatch {
 public:
  // Returns when listening has begun, or has failed; then it is tried again every second.
  explicit XidWatch(const driver::Nvml& nvml);
  ~XidWatch();
  XidWatch(const XidWatch&) = delete;
  XidWatch& operator=(const XidWatch&) = delete;

  // The GPU's last XID; empty: none so far. Absent where its events cannot be listened for.
  driver::Reading<std::optional<XidEvent>> last(unsigned gpu) const;
  // How often each XID came, since the beginning.
  std::map<unsigned, std::uint64_t> counts(unsigned gpu) const;
  // Those that are not older, of all GPUs, oldest first; the last thousands at most.
  std::vector<XidEvent> since(std::chrono::system_clock::time_point time) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pagoda::telemetry
