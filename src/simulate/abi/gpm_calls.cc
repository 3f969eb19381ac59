// GPM: the profiling metrics of Hopper and later, as rates between two samples.
#include <nvml.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <string>

#include "base/format.h"
#include "simulate/abi/reply.h"
#include "simulate/shipped.h"

using namespace pagoda::simulate;

namespace {

// Behind an nvmlGpmSample_t: of which device, when. The metrics themselves come from the scenario.
struct Sample {
  bool taken = false;
  Device device;
  int gpu_instance = -1;  // of nvmlGpmMigSampleGet
  double seconds = 0;
};

std::mutex samples_mutex;
std::set<Sample*>& samples() {
  static auto* all = new std::set<Sample*>;
  return *all;
}

Sample* find_sample(nvmlGpmSample_t handle) {
  std::lock_guard lock(samples_mutex);
  auto* sample = reinterpret_cast<Sample*>(handle);
  return samples().contains(sample) ? sample : nullptr;
}

Reply& require_gpm(Reply& reply) {
  return reply.require(reply.number_or("gpm.supported", 0) != 0, NVML_ERROR_NOT_SUPPORTED);
}

// The metric by name or number: of the GPU, or of the MIG device with that GPU instance.
Answer metric_value(Machine& machine, const Sample& sample, unsigned id) {
  std::vector<std::string> keys = {pagoda::format("gpm.{}", id)};
  for (const NvmlName& row : gpm_metric_names()) {
    if (row.number == id) keys.push_back(pagoda::format("gpm.{}", row.name));
  }
  const Device whole{sample.device.gpu, Device::kWhole};
  const Answer migs = sample.gpu_instance >= 0 ? machine.value(whole, "mig.devices") : Answer();
  for (const std::string& key : keys) {
    if (sample.gpu_instance < 0) {
      if (const Answer answer = machine.value(whole, key); answer.code != NVML_ERROR_NOT_SUPPORTED)
        return answer;
      continue;
    }
    for (const Record& mig : migs.list ? *migs.list : std::vector<Record>()) {
      if (static_cast<int>(machine.record_value(whole, mig, "gpu_instance").number) != sample.gpu_instance)
        continue;
      if (const Answer answer = machine.record_value(whole, mig, key);
          answer.code != NVML_ERROR_NOT_SUPPORTED)
        return answer;
    }
  }
  return {};
}

nvmlReturn_t take_sample(Reply& reply, nvmlGpmSample_t handle, int gpu_instance) {
  Sample* sample = find_sample(handle);
  if (require_gpm(reply.require(sample != nullptr)).failed()) return reply;
  *sample = {true, reply.device(), gpu_instance, reply.machine().seconds()};
  return NVML_SUCCESS;
}

}  // namespace

PAGODA_NVML_EXPORT nvmlReturn_t nvmlGpmQueryDeviceSupport(nvmlDevice_t device, nvmlGpmSupport_t* support) {
  Reply reply("nvmlGpmQueryDeviceSupport", device);
  if (reply.require(is_version(support, {NVML_GPM_SUPPORT_VERSION}), NVML_ERROR_ARGUMENT_VERSION_MISMATCH)
          .failed())
    return reply;
  return reply.put_or("gpm.supported", 0, &support->isSupportedDevice);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlGpmSampleAlloc(nvmlGpmSample_t* handle) {
  Reply reply("nvmlGpmSampleAlloc");
  if (reply.require(handle != nullptr).failed()) return reply;
  std::lock_guard lock(samples_mutex);
  auto* sample = new Sample;
  samples().insert(sample);
  *handle = reinterpret_cast<nvmlGpmSample_t>(sample);
  return NVML_SUCCESS;
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlGpmSampleFree(nvmlGpmSample_t handle) {
  std::lock_guard lock(samples_mutex);
  auto* sample = reinterpret_cast<Sample*>(handle);
  if (samples().erase(sample) == 0) return NVML_ERROR_INVALID_ARGUMENT;
  delete sample;
  return NVML_SUCCESS;
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlGpmSampleGet(nvmlDevice_t device, nvmlGpmSample_t sample) {
  Reply reply("nvmlGpmSampleGet", device);
  return take_sample(reply, sample, -1);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlGpmMigSampleGet(nvmlDevice_t device, unsigned gpu_instance,
                                                    nvmlGpmSample_t sample) {
  Reply reply("nvmlGpmMigSampleGet", device);
  return take_sample(reply, sample, static_cast<int>(gpu_instance));
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlGpmMetricsGet(nvmlGpmMetricsGet_t* get) {
  Reply reply("nvmlGpmMetricsGet");
  if (reply.require(is_version(get, {NVML_GPM_METRICS_GET_VERSION}), NVML_ERROR_ARGUMENT_VERSION_MISMATCH)
          .failed())
    return reply;
  const Sample *first = find_sample(get->sample1), *second = find_sample(get->sample2);
  reply.require(get->numMetrics <= NVML_GPM_METRIC_MAX);
  reply.require(first != nullptr && second != nullptr && first->taken && second->taken &&
                first->device.gpu == second->device.gpu && first->gpu_instance == second->gpu_instance);
  if (reply.failed()) return reply;
  for (unsigned i = 0; i < get->numMetrics; ++i) {
    auto& metric = get->metrics[i];
    const Answer answer = metric_value(reply.machine(), *second, metric.metricId);
    metric.nvmlReturn = answer.code;
    metric.value = static_cast<double>(answer.number);
  }
  return NVML_SUCCESS;
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlGpmQueryIfStreamingEnabled(nvmlDevice_t device, unsigned* state) {
  Reply reply("nvmlGpmQueryIfStreamingEnabled", device);
  if (!require_gpm(reply.require(state != nullptr)).failed()) *state = 0;
  return reply;
}
