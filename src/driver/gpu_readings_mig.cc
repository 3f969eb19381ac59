// MIG devices, and the profiles and instances behind them.
#include <map>

#include "driver/gpu_section_readers.h"

namespace pagoda::driver {
namespace {

// "NVIDIA H100 80GB HBM3 MIG 3g.40gb" → "3g.40gb".
std::string profile_in(const std::string& name) {
  const size_t mig = name.rfind("MIG ");
  return mig == std::string::npos ? name : name.substr(mig + 4);
}

MigDevice read_device(const Gpu& gpu) {
  MigDevice out;
  out.index = gpu.index();
  out.name = gpu.text(nvml::kDeviceGetName).map(profile_in);
  out.uuid = gpu.text(nvml::kDeviceGetUUID);
  out.gpu_instance = gpu.read(nvml::kDeviceGetGpuInstanceId);
  out.compute_instance = gpu.read(nvml::kDeviceGetComputeInstanceId);
  using Attributes = nvmlDeviceAttributes_t;
  const auto attributes = gpu.read(nvml::kDeviceGetAttributes_v2);
  out.multiprocessors = number_of(attributes, &Attributes::multiprocessorCount);
  out.copy_engines = number_of(attributes, &Attributes::sharedCopyEngineCount);
  out.encoders = number_of(attributes, &Attributes::sharedEncoderCount);
  out.decoders = number_of(attributes, &Attributes::sharedDecoderCount);
  out.ofas = number_of(attributes, &Attributes::sharedOfaCount);
  out.jpegs = number_of(attributes, &Attributes::sharedJpegCount);
  GpuSnapshot memory;
  read_memory(gpu, memory);
  out.memory = memory.memory;
  out.bar1 = memory.bar1;
  out.sram_uncorrected =
      as_count(gpu.read(nvml::kDeviceGetMemoryErrorCounter, NVML_MEMORY_ERROR_TYPE_UNCORRECTED,
                        NVML_VOLATILE_ECC, NVML_MEMORY_LOCATION_SRAM));
  return out;
}

Reading<MigProfile> read_profile(const Gpu& gpu, unsigned number) {
  using Info = nvmlGpuInstanceProfileInfo_v3_t;
  const auto info = gpu.run<Info>(
      nvml::kDeviceGetGpuInstanceProfileInfoV, [number](auto* function, nvmlDevice_t device, Info& answer) {
        answer.version = nvmlGpuInstanceProfileInfo_v3;
        return function(device, number, reinterpret_cast<nvmlGpuInstanceProfileInfo_v2_t*>(&answer));
      });
  if (!info) return tl::unexpected<Absence>(info.error());
  MigProfile out;
  out.id = info->id;
  out.name = profile_in(info->name);
  out.total = info->instanceCount;
  const auto free = gpu.read(nvml::kDeviceGetGpuInstanceRemainingCapacity, info->id);
  out.free = free ? *free : 0;
  out.memory_gib = static_cast<double>(info->memorySizeMB) / 1024;
  out.peer_to_peer = (info->capabilities & NVML_GPU_INSTANCE_PROFILE_CAPS_P2P) != 0;
  out.multiprocessors = info->multiprocessorCount;
  out.copy_engines = info->copyEngineCount;
  out.encoders = info->encoderCount;
  out.decoders = info->decoderCount;
  out.ofas = info->ofaCount;
  out.jpegs = info->jpegCount;
  return out;
}

struct Instances {
  std::vector<MigInstance> gpu, compute;
};

std::vector<nvmlComputeInstance_t> compute_handles(const Gpu& gpu, nvmlGpuInstance_t parent,
                                                   unsigned profile) {
  using List = std::vector<nvmlComputeInstance_t>;
  const auto handles =
      gpu.run<List>(nvml::kGpuInstanceGetComputeInstances, [=](auto* function, nvmlDevice_t, List& list) {
        constexpr unsigned kMost = 8;  // a GPU instance has at most as many slices
        list.resize(kMost);
        unsigned count = kMost;
        const nvmlReturn_t code = function(parent, profile, list.data(), &count);
        list.resize(code == NVML_SUCCESS ? count : 0);
        return code;
      });
  return handles ? *handles : List{};
}

void add_compute_instances(const Gpu& gpu, nvmlGpuInstance_t handle, const MigInstance& parent,
                           Instances& out) {
  for (unsigned number = 0; number < NVML_COMPUTE_INSTANCE_PROFILE_COUNT; ++number) {
    using Info = nvmlComputeInstanceProfileInfo_t;
    const auto profile = gpu.run<Info>(
        nvml::kGpuInstanceGetComputeInstanceProfileInfo, [=](auto* function, nvmlDevice_t, Info& info) {
          return function(handle, number, NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED, &info);
        });
    if (!profile) continue;
    for (const nvmlComputeInstance_t compute : compute_handles(gpu, handle, profile->id)) {
      const auto info = gpu.run<nvmlComputeInstanceInfo_t>(
          nvml::kComputeInstanceGetInfo_v2,
          [=](auto* function, nvmlDevice_t, nvmlComputeInstanceInfo_t& answer) {
            return function(compute, &answer);
          });
      if (!info) continue;
      out.compute.push_back({info->id, info->profileId, info->placement.start, info->placement.size,
                             parent.profile_name, parent.id});
    }
  }
}

void add_gpu_instances(const Gpu& gpu, const MigProfile& profile, Instances& out) {
  using List = std::vector<nvmlGpuInstance_t>;
  const auto handles = gpu.run<List>(
      nvml::kDeviceGetGpuInstances,
      [id = profile.id, total = profile.total](auto* function, nvmlDevice_t device, List& list) {
        list.resize(total);
        unsigned count = total;
        const nvmlReturn_t code = function(device, id, list.data(), &count);
        list.resize(code == NVML_SUCCESS ? count : 0);
        return code;
      });
  if (!handles) return;
  for (const nvmlGpuInstance_t handle : *handles) {
    const auto info = gpu.run<nvmlGpuInstanceInfo_t>(
        nvml::kGpuInstanceGetInfo, [=](auto* function, nvmlDevice_t, nvmlGpuInstanceInfo_t& answer) {
          return function(handle, &answer);
        });
    if (!info) continue;
    out.gpu.push_back(
        {info->id, info->profileId, info->placement.start, info->placement.size, profile.name, 0});
    add_compute_instances(gpu, handle, out.gpu.back(), out);
  }
}

}  // namespace

void read_mig(const Gpu& gpu, GpuSnapshot& out) {
  const auto devices = gpu.mig_devices();
  if (!devices) return;
  for (const Gpu& device : *devices) out.mig.devices.push_back(read_device(device));
}

void read_mig_profiles(const Gpu& gpu, GpuSnapshot& out) {
  std::vector<MigProfile> profiles;
  Absence why = absence_of(NVML_ERROR_NOT_SUPPORTED);
  for (unsigned number = 0; number < NVML_GPU_INSTANCE_PROFILE_COUNT; ++number) {
    auto profile = read_profile(gpu, number);
    if (profile) {
      profiles.push_back(std::move(*profile));
    } else {
      why = profile.error();
    }
  }
  if (profiles.empty()) {
    out.mig.profiles = tl::unexpected<Absence>(why);
    out.mig.gpu_instances = tl::unexpected<Absence>(why);
    out.mig.compute_instances = tl::unexpected<Absence>(why);
    return;
  }
  Instances instances;
  for (const MigProfile& profile : profiles) add_gpu_instances(gpu, profile, instances);
  out.mig.gpu_instances = std::move(instances.gpu);
  out.mig.compute_instances = std::move(instances.compute);
  out.mig.profiles = std::move(profiles);
}

}  // namespace pagoda::driver
