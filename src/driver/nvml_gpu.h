// One GPU, or one MIG device, as NVML knows it. Every value is a Reading; nothing here throws, blocks past
// its deadline, or turns an absence into a number. Cheap to copy; all copies share the GPU's worker.
// Thread-safe.
//
//   Reading<unsigned> milliwatts = gpu.read(nvml::kDeviceGetPowerUsage);
//   Reading<unsigned> mhz = gpu.read(nvml::kDeviceGetClockInfo, NVML_CLOCK_SM);
//   Reading<std::tuple<nvmlEnableState_t, nvmlEnableState_t>> ecc = gpu.read(nvml::kDeviceGetEccMode);
//   Reading<std::string> uuid = gpu.text(nvml::kDeviceGetUUID);
//   Reading<nvmlTemperature_t> core = gpu.fill(nvml::kDeviceGetTemperatureV,
//   nvmlTemperature_t{nvmlTemperature_v1, …}); Reading<std::vector<unsigned>> mhz =
//   gpu.list(nvml::kDeviceGetSupportedMemoryClocks); Reading<void> set =
//   gpu.read(nvml::kDeviceSetPowerManagementLimit, 250000u);
#pragma once

#include <array>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "driver/nvml_runner.h"

namespace pagoda::driver {

// A field of nvmlDeviceGetFieldValues: NVML_FI_…, and a scope where the field has one (a link, a power
// scope).
struct NvmlField {
  unsigned id = 0;
  unsigned scope = 0;
};

// What a field answered, in the type in which it was given.
struct NvmlFieldValue {
  nvmlValueType_t type = NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
  nvmlValue_t value{};
  long long timestamp_us = 0;              // since 1970; 0 where the driver gives none
  unsigned long long as_unsigned() const;  // a negative or fractional value is cut off
  long long as_signed() const;
  double as_double() const;
};

// Memory in bytes. `reserved` comes with nvmlDeviceGetMemoryInfo_v2 alone; without it `used` includes what is
// reserved.
struct NvmlMemory {
  unsigned long long total = 0;
  unsigned long long used = 0;
  unsigned long long free = 0;
  Reading<unsigned long long> reserved = absent(NVML_ERROR_FUNCTION_NOT_FOUND);
};

enum class ProcessKind { kCompute, kGraphics, kMpsCompute };

struct NvmlProcess {
  unsigned pid = 0;
  Reading<unsigned long long> used_bytes = absent(NVML_ERROR_NOT_SUPPORTED);
  Reading<unsigned> gpu_instance = absent(NVML_ERROR_NOT_SUPPORTED);      // on a GPU in MIG mode
  Reading<unsigned> compute_instance = absent(NVML_ERROR_NOT_SUPPORTED);  // on a GPU in MIG mode
};

class Gpu {
 public:
  // `runner` carries the GPU's own worker. `handle` may be absent: then every reading is, for the same
  // reason.
  Gpu(nvml::Runner runner, unsigned index, Reading<nvmlDevice_t> handle);

  // NVML's index, which may change from boot to boot. Of a MIG device: its index on its parent.
  unsigned index() const { return index_; }
  const Reading<nvmlDevice_t>& handle() const { return handle_; }
  // A call missed its deadline and has not returned: readings are refused at once as kTimedOut until it does.
  bool stuck() const { return runner_.worker()->stuck(); }

  // Any call whose parameters are the device, the inputs given here, and then only outputs. No output:
  // Reading<void> (a setting). One: Reading<T>. Several: Reading<std::tuple<…>>.
  template <class... P, class... In>
  auto read(const nvml::Call<nvmlReturn_t(nvmlDevice_t, P...)>& call, In... in) const {
    using Tuple = typename nvml::Outputs<sizeof...(In), P...>::Tuple;
    return nvml::unwrap<Tuple>(run<Tuple>(call, [=](auto* function, nvmlDevice_t device, Tuple& outputs) {
      return std::apply([&](auto&... output) { return function(device, in..., &output...); }, outputs);
    }));
  }

  // (device, inputs…, char* text, unsigned length)
  template <class... P, class... In>
  Reading<std::string> text(const nvml::Call<nvmlReturn_t(nvmlDevice_t, P...)>& call, In... in) const {
    using Buffer = std::array<char, 256>;  // NVML's longest documented text has 96
    auto read = run<Buffer>(call, [=](auto* function, nvmlDevice_t device, Buffer& buffer) {
      return function(device, in..., buffer.data(), static_cast<unsigned>(buffer.size()));
    });
    if (!read) return tl::unexpected<Absence>(read.error());
    return std::string(read->data(), strnlen(read->data(), read->size()));
  }

  // (device, struct*): a struct that carries a version or inputs; the filled copy comes back.
  template <class Struct>
  Reading<Struct> fill(const nvml::Call<nvmlReturn_t(nvmlDevice_t, Struct*)>& call, Struct request) const {
    return run<Struct>(call, [request](auto* function, nvmlDevice_t device, Struct& answer) {
      answer = request;
      return function(device, &answer);
    });
  }

  // (device, inputs…, unsigned* count, T* items): asked with growing room until all fits.
  template <class... P, class... In>
  auto list(const nvml::Call<nvmlReturn_t(nvmlDevice_t, P...)>& call, In... in) const {
    using Items = std::tuple_element_t<sizeof...(P) - 1, std::tuple<P...>>;
    using List = std::vector<std::remove_pointer_t<Items>>;
    return run<List>(call, [=](auto* function, nvmlDevice_t device, List& items) {
      return grow(items, [&](unsigned* count, auto* room) { return function(device, in..., count, room); });
    });
  }

  // Any other shape: body(Function*, nvmlDevice_t, T&) → nvmlReturn_t. It must own what it needs.
  template <class T, class Function, class Body>
  Reading<T> run(const nvml::Call<Function>& call, Body body) const {
    if (!handle_) return tl::unexpected<Absence>(handle_.error());
    return runner_.run<T>(call,
                          [body = std::move(body), device = *handle_](Function* function, T& value) mutable {
                            return body(function, device, value);
                          });
  }

  // One answer per field, in order; a field that fails is absent alone.
  std::vector<Reading<NvmlFieldValue>> fields(std::span<const NvmlField> wanted) const;
  Reading<NvmlFieldValue> field(NvmlField wanted) const;

  Reading<NvmlMemory> memory() const;  // _v2, else the first version
  Reading<nvmlPciInfo_t> pci()
      const;  // _v3, _v2, first; busId is filled from busIdLegacy where only that is known
  Reading<std::vector<NvmlProcess>> processes(ProcessKind kind) const;  // _v3, _v2, first
  Reading<std::vector<nvmlProcessUtilizationSample_t>> process_utilization(unsigned long long since_us) const;
  Reading<std::string> gsp_firmware_version() const;

  // MIG. The children in order of their index; empty where MIG is off; absent where MIG is not supported.
  Reading<std::vector<Gpu>> mig_devices() const;
  Reading<bool> is_mig_device() const;

  const nvml::Runner& runner() const { return runner_; }

 private:
  // Calls ask(count, items) with room for more until it no longer answers INSUFFICIENT_SIZE.
  template <class T, class Ask>
  static nvmlReturn_t grow(std::vector<T>& items, Ask ask) {
    unsigned count = 0;
    nvmlReturn_t code = ask(&count, static_cast<T*>(nullptr));
    for (int tries = 0; code == NVML_ERROR_INSUFFICIENT_SIZE && tries < 4; ++tries) {
      count += 8;  // others may have started meanwhile
      items.assign(count, T{});
      code = ask(&count, items.data());
    }
    items.resize(code == NVML_SUCCESS ? std::min<size_t>(count, items.size()) : 0);
    return code;
  }

  nvml::Runner runner_;
  unsigned index_;
  Reading<nvmlDevice_t> handle_;
};

}  // namespace pagoda::driver
