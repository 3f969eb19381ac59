// The reply to one NVML call: made at its beginning, filled key by key, turned into the return code at its
// end. What can be wrong with any call is checked here: not initialised, no such device, a GPU that is lost,
// a rule of the scenario.
//
//   return Reply("nvmlDeviceGetEccMode", device).put("ecc.mode.current", current).put("ecc.mode.pending",
//   pending);
#pragma once

#include <nvml.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>

#include "simulate/abi/session.h"

namespace pagoda::simulate {

class Reply {
 public:
  Reply(const char* function, nvmlDevice_t device);
  // A call without a device.
  explicit Reply(const char* function);

  bool failed() const { return code_ != NVML_SUCCESS; }
  operator nvmlReturn_t() const { return code_; }  // NOLINT: a reply is the code that the call returns
  Reply& fail(nvmlReturn_t code) {
    if (code_ == NVML_SUCCESS) code_ = code;
    return *this;
  }
  Reply& require(bool condition, nvmlReturn_t otherwise = NVML_ERROR_INVALID_ARGUMENT) {
    return condition ? *this : fail(otherwise);
  }

  // The key's value into *out; without one the call fails with the value's code. A null `out` is an invalid
  // argument.
  template <class T>
  Reply& put(std::string_view key, T* out) {
    require(out != nullptr);
    if (failed()) return *this;
    const Answer answer = get(key);
    if (answer.code != NVML_SUCCESS) return fail(answer.code);
    *out = as<T>(answer.number);
    return *this;
  }
  // As put, but a value that is not there is `otherwise`. Where a call answers several things and one is
  // optional.
  template <class T, class Otherwise>
  Reply& put_or(std::string_view key, Otherwise otherwise, T* out) {
    require(out != nullptr);
    if (failed()) return *this;
    const Answer answer = get(key);
    *out = answer.code == NVML_SUCCESS ? as<T>(answer.number) : static_cast<T>(otherwise);
    return *this;
  }
  // A text of at most length − 1 characters and its end.
  Reply& text(std::string_view key, char* out, unsigned length);
  Reply& put_text(const std::string& value, char* out, unsigned length);

  Answer get(std::string_view key) const;
  double number_or(std::string_view key, double otherwise) const;
  // Values that the setting changes; an empty one takes it back.
  Reply& set(const std::vector<std::pair<std::string, std::optional<Value>>>& values);
  Reply& set(std::string key, Number number) { return set({{std::move(key), Value::of(number)}}); }

  const Device& device() const { return device_; }
  Machine& machine() const { return Session::instance().machine(); }

  template <class T>
  static T as(Number wanted) {
    // A product of two sensible numbers may be too large for either.
    const Number number = std::clamp(wanted, -9223372036854775808.0L, 18446744073709551615.0L);
    if constexpr (std::is_enum_v<T>) {
      return static_cast<T>(static_cast<int>(number));
    } else if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(number);
    } else if constexpr (std::is_signed_v<T>) {
      return static_cast<T>(static_cast<long long>(std::min(number, 9223372036854775807.0L)));
    } else {
      // A negative number in an unsigned place wraps, as in C: NVML_VALUE_NOT_AVAILABLE is −1.
      return number < 0 ? static_cast<T>(static_cast<long long>(number))
                        : static_cast<T>(static_cast<unsigned long long>(number));
    }
  }

 private:
  void check_rule(const char* function, const Device* device);
  Device device_;
  bool has_device_ = false;
  nvmlReturn_t code_ = NVML_SUCCESS;
};

// The versions of a versioned struct that a call accepts.
template <class Struct>
bool is_version(const Struct* value, std::initializer_list<unsigned> versions) {
  if (value == nullptr) return false;
  for (const unsigned version : versions) {
    if (value->version == version) return true;
  }
  return false;
}

// NVML's way to hand out a list: `*count` is the room; too little (or no array) answers the size that is
// needed.
template <class T>
nvmlReturn_t hand_out(const std::vector<T>& items, unsigned* count, T* out) {
  if (count == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  const auto needed = static_cast<unsigned>(items.size());
  const bool fits = *count >= needed && (out != nullptr || needed == 0);
  *count = needed;
  if (!fits) return NVML_ERROR_INSUFFICIENT_SIZE;
  for (unsigned i = 0; i < needed; ++i) out[i] = items[i];
  return NVML_SUCCESS;
}

}  // namespace pagoda::simulate

// One call, one key.
#define PAGODA_SIMULATED_VALUE(function, type, key)                            \
  PAGODA_NVML_EXPORT nvmlReturn_t function(nvmlDevice_t device, type* value) { \
    return pagoda::simulate::Reply(#function, device).put(key, value);         \
  }
// One call, two keys.
#define PAGODA_SIMULATED_PAIR(function, type, first_key, second_key)                                 \
  PAGODA_NVML_EXPORT nvmlReturn_t function(nvmlDevice_t device, type* first, type* second) {         \
    return pagoda::simulate::Reply(#function, device).put(first_key, first).put(second_key, second); \
  }
#define PAGODA_SIMULATED_TEXT(function, key)                                                   \
  PAGODA_NVML_EXPORT nvmlReturn_t function(nvmlDevice_t device, char* text, unsigned length) { \
    return pagoda::simulate::Reply(#function, device).text(key, text, length);                 \
  }
