#include "driver/nvml_gpu.h"

#include <algorithm>

namespace pagoda::driver {
namespace {

// The value as T, whatever the type in which NVML gave it.
template <class T>
T convert(const NvmlFieldValue& field) {
  switch (field.type) {
    case NVML_VALUE_TYPE_DOUBLE:
      return static_cast<T>(field.value.dVal);
    case NVML_VALUE_TYPE_UNSIGNED_INT:
      return static_cast<T>(field.value.uiVal);
    case NVML_VALUE_TYPE_UNSIGNED_LONG:
      return static_cast<T>(field.value.ulVal);
    case NVML_VALUE_TYPE_SIGNED_LONG_LONG:
      return static_cast<T>(field.value.sllVal);
    case NVML_VALUE_TYPE_SIGNED_INT:
      return static_cast<T>(field.value.siVal);
    case NVML_VALUE_TYPE_UNSIGNED_SHORT:
      return static_cast<T>(field.value.usVal);
    default:
      return static_cast<T>(field.value.ullVal);
  }
}

}  // namespace

unsigned long long NvmlFieldValue::as_unsigned() const {
  const bool negative = (type == NVML_VALUE_TYPE_SIGNED_INT && value.siVal < 0) ||
                        (type == NVML_VALUE_TYPE_SIGNED_LONG_LONG && value.sllVal < 0) ||
                        (type == NVML_VALUE_TYPE_DOUBLE && value.dVal < 0);
  return negative ? 0 : convert<unsigned long long>(*this);
}

long long NvmlFieldValue::as_signed() const {
  return convert<long long>(*this);
}

double NvmlFieldValue::as_double() const {
  return convert<double>(*this);
}

Gpu::Gpu(nvml::Runner runner, unsigned index, Reading<nvmlDevice_t> handle)
    : runner_(std::move(runner)), index_(index), handle_(std::move(handle)) {}

std::vector<Reading<NvmlFieldValue>> Gpu::fields(std::span<const NvmlField> wanted) const {
  std::vector<nvmlFieldValue_t> request(wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    request[i].fieldId = wanted[i].id;
    request[i].scopeId = wanted[i].scope;
    request[i].nvmlReturn = NVML_ERROR_UNKNOWN;
  }
  using Values = std::vector<nvmlFieldValue_t>;
  auto values =
      run<Values>(nvml::kDeviceGetFieldValues, [request](auto* function, nvmlDevice_t device, Values& out) {
        out = request;
        return function(device, static_cast<int>(out.size()), out.data());
      });
  std::vector<Reading<NvmlFieldValue>> answers;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (!values) {
      answers.push_back(tl::unexpected<Absence>(values.error()));
    } else if ((*values)[i].nvmlReturn != NVML_SUCCESS) {
      answers.push_back(absent((*values)[i].nvmlReturn));
    } else {
      const nvmlFieldValue_t& value = (*values)[i];
      answers.push_back(NvmlFieldValue{value.valueType, value.value, value.timestamp});
    }
  }
  return answers;
}

Reading<NvmlFieldValue> Gpu::field(NvmlField wanted) const {
  return fields({&wanted, 1}).front();
}

Reading<NvmlMemory> Gpu::memory() const {
  nvmlMemory_v2_t request{};
  request.version = nvmlMemory_v2;
  const auto second = fill(nvml::kDeviceGetMemoryInfo_v2, request);
  if (second) return NvmlMemory{second->total, second->used, second->free, second->reserved};
  if (second.error().reason != AbsenceReason::kLibraryTooOld) return tl::unexpected<Absence>(second.error());
  return read(nvml::kDeviceGetMemoryInfo).map([](const nvmlMemory_t& first) {
    return NvmlMemory{first.total, first.used, first.free, absent(NVML_ERROR_FUNCTION_NOT_FOUND)};
  });
}

Reading<nvmlPciInfo_t> Gpu::pci() const {
  return read(nvml::kDeviceGetPciInfo_v3).map([](nvmlPciInfo_t pci) {
    if (pci.busId[0] == '\0') std::copy(std::begin(pci.busIdLegacy), std::end(pci.busIdLegacy), pci.busId);
    return pci;
  });
}

Reading<std::vector<nvmlProcessUtilizationSample_t>> Gpu::process_utilization(
    unsigned long long since_us) const {
  using Samples = std::vector<nvmlProcessUtilizationSample_t>;
  return run<Samples>(nvml::kDeviceGetProcessUtilization,
                      [since_us](auto* function, nvmlDevice_t device, Samples& samples) {
                        return grow(samples, [&](unsigned* count, nvmlProcessUtilizationSample_t* room) {
                          return function(device, room, count, since_us);
                        });
                      });
}

Reading<std::string> Gpu::gsp_firmware_version() const {
  using Buffer = std::array<char, NVML_GSP_FIRMWARE_VERSION_BUF_SIZE>;
  return run<Buffer>(nvml::kDeviceGetGspFirmwareVersion,
                     [](auto* function, nvmlDevice_t device, Buffer& buffer) {
                       return function(device, buffer.data());
                     })
      .map([](const Buffer& buffer) {
        return std::string(buffer.data(), strnlen(buffer.data(), buffer.size()));
      });
}

Reading<bool> Gpu::is_mig_device() const {
  return read(nvml::kDeviceIsMigDeviceHandle).map([](unsigned mig) { return mig != 0; });
}

Reading<std::vector<Gpu>> Gpu::mig_devices() const {
  const auto mode = read(nvml::kDeviceGetMigMode);
  if (!mode) return tl::unexpected<Absence>(mode.error());
  std::vector<Gpu> children;
  if (std::get<0>(*mode) != NVML_DEVICE_MIG_ENABLE) return children;
  const auto most = read(nvml::kDeviceGetMaxMigDeviceCount);
  if (!most) return tl::unexpected<Absence>(most.error());
  // Indices may have gaps: MIG devices that were destroyed leave theirs empty.
  for (unsigned index = 0; index < *most; ++index) {
    const auto handle = read(nvml::kDeviceGetMigDeviceHandleByIndex, index);
    if (handle) children.emplace_back(runner_, index, *handle);
    if (!handle && handle.error().reason != AbsenceReason::kNotFound)
      return tl::unexpected<Absence>(handle.error());
  }
  return children;
}

}  // namespace pagoda::driver
