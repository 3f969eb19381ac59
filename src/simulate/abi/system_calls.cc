// Initialisation, versions, and finding devices.
#include <nvml.h>

#include <cstdio>
#include <cstring>

#include "base/format.h"
#include "driver/nvml_reading.h"
#include "simulate/abi/pci_address.h"
#include "simulate/abi/reply.h"

using pagoda::simulate::Answer;
using pagoda::simulate::Device;
using pagoda::simulate::Record;
using pagoda::simulate::Reply;
using pagoda::simulate::Session;

namespace {

// Calls `matches` for every device, MIG devices included, and hands out the first that does.
template <class Matches>
nvmlReturn_t find_device(Reply reply, nvmlDevice_t* device, Matches matches) {
  reply.require(device != nullptr);
  if (reply.failed()) return reply;
  auto& machine = reply.machine();
  for (const unsigned gpu : Session::instance().visible()) {
    const Answer migs = machine.value({gpu, Device::kWhole}, "mig.devices");
    const int children = migs.list ? static_cast<int>(migs.list->size()) : 0;
    for (int mig = Device::kWhole; mig < children; ++mig) {
      if (!matches(Device{gpu, mig})) continue;
      const Answer lost = machine.value({gpu, Device::kWhole}, "lost");
      if (lost.number != 0) return NVML_ERROR_GPU_IS_LOST;
      *device = Session::instance().handle(gpu, mig);
      return NVML_SUCCESS;
    }
  }
  return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t handle_by_text(const char* function, const char* wanted, const char* key, nvmlDevice_t* device) {
  Reply reply(function);
  reply.require(wanted != nullptr);
  return find_device(reply, device, [&](const Device& candidate) {
    const Answer answer = Session::instance().machine().value(candidate, key);
    return answer.code == NVML_SUCCESS && !answer.text.empty() && answer.text == wanted;
  });
}

nvmlReturn_t handle_by_index(const char* function, unsigned index, nvmlDevice_t* device) {
  Reply reply(function);
  reply.require(device != nullptr);
  if (reply.failed()) return reply;
  const auto visible = Session::instance().visible();
  reply.require(index < visible.size());
  if (reply.failed()) return reply;
  const nvmlDevice_t handle = Session::instance().handle(visible[index]);
  // The rules and the loss of that GPU are for its handle too.
  const Reply opened(function, handle);
  if (!opened.failed()) *device = handle;
  return opened;
}

nvmlReturn_t handle_by_pci(const char* function, const char* wanted, nvmlDevice_t* device) {
  Reply reply(function);
  reply.require(wanted != nullptr);
  const auto address = wanted == nullptr ? std::nullopt : pagoda::simulate::parse_pci_address(wanted);
  reply.require(address.has_value());
  return find_device(reply, device, [&](const Device& candidate) {
    return !candidate.is_mig() &&
           pagoda::simulate::pci_address_of(Session::instance().machine(), candidate) == *address;
  });
}

}  // namespace

PAGODA_NVML_EXPORT nvmlReturn_t nvmlInit_v2() {
  return Session::instance().init();
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlInit() {
  return Session::instance().init();
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlInitWithFlags(unsigned) {
  return Session::instance().init();
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlShutdown() {
  return Session::instance().shutdown();
}

PAGODA_NVML_EXPORT const char* nvmlErrorString(nvmlReturn_t result) {
  return pagoda::driver::sentence_of(result).data();  // rows of a table of literals: zero-terminated
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned length) {
  return Reply("nvmlSystemGetDriverVersion").text("system.driver_version", version, length);
}

// Answers without an initialised library: that is how a version mismatch is told.
PAGODA_NVML_EXPORT nvmlReturn_t nvmlSystemGetNVMLVersion(char* version, unsigned length) {
  auto* machine = Session::instance().machine_if_any();
  if (machine == nullptr) return NVML_ERROR_UNKNOWN;
  if (version == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  const Answer answer = machine->system_value("system.nvml_version");
  if (answer.code != NVML_SUCCESS) return answer.code;
  if (answer.text.size() + 1 > length) return NVML_ERROR_INSUFFICIENT_SIZE;
  std::memcpy(version, answer.text.c_str(), answer.text.size() + 1);
  return NVML_SUCCESS;
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlSystemGetCudaDriverVersion(int* version) {
  return Reply("nvmlSystemGetCudaDriverVersion").put("system.cuda_version", version);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return Reply("nvmlSystemGetCudaDriverVersion_v2").put("system.cuda_version", version);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlSystemGetDriverBranch(nvmlSystemDriverBranchInfo_t* info,
                                                          unsigned length) {
  Reply reply("nvmlSystemGetDriverBranch");
  reply.require(info != nullptr)
      .require(pagoda::simulate::is_version(info, {nvmlSystemDriverBranchInfo_v1}),
               NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
  if (reply.failed()) return reply;
  return reply.text("system.driver_branch", info->branch, std::min<unsigned>(length, sizeof info->branch));
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlSystemGetConfComputeCapabilities(nvmlConfComputeSystemCaps_t* caps) {
  Reply reply("nvmlSystemGetConfComputeCapabilities");
  if (reply.require(caps != nullptr).failed()) return reply;
  return reply.put("system.conf_compute.cpu_caps", &caps->cpuCaps)
      .put("system.conf_compute.gpu_caps", &caps->gpusCaps);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlSystemGetConfComputeState(nvmlConfComputeSystemState_t* state) {
  Reply reply("nvmlSystemGetConfComputeState");
  if (reply.require(state != nullptr).failed()) return reply;
  return reply.put("system.conf_compute.environment", &state->environment)
      .put("system.conf_compute.feature", &state->ccFeature)
      .put("system.conf_compute.devtools", &state->devToolsMode);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlSystemGetConfComputeSettings(nvmlSystemConfComputeSettings_t* settings) {
  Reply reply("nvmlSystemGetConfComputeSettings");
  reply.require(settings != nullptr)
      .require(pagoda::simulate::is_version(settings, {nvmlSystemConfComputeSettings_v1}),
               NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
  if (reply.failed()) return reply;
  return reply.put("system.conf_compute.environment", &settings->environment)
      .put("system.conf_compute.feature", &settings->ccFeature)
      .put("system.conf_compute.devtools", &settings->devToolsMode)
      .put("system.conf_compute.multi_gpu", &settings->multiGpuMode);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlGetVgpuDriverCapabilities(nvmlVgpuDriverCapability_t capability,
                                                              unsigned* result) {
  Reply reply("nvmlGetVgpuDriverCapabilities");
  if (reply.require(result != nullptr).failed()) return reply;
  if (reply.require(reply.machine().gpu_count() > 0, NVML_ERROR_NOT_SUPPORTED).failed()) return reply;
  const Answer answer =
      reply.machine().value({}, pagoda::format("vgpu.driver_capability.{}", static_cast<int>(capability)));
  *result = static_cast<unsigned>(answer.number);
  return reply.fail(answer.code);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlGetExcludedDeviceCount(unsigned* count) {
  Reply reply("nvmlGetExcludedDeviceCount");
  if (!reply.require(count != nullptr).failed()) *count = 0;
  return reply;
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetCount_v2(unsigned* count) {
  Reply reply("nvmlDeviceGetCount_v2");
  if (!reply.require(count != nullptr).failed())
    *count = static_cast<unsigned>(Session::instance().visible().size());
  return reply;
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetCount(unsigned* count) {
  return nvmlDeviceGetCount_v2(count);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t* device) {
  return handle_by_index("nvmlDeviceGetHandleByIndex_v2", index, device);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned index, nvmlDevice_t* device) {
  return handle_by_index("nvmlDeviceGetHandleByIndex", index, device);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* device) {
  return handle_by_text("nvmlDeviceGetHandleByUUID", uuid, "uuid", device);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetHandleBySerial(const char* serial, nvmlDevice_t* device) {
  return handle_by_text("nvmlDeviceGetHandleBySerial", serial, "serial", device);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, nvmlDevice_t* device) {
  return handle_by_pci("nvmlDeviceGetHandleByPciBusId_v2", bus_id, device);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char* bus_id, nvmlDevice_t* device) {
  return handle_by_pci("nvmlDeviceGetHandleByPciBusId", bus_id, device);
}
