#include "simulate/abi/session.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "base/format.h"

namespace pagoda::simulate {

Session& Session::instance() {
  static auto* session = new Session;  // never destroyed: a client's thread may still be in a call at exit
  return *session;
}

// The scenario is told by PAGODA_SIMULATE; one that cannot be read is told on standard error, once, since
// NVML has no words for it.
nvmlReturn_t Session::load() {
  if (machine_ != nullptr || load_code_ != NVML_SUCCESS) return load_code_;
  const char* asked = std::getenv("PAGODA_SIMULATE");
  auto machine = Machine::open(asked == nullptr || *asked == '\0' ? "h100" : asked);
  if (!machine) {
    std::fprintf(stderr, "simulated GPUs: %s\n", machine.error().message.c_str());
    load_code_ = NVML_ERROR_UNKNOWN;
  } else {
    machine_ = std::move(*machine);
  }
  return load_code_;
}

nvmlReturn_t Session::init() {
  std::lock_guard lock(mutex_);
  if (const nvmlReturn_t code = load(); code != NVML_SUCCESS) return code;
  const Answer rule = machine_->system_value("system.init");
  if (rule.code != NVML_SUCCESS && rule.code != NVML_ERROR_NOT_SUPPORTED) return rule.code;
  ++count_;
  return NVML_SUCCESS;
}

nvmlReturn_t Session::shutdown() {
  std::lock_guard lock(mutex_);
  if (count_ == 0) return NVML_ERROR_UNINITIALIZED;
  --count_;
  return NVML_SUCCESS;
}

bool Session::initialised() const {
  std::lock_guard lock(mutex_);
  return count_ > 0;
}

std::vector<unsigned> Session::visible() {
  const char* nodes = std::getenv("PAGODA_SIMULATE_NODES");
  const bool all = nodes == nullptr || *nodes == '\0';
  std::vector<unsigned> visible;
  for (unsigned gpu = 0; gpu < machine_->gpu_count(); ++gpu) {
    const auto minor = all ? 0 : static_cast<unsigned>(machine_->value({gpu}, "minor_number").number);
    if (all || access(format("{}/nvidia{}", nodes, minor).c_str(), F_OK) == 0) visible.push_back(gpu);
  }
  return visible;
}

Machine* Session::machine_if_any() {
  std::lock_guard lock(mutex_);
  return load() == NVML_SUCCESS ? machine_.get() : nullptr;
}

nvmlDevice_t Session::handle(unsigned gpu, int mig) {
  std::lock_guard lock(mutex_);
  for (Device& device : devices_) {
    if (device.gpu == gpu && device.mig == mig) return reinterpret_cast<nvmlDevice_t>(&device);
  }
  devices_.push_back({gpu, mig});
  return reinterpret_cast<nvmlDevice_t>(&devices_.back());
}

const Device* Session::find(nvmlDevice_t handle) const {
  std::lock_guard lock(mutex_);
  for (const Device& device : devices_) {
    if (reinterpret_cast<const void*>(&device) == reinterpret_cast<const void*>(handle)) return &device;
  }
  return nullptr;
}

}  // namespace pagoda::simulate
