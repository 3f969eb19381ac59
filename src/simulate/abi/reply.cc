#include "simulate/abi/reply.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

namespace pagoda::simulate {

Reply::Reply(const char* function) {
  if (!Session::instance().initialised()) {
    code_ = NVML_ERROR_UNINITIALIZED;
    return;
  }
  check_rule(function, nullptr);
}

Reply::Reply(const char* function, nvmlDevice_t device) {
  if (!Session::instance().initialised()) {
    code_ = NVML_ERROR_UNINITIALIZED;
    return;
  }
  const Device* known = Session::instance().find(device);
  if (known == nullptr) {
    code_ = NVML_ERROR_INVALID_ARGUMENT;
    return;
  }
  device_ = *known;
  has_device_ = true;
  check_rule(function, &device_);
  if (failed()) return;
  const Answer lost = machine().value({device_.gpu, Device::kWhole}, "lost");
  if (lost.code == NVML_SUCCESS && lost.number != 0) code_ = NVML_ERROR_GPU_IS_LOST;
}

// A rule that makes a call hang is asked again and again, so that whoever takes it back lets the call go on.
void Reply::check_rule(const char* function, const Device* device) {
  using namespace std::chrono;
  const auto start = steady_clock::now();
  while (true) {
    const Answer rule = machine().call_rule(device, function);
    if (rule.code != NVML_SUCCESS) {
      code_ = rule.code;
      return;
    }
    if (duration<long double>(steady_clock::now() - start).count() >= rule.number) return;
    std::this_thread::sleep_for(milliseconds(10));
  }
}

Answer Reply::get(std::string_view key) const {
  if (failed()) {  // there may be no machine yet
    Answer none;
    none.code = code_;
    return none;
  }
  return has_device_ ? machine().value(device_, key) : machine().system_value(key);
}

double Reply::number_or(std::string_view key, double otherwise) const {
  if (failed()) return otherwise;
  const Answer answer = get(key);
  return answer.code == NVML_SUCCESS ? static_cast<double>(answer.number) : otherwise;
}

Reply& Reply::text(std::string_view key, char* out, unsigned length) {
  require(out != nullptr);
  if (failed()) return *this;
  const Answer answer = get(key);
  if (answer.code != NVML_SUCCESS) return fail(answer.code);
  return put_text(answer.text, out, length);
}

Reply& Reply::put_text(const std::string& value, char* out, unsigned length) {
  require(out != nullptr);
  if (failed()) return *this;
  if (value.size() + 1 > length) return fail(NVML_ERROR_INSUFFICIENT_SIZE);
  std::memcpy(out, value.c_str(), value.size() + 1);
  return *this;
}

Reply& Reply::set(const std::vector<std::pair<std::string, std::optional<Value>>>& values) {
  if (failed()) return *this;
  return fail(machine().set(device_, values));
}

}  // namespace pagoda::simulate
