#include "container/gpu_search.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>

#include "base/format.h"
#include "driver/driver_libraries.h"

namespace pagoda::container {
namespace {

// A driver that hangs must not hang every container that starts: after this the module's files are read.
constexpr std::chrono::milliseconds kOpenDeadline{20000};

// NVML's "00000000:3B:00.0" as sysfs writes it: "0000:3b:00.0".
std::string sysfs_address(std::string_view bus_id) {
  const size_t colon = bus_id.find(':');
  if (colon == std::string_view::npos) return std::string(bus_id);
  unsigned domain = 0;
  std::from_chars(bus_id.data(), bus_id.data() + colon, domain, 16);
  std::string rest(bus_id.substr(colon));
  std::transform(rest.begin(), rest.end(), rest.begin(), [](unsigned char c) { return std::tolower(c); });
  return format("{:04x}{}", domain, rest);
}

std::vector<MigDevice> migs_in_nvml(const driver::Gpu& gpu) {
  namespace nvml = driver::nvml;
  std::vector<MigDevice> migs;
  const auto devices = gpu.mig_devices();
  if (!devices) return migs;
  for (const driver::Gpu& device : *devices) {
    const auto gpu_instance = device.read(nvml::kDeviceGetGpuInstanceId);
    const auto compute_instance = device.read(nvml::kDeviceGetComputeInstanceId);
    if (!gpu_instance || !compute_instance) continue;
    MigDevice mig;
    mig.index = static_cast<int>(device.index());
    mig.gpu_instance = static_cast<int>(*gpu_instance);
    mig.compute_instance = static_cast<int>(*compute_instance);
    mig.uuid = device.text(nvml::kDeviceGetUUID).value_or("");
    const std::string name = device.text(nvml::kDeviceGetName).value_or("");
    constexpr std::string_view kMark = "MIG ";
    if (const size_t at = name.rfind(kMark); at != std::string::npos)
      mig.profile = name.substr(at + kMark.size());
    migs.push_back(std::move(mig));
  }
  return migs;
}

bool named_by_environment() {
  const char* library = std::getenv("PAGODA_NVML_LIBRARY");
  return library != nullptr && *library != '\0';
}

// The library to load; empty: the one that NvmlLibrary finds by itself.
Result<std::string> library_of(const driver::HostRoot& driver_root) {
  if (named_by_environment() || driver_root.is_this_machine()) return std::string();
  const auto library = driver::library_in_use(driver_root, "libnvidia-ml.so.1");
  if (!library)
    return fail(ErrorCode::kNotFound, format("no libnvidia-ml.so.1 under {}", driver_root.folder()));
  return driver_root.outside(library->path);
}

}  // namespace

Result<driver::Nvml> open_nvml(const driver::HostRoot& driver_root) {
  driver::NvmlOptions options;
  options.open_deadline = kOpenDeadline;
  PAGODA_ASSIGN(options.library, library_of(driver_root));
  auto nvml = driver::Nvml::open(options);
  if (!nvml) return fail(ErrorCode::kUnavailable, nvml.error().message);
  return *nvml;
}

std::vector<GpuDevice> gpus_in_nvml(const driver::Nvml& nvml,
                                    const std::vector<const driver::HostRoot*>& capabilities) {
  std::vector<GpuDevice> gpus;
  for (const driver::Gpu& gpu : nvml.gpus()) {
    const auto uuid = gpu.text(driver::nvml::kDeviceGetUUID);
    const auto minor = gpu.read(driver::nvml::kDeviceGetMinorNumber);
    if (!uuid || !minor) continue;  // lost, or hanging: no container could use it
    GpuDevice device;
    device.index = static_cast<int>(gpu.index());
    device.minor = static_cast<int>(*minor);
    device.uuid = *uuid;
    if (const auto pci = gpu.pci()) device.pci_address = sysfs_address(pci->busId);
    device.name = gpu.text(driver::nvml::kDeviceGetName).value_or("");
    const auto mode = gpu.read(driver::nvml::kDeviceGetMigMode);
    device.mig_mode = mode && std::get<0>(*mode) == NVML_DEVICE_MIG_ENABLE;
    if (device.mig_mode) device.migs = migs_in_nvml(gpu);
    for (const driver::HostRoot* root : capabilities) add_capability_minors(*root, device);
    gpus.push_back(std::move(device));
  }
  return gpus;
}

Result<FoundGpus> find_gpus(const driver::HostRoot& host, const driver::HostRoot& driver_root,
                            GpuSource source) {
  FoundGpus found;
  const bool demanded = source == GpuSource::kNvml || named_by_environment();
  if (source == GpuSource::kModuleFiles) {
    found.nvml_fault = "not asked";
  } else if (demanded || host.is_this_machine()) {
    const auto nvml = open_nvml(driver_root);
    if (nvml) {
      found.gpus = gpus_in_nvml(*nvml, {&host, &driver_root});
      return found;
    }
    if (demanded) return Unexpected(nvml.error());
    found.nvml_fault = nvml.error().message;
  } else {
    found.nvml_fault = format("{} is another machine's tree", host.folder());
  }
  found.gpus = gpus_in_proc(host);
  if (found.gpus.empty()) found.gpus = gpus_in_proc(driver_root);
  return found;
}

}  // namespace pagoda::container
