// MIG: the mode, profiles, GPU instances, compute instances and the devices that they make.
#include <nvml.h>

#include <algorithm>
#include <cstring>

#include "base/format.h"
#include "simulate/abi/mig_instances.h"
#include "simulate/abi/reply.h"

using namespace pagoda::simulate;

namespace {

Reply whole_gpu(const char* function, nvmlDevice_t device) {
  Reply reply(function, device);
  if (!reply.failed()) reply.require(!reply.device().is_mig());
  return reply;
}

// The reply of a call on an instance is its GPU's.
template <class Handle>
Reply instance_reply(const char* function, Handle handle, const Instance*& instance) {
  instance = find_instance(handle);
  if (instance == nullptr) return Reply(function).fail(NVML_ERROR_INVALID_ARGUMENT);
  return Reply(function, Session::instance().handle(instance->gpu));
}

template <class Info>
void put_profile(const Row& profile, Info& info) {
  info.id = profile.number("id");
  info.sliceCount = profile.number("slices");
  info.instanceCount = profile.number("instances");
  info.multiprocessorCount = profile.number("sm_count");
  info.copyEngineCount = profile.number("copy_engines");
  info.decoderCount = profile.number("decoders");
  info.encoderCount = profile.number("encoders");
  info.jpegCount = profile.number("jpegs");
  info.ofaCount = profile.number("ofas");
  info.memorySizeMB = profile.number("memory_mib");
  if constexpr (requires { info.isP2pSupported; }) info.isP2pSupported = profile.number("p2p");
  if constexpr (requires { info.capabilities; }) info.capabilities = profile.number("capabilities");
  if constexpr (requires { info.name; })
    std::snprintf(info.name, sizeof info.name, "%s", profile.text("name").c_str());
}

nvmlReturn_t gpu_profile(Reply reply, std::string_view field, unsigned value,
                         nvmlGpuInstanceProfileInfo_v2_t* info) {
  reply.require(is_version(info, {nvmlGpuInstanceProfileInfo_v2, nvmlGpuInstanceProfileInfo_v3}),
                NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
  if (reply.failed()) return reply;
  const auto profile = row_where(reply, "mig.gpu_profiles", field, value);
  if (!profile) return NVML_ERROR_NOT_SUPPORTED;
  if (info->version == nvmlGpuInstanceProfileInfo_v2) {
    put_profile(*profile, *info);
  } else {
    put_profile(*profile, *reinterpret_cast<nvmlGpuInstanceProfileInfo_v3_t*>(info));
  }
  return NVML_SUCCESS;
}

template <class Info>
nvmlReturn_t compute_profile_info(Reply& reply, const Instance& instance, unsigned profile, Info& info) {
  const auto wanted = compute_profile(profile);
  const auto row = row_where(reply, "mig.gpu_instances", "id", instance.id);
  const auto gpu = row ? row_where(reply, "mig.gpu_profiles", "id", row->number("profile_id")) : std::nullopt;
  if (!gpu || !wanted || wanted->slices > gpu->number("slices")) return NVML_ERROR_NOT_SUPPORTED;
  const unsigned slices = std::max(1u, gpu->number("slices"));
  info.id = profile;
  info.sliceCount = wanted->slices;
  info.instanceCount = slices / wanted->slices;
  info.multiprocessorCount = gpu->number("sm_count") * wanted->slices / slices;
  info.sharedCopyEngineCount = gpu->number("copy_engines");
  info.sharedDecoderCount = gpu->number("decoders");
  info.sharedEncoderCount = gpu->number("encoders");
  info.sharedJpegCount = gpu->number("jpegs");
  info.sharedOfaCount = gpu->number("ofas");
  if constexpr (requires { info.capabilities; }) info.capabilities = 0;
  if constexpr (requires { info.name; }) {
    std::string name = gpu->text("name");
    if (wanted->slices < slices && name.starts_with("MIG "))
      name = pagoda::format("MIG {}c.{}", wanted->slices, name.substr(4));
    std::snprintf(info.name, sizeof info.name, "%s", name.c_str());
  }
  return NVML_SUCCESS;
}

}  // namespace

PAGODA_SIMULATED_PAIR(nvmlDeviceGetMigMode, unsigned, "mig.current", "mig.pending")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetMaxMigDeviceCount, unsigned, "mig.max_devices")

// At once where nothing runs; else it is pending until the GPU is reset.
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceSetMigMode(nvmlDevice_t device, unsigned mode,
                                                     nvmlReturn_t* activation) {
  Reply reply = whole_gpu("nvmlDeviceSetMigMode", device);
  reply.require(mode <= 1 && activation != nullptr);
  if (reply.failed()) return reply;
  if (reply.get("mig.current").code != NVML_SUCCESS) return NVML_ERROR_NOT_SUPPORTED;
  const bool busy = !rows_of(reply, "processes").empty();
  *activation = busy && mode != static_cast<unsigned>(reply.number_or("mig.current", 0)) ? NVML_ERROR_IN_USE
                                                                                         : NVML_SUCCESS;
  if (busy) return reply.set("mig.pending", mode);
  const Value none = Value::of_list({});
  return reply.set({{"mig.current", Value::of(mode)},
                    {"mig.pending", Value::of(mode)},
                    {"mig.gpu_instances", none},
                    {"mig.compute_instances", none},
                    {"mig.devices", none}});
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, unsigned* is_mig) {
  Reply reply("nvmlDeviceIsMigDeviceHandle", device);
  if (!reply.require(is_mig != nullptr).failed()) *is_mig = reply.device().is_mig() ? 1 : 0;
  return reply;
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetGpuInstanceId(nvmlDevice_t device, unsigned* id) {
  return Reply("nvmlDeviceGetGpuInstanceId", device)
      .require(Session::instance().find(device) == nullptr || Session::instance().find(device)->is_mig())
      .put("gpu_instance", id);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetComputeInstanceId(nvmlDevice_t device, unsigned* id) {
  return Reply("nvmlDeviceGetComputeInstanceId", device)
      .require(Session::instance().find(device) == nullptr || Session::instance().find(device)->is_mig())
      .put("compute_instance", id);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device, unsigned index,
                                                                    nvmlDevice_t* mig) {
  Reply reply = whole_gpu("nvmlDeviceGetMigDeviceHandleByIndex", device);
  if (reply.require(mig != nullptr).failed()) return reply;
  if (reply.number_or("mig.current", 0) == 0) return NVML_ERROR_NOT_FOUND;
  reply.require(index < static_cast<unsigned>(reply.number_or("mig.max_devices", 0)));
  reply.require(index < rows_of(reply, "mig.devices").size(), NVML_ERROR_NOT_FOUND);
  if (!reply.failed()) *mig = Session::instance().handle(reply.device().gpu, static_cast<int>(index));
  return reply;
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t mig,
                                                                             nvmlDevice_t* device) {
  Reply reply("nvmlDeviceGetDeviceHandleFromMigDeviceHandle", mig);
  if (reply.require(device != nullptr).failed()) return reply;
  if (!reply.require(reply.device().is_mig()).failed())
    *device = Session::instance().handle(reply.device().gpu);
  return reply;
}

namespace {

nvmlReturn_t attributes(const char* function, nvmlDevice_t device, nvmlDeviceAttributes_t* out) {
  Reply reply(function, device);
  if (reply.require(out != nullptr).failed()) return reply;
  if (reply.require(reply.device().is_mig(), NVML_ERROR_NOT_SUPPORTED).failed()) return reply;
  return reply.put("sm_count", &out->multiprocessorCount)
      .put_or("copy_engines", 0, &out->sharedCopyEngineCount)
      .put_or("decoders", 0, &out->sharedDecoderCount)
      .put_or("encoders", 0, &out->sharedEncoderCount)
      .put_or("jpegs", 0, &out->sharedJpegCount)
      .put_or("ofas", 0, &out->sharedOfaCount)
      .put_or("gpu_slices", 0, &out->gpuInstanceSliceCount)
      .put_or("compute_slices", 0, &out->computeInstanceSliceCount)
      .put_or("memory_mib", 0, &out->memorySizeMB);
}

}  // namespace

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetAttributes_v2(nvmlDevice_t device, nvmlDeviceAttributes_t* out) {
  return attributes("nvmlDeviceGetAttributes_v2", device, out);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetAttributes(nvmlDevice_t device, nvmlDeviceAttributes_t* out) {
  return attributes("nvmlDeviceGetAttributes", device, out);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetGpuInstanceProfileInfo(nvmlDevice_t device, unsigned profile,
                                                                    nvmlGpuInstanceProfileInfo_t* info) {
  Reply reply = whole_gpu("nvmlDeviceGetGpuInstanceProfileInfo", device);
  if (reply.require(info != nullptr).require(profile < NVML_GPU_INSTANCE_PROFILE_COUNT).failed())
    return reply;
  const auto row = row_where(reply, "mig.gpu_profiles", "profile", profile);
  if (!row) return NVML_ERROR_NOT_SUPPORTED;
  put_profile(*row, *info);
  return NVML_SUCCESS;
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetGpuInstanceProfileInfoV(nvmlDevice_t device, unsigned profile,
                                                                     nvmlGpuInstanceProfileInfo_v2_t* info) {
  Reply reply = whole_gpu("nvmlDeviceGetGpuInstanceProfileInfoV", device);
  return gpu_profile(reply.require(profile < NVML_GPU_INSTANCE_PROFILE_COUNT), "profile", profile, info);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetGpuInstanceProfileInfoByIdV(
    nvmlDevice_t device, unsigned id, nvmlGpuInstanceProfileInfo_v2_t* info) {
  return gpu_profile(whole_gpu("nvmlDeviceGetGpuInstanceProfileInfoByIdV", device), "id", id, info);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetGpuInstanceRemainingCapacity(nvmlDevice_t device,
                                                                          unsigned profile_id,
                                                                          unsigned* count) {
  Reply reply = whole_gpu("nvmlDeviceGetGpuInstanceRemainingCapacity", device);
  if (reply.require(count != nullptr).failed()) return reply;
  const auto profile = row_where(reply, "mig.gpu_profiles", "id", profile_id);
  if (!profile) return NVML_ERROR_NOT_SUPPORTED;
  *count = 0;
  // Placements may overlap: what fits is counted one behind the other.
  unsigned end = 0;
  for (const unsigned start : free_starts(reply, *profile)) {
    if (start < end) continue;
    ++*count;
    end = start + profile->number("placement_size");
  }
  *count = std::min(*count, profile->number("instances"));
  return NVML_SUCCESS;
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetGpuInstancePossiblePlacements_v2(
    nvmlDevice_t device, unsigned profile_id, nvmlGpuInstancePlacement_t* placements, unsigned* count) {
  Reply reply = whole_gpu("nvmlDeviceGetGpuInstancePossiblePlacements_v2", device);
  if (reply.require(count != nullptr).failed()) return reply;
  const auto profile = row_where(reply, "mig.gpu_profiles", "id", profile_id);
  if (!profile) return NVML_ERROR_NOT_SUPPORTED;
  std::vector<nvmlGpuInstancePlacement_t> all;
  for (unsigned i = 0; i < profile->number("placement_count"); ++i)
    all.push_back({i * std::max(1u, profile->number("placement_step")), profile->number("placement_size")});
  if (placements == nullptr) {
    *count = static_cast<unsigned>(all.size());
    return NVML_SUCCESS;
  }
  return hand_out(all, count, placements);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetGpuInstancePossiblePlacements(
    nvmlDevice_t device, unsigned profile_id, nvmlGpuInstancePlacement_t* placements, unsigned* count) {
  return nvmlDeviceGetGpuInstancePossiblePlacements_v2(device, profile_id, placements, count);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceCreateGpuInstance(nvmlDevice_t device, unsigned profile_id,
                                                            nvmlGpuInstance_t* made) {
  Reply reply = whole_gpu("nvmlDeviceCreateGpuInstance", device);
  if (reply.require(made != nullptr).failed()) return reply;
  Instance instance;
  const nvmlReturn_t code = create_gpu_instance(reply, profile_id, std::nullopt, instance);
  if (code == NVML_SUCCESS) *made = gpu_instance_handle(instance);
  return code;
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceCreateGpuInstanceWithPlacement(
    nvmlDevice_t device, unsigned profile_id, const nvmlGpuInstancePlacement_t* placement,
    nvmlGpuInstance_t* made) {
  Reply reply = whole_gpu("nvmlDeviceCreateGpuInstanceWithPlacement", device);
  if (reply.require(made != nullptr && placement != nullptr).failed()) return reply;
  Instance instance;
  const nvmlReturn_t code = create_gpu_instance(reply, profile_id, placement->start, instance);
  if (code == NVML_SUCCESS) *made = gpu_instance_handle(instance);
  return code;
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlGpuInstanceDestroy(nvmlGpuInstance_t handle) {
  const Instance* instance = nullptr;
  Reply reply = instance_reply("nvmlGpuInstanceDestroy", handle, instance);
  return reply.failed() ? nvmlReturn_t(reply) : destroy_gpu_instance(reply, instance->id);
}
// The profile's instances; here the count comes last, and the array has room for them all.
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetGpuInstances(nvmlDevice_t device, unsigned profile_id,
                                                          nvmlGpuInstance_t* instances, unsigned* count) {
  Reply reply = whole_gpu("nvmlDeviceGetGpuInstances", device);
  if (reply.require(instances != nullptr && count != nullptr).failed()) return reply;
  if (reply.require(reply.number_or("mig.current", 0) != 0, NVML_ERROR_NOT_SUPPORTED).failed()) return reply;
  if (!row_where(reply, "mig.gpu_profiles", "id", profile_id)) return NVML_ERROR_NOT_SUPPORTED;
  *count = 0;
  for (const Row& row : rows_of(reply, "mig.gpu_instances")) {
    if (row.number("profile_id") == profile_id)
      instances[(*count)++] = gpu_instance_handle({reply.device().gpu, row.number("id"), Instance::kNone});
  }
  return NVML_SUCCESS;
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetGpuInstanceById(nvmlDevice_t device, unsigned id,
                                                             nvmlGpuInstance_t* instance) {
  Reply reply = whole_gpu("nvmlDeviceGetGpuInstanceById", device);
  if (reply.require(instance != nullptr).failed()) return reply;
  if (!row_where(reply, "mig.gpu_instances", "id", id)) return NVML_ERROR_NOT_FOUND;
  *instance = gpu_instance_handle({reply.device().gpu, id, Instance::kNone});
  return NVML_SUCCESS;
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlGpuInstanceGetInfo(nvmlGpuInstance_t handle,
                                                       nvmlGpuInstanceInfo_t* info) {
  const Instance* instance = nullptr;
  Reply reply = instance_reply("nvmlGpuInstanceGetInfo", handle, instance);
  if (reply.require(info != nullptr).failed()) return reply;
  const auto row = row_where(reply, "mig.gpu_instances", "id", instance->id);
  if (!row) return NVML_ERROR_NOT_FOUND;
  *info = {Session::instance().handle(instance->gpu),
           instance->id,
           row->number("profile_id"),
           {row->number("start"), row->number("size")}};
  return NVML_SUCCESS;
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlGpuInstanceGetComputeInstanceProfileInfo(
    nvmlGpuInstance_t handle, unsigned profile, unsigned engine_profile,
    nvmlComputeInstanceProfileInfo_t* info) {
  const Instance* instance = nullptr;
  Reply reply = instance_reply("nvmlGpuInstanceGetComputeInstanceProfileInfo", handle, instance);
  if (reply.require(info != nullptr && engine_profile == NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED)
          .failed())
    return reply;
  return compute_profile_info(reply, *instance, profile, *info);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlGpuInstanceGetComputeInstanceProfileInfoV(
    nvmlGpuInstance_t handle, unsigned profile, unsigned engine_profile,
    nvmlComputeInstanceProfileInfo_v2_t* info) {
  const Instance* instance = nullptr;
  Reply reply = instance_reply("nvmlGpuInstanceGetComputeInstanceProfileInfoV", handle, instance);
  reply.require(engine_profile == NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED);
  reply.require(is_version(info, {nvmlComputeInstanceProfileInfo_v2, nvmlComputeInstanceProfileInfo_v3}),
                NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
  if (reply.failed()) return reply;
  if (info->version == nvmlComputeInstanceProfileInfo_v2)
    return compute_profile_info(reply, *instance, profile, *info);
  return compute_profile_info(reply, *instance, profile,
                              *reinterpret_cast<nvmlComputeInstanceProfileInfo_v3_t*>(info));
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlGpuInstanceGetComputeInstanceRemainingCapacity(nvmlGpuInstance_t handle,
                                                                                   unsigned profile_id,
                                                                                   unsigned* count) {
  const Instance* instance = nullptr;
  Reply reply = instance_reply("nvmlGpuInstanceGetComputeInstanceRemainingCapacity", handle, instance);
  if (reply.require(count != nullptr).failed()) return reply;
  const auto profile = compute_profile(profile_id);
  if (!profile) return NVML_ERROR_NOT_SUPPORTED;
  *count = compute_slices_left(reply, instance->id) / profile->slices;
  return NVML_SUCCESS;
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlGpuInstanceCreateComputeInstance(nvmlGpuInstance_t handle,
                                                                     unsigned profile_id,
                                                                     nvmlComputeInstance_t* made) {
  const Instance* instance = nullptr;
  Reply reply = instance_reply("nvmlGpuInstanceCreateComputeInstance", handle, instance);
  if (reply.require(made != nullptr).failed()) return reply;
  Instance created;
  const nvmlReturn_t code = create_compute_instance(reply, instance->id, profile_id, created);
  if (code == NVML_SUCCESS) *made = compute_instance_handle(created);
  return code;
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlComputeInstanceDestroy(nvmlComputeInstance_t handle) {
  const Instance* instance = nullptr;
  Reply reply = instance_reply("nvmlComputeInstanceDestroy", handle, instance);
  return reply.failed() ? nvmlReturn_t(reply)
                        : destroy_compute_instance(reply, instance->id, instance->compute);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlGpuInstanceGetComputeInstances(nvmlGpuInstance_t handle,
                                                                   unsigned profile_id,
                                                                   nvmlComputeInstance_t* instances,
                                                                   unsigned* count) {
  const Instance* instance = nullptr;
  Reply reply = instance_reply("nvmlGpuInstanceGetComputeInstances", handle, instance);
  if (reply.require(instances != nullptr && count != nullptr).failed()) return reply;
  *count = 0;
  for (const Row& row : rows_of(reply, "mig.compute_instances")) {
    if (row.number("gpu_instance") == instance->id && row.number("profile_id") == profile_id)
      instances[(*count)++] = compute_instance_handle({instance->gpu, instance->id, row.number("id")});
  }
  return NVML_SUCCESS;
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlGpuInstanceGetComputeInstanceById(nvmlGpuInstance_t handle, unsigned id,
                                                                      nvmlComputeInstance_t* made) {
  const Instance* instance = nullptr;
  Reply reply = instance_reply("nvmlGpuInstanceGetComputeInstanceById", handle, instance);
  if (reply.require(made != nullptr).failed()) return reply;
  for (const Row& row : rows_of(reply, "mig.compute_instances")) {
    if (row.number("gpu_instance") != instance->id || row.number("id") != id) continue;
    *made = compute_instance_handle({instance->gpu, instance->id, id});
    return NVML_SUCCESS;
  }
  return NVML_ERROR_NOT_FOUND;
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlComputeInstanceGetInfo_v2(nvmlComputeInstance_t handle,
                                                              nvmlComputeInstanceInfo_t* info) {
  const Instance* instance = nullptr;
  Reply reply = instance_reply("nvmlComputeInstanceGetInfo_v2", handle, instance);
  if (reply.require(info != nullptr).failed()) return reply;
  for (const Row& row : rows_of(reply, "mig.compute_instances")) {
    if (row.number("gpu_instance") != instance->id || row.number("id") != instance->compute) continue;
    *info = {Session::instance().handle(instance->gpu),
             gpu_instance_handle({instance->gpu, instance->id, Instance::kNone}),
             instance->compute,
             row.number("profile_id"),
             {row.number("start"), row.number("size")}};
    return NVML_SUCCESS;
  }
  return NVML_ERROR_NOT_FOUND;
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlComputeInstanceGetInfo(nvmlComputeInstance_t handle,
                                                           nvmlComputeInstanceInfo_t* info) {
  return nvmlComputeInstanceGetInfo_v2(handle, info);
}
