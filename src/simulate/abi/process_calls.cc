// Processes: running, their utilization, accounted ones.
#include <nvml.h>

#include "simulate/abi/reply.h"

using namespace pagoda::simulate;

namespace {

constexpr unsigned kNoInstance = 0xFFFFFFFF;

struct Process {
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance, compute_instance;
  unsigned long long protected_memory;
  std::string type;
};

// All that run on the device: on a MIG device, those of its instances.
nvmlReturn_t running(Reply& reply, std::vector<Process>& processes) {
  if (reply.failed()) return reply;
  auto& machine = reply.machine();
  const Device whole{reply.device().gpu, Device::kWhole};
  const Answer list = machine.value(whole, "processes");
  if (list.code == NVML_ERROR_NOT_SUPPORTED) return NVML_SUCCESS;  // a scenario without processes: none run
  if (list.code != NVML_SUCCESS) return list.code;
  const bool mig = reply.device().is_mig();
  const unsigned gpu_instance = mig ? static_cast<unsigned>(reply.get("gpu_instance").number) : kNoInstance;
  const unsigned compute_instance =
      mig ? static_cast<unsigned>(reply.get("compute_instance").number) : kNoInstance;
  for (const Record& record : *list.list) {
    const auto number = [&](std::string_view key, Number otherwise) {
      const Answer answer = machine.record_value(whole, record, key);
      return answer.code == NVML_SUCCESS ? answer.number : otherwise;
    };
    Process process;
    process.pid = static_cast<unsigned>(number("pid", 0));
    process.used_memory = Reply::as<unsigned long long>(number("used_memory", NVML_VALUE_NOT_AVAILABLE));
    process.gpu_instance = Reply::as<unsigned>(number("gpu_instance", kNoInstance));
    process.compute_instance = Reply::as<unsigned>(number("compute_instance", kNoInstance));
    process.protected_memory = static_cast<unsigned long long>(number("protected_memory", 0));
    const Answer type = machine.record_value(whole, record, "type");
    process.type = type.code == NVML_SUCCESS ? type.text : "C";
    if (mig && (process.gpu_instance != gpu_instance || process.compute_instance != compute_instance))
      continue;
    processes.push_back(process);
  }
  return NVML_SUCCESS;
}

// `kind`: C, G or M. C+G runs as both.
bool runs_as(const Process& process, char kind) {
  return process.type.find(kind) != std::string::npos;
}

template <class Info>
nvmlReturn_t hand_out_processes(const char* function, nvmlDevice_t device, char kind, unsigned* count,
                                Info* infos) {
  Reply reply(function, device);
  std::vector<Process> processes;
  if (reply.require(count != nullptr).failed()) return reply;
  if (const nvmlReturn_t code = running(reply, processes); code != NVML_SUCCESS) return code;
  std::vector<Info> wanted;
  for (const Process& process : processes) {
    if (!runs_as(process, kind)) continue;
    Info info{};
    info.pid = process.pid;
    info.usedGpuMemory = process.used_memory;
    if constexpr (requires { info.gpuInstanceId; }) {
      info.gpuInstanceId = process.gpu_instance;
      info.computeInstanceId = process.compute_instance;
    }
    wanted.push_back(info);
  }
  return hand_out(wanted, count, infos);
}

// Samples of processes that give a utilization; NVML keeps those newer than `since_us`.
nvmlReturn_t utilization(Reply& reply, unsigned long long since_us,
                         std::vector<nvmlProcessUtilizationInfo_v1_t>& samples) {
  if (reply.failed()) return reply;
  auto& machine = reply.machine();
  const Device whole{reply.device().gpu, Device::kWhole};
  const Answer list = machine.value(whole, "processes");
  const unsigned long long now = now_us();
  if (!list.list || now <= since_us) return NVML_ERROR_NOT_FOUND;
  for (const Record& record : *list.list) {
    const auto number = [&](std::string_view key) {
      return static_cast<unsigned>(machine.record_value(whole, record, key).number);
    };
    if (machine.record_value(whole, record, "sm_util").code != NVML_SUCCESS) continue;
    samples.push_back({now, number("pid"), number("sm_util"), number("mem_util"), number("enc_util"),
                       number("dec_util"), number("jpg_util"), number("ofa_util")});
  }
  return samples.empty() ? NVML_ERROR_NOT_FOUND : NVML_SUCCESS;
}

}  // namespace

#define PAGODA_SIMULATED_PROCESSES(stem, kind)                                                              \
  PAGODA_NVML_EXPORT nvmlReturn_t stem##_v3(nvmlDevice_t device, unsigned* count,                           \
                                            nvmlProcessInfo_t* infos) {                                     \
    return hand_out_processes(#stem "_v3", device, kind, count, infos);                                     \
  }                                                                                                         \
  PAGODA_NVML_EXPORT nvmlReturn_t stem##_v2(nvmlDevice_t device, unsigned* count,                           \
                                            nvmlProcessInfo_v2_t* infos) {                                  \
    return hand_out_processes(#stem "_v2", device, kind, count, infos);                                     \
  }                                                                                                         \
  PAGODA_NVML_EXPORT nvmlReturn_t stem(nvmlDevice_t device, unsigned* count, nvmlProcessInfo_v1_t* infos) { \
    return hand_out_processes(#stem, device, kind, count, infos);                                           \
  }
PAGODA_SIMULATED_PROCESSES(nvmlDeviceGetComputeRunningProcesses, 'C')
PAGODA_SIMULATED_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses, 'G')
PAGODA_SIMULATED_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses, 'M')

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetRunningProcessDetailList(nvmlDevice_t device,
                                                                      nvmlProcessDetailList_t* list) {
  Reply reply("nvmlDeviceGetRunningProcessDetailList", device);
  if (reply.require(is_version(list, {nvmlProcessDetailList_v1}), NVML_ERROR_ARGUMENT_VERSION_MISMATCH)
          .failed())
    return reply;
  constexpr char kKinds[] = {'C', 'G', 'M'};
  std::vector<Process> processes;
  if (reply.require(list->mode < 3).failed()) return reply;
  if (const nvmlReturn_t code = running(reply, processes); code != NVML_SUCCESS) return code;
  std::vector<nvmlProcessDetail_v1_t> wanted;
  for (const Process& process : processes) {
    if (runs_as(process, kKinds[list->mode]))
      wanted.push_back({process.pid, process.used_memory, process.gpu_instance, process.compute_instance,
                        process.protected_memory});
  }
  return hand_out(wanted, &list->numProcArrayEntries, list->procArray);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t device,
                                                                nvmlProcessUtilizationSample_t* out,
                                                                unsigned* count,
                                                                unsigned long long since_us) {
  Reply reply("nvmlDeviceGetProcessUtilization", device);
  std::vector<nvmlProcessUtilizationInfo_v1_t> found;
  if (const nvmlReturn_t code = utilization(reply, since_us, found); code != NVML_SUCCESS) return code;
  std::vector<nvmlProcessUtilizationSample_t> samples;
  for (const auto& sample : found)
    samples.push_back(
        {sample.pid, sample.timeStamp, sample.smUtil, sample.memUtil, sample.encUtil, sample.decUtil});
  return hand_out(samples, count, out);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetProcessesUtilizationInfo(nvmlDevice_t device,
                                                                      nvmlProcessesUtilizationInfo_t* info) {
  Reply reply("nvmlDeviceGetProcessesUtilizationInfo", device);
  if (reply.require(is_version(info, {nvmlProcessesUtilizationInfo_v1}), NVML_ERROR_ARGUMENT_VERSION_MISMATCH)
          .failed())
    return reply;
  std::vector<nvmlProcessUtilizationInfo_v1_t> found;
  if (const nvmlReturn_t code = utilization(reply, info->lastSeenTimeStamp, found); code != NVML_SUCCESS)
    return code;
  return hand_out(found, &info->processSamplesCount, info->procUtilArray);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlSystemGetProcessName(unsigned pid, char* name, unsigned length) {
  Reply reply("nvmlSystemGetProcessName");
  if (reply.require(name != nullptr && length > 0).failed()) return reply;
  auto& machine = reply.machine();
  for (unsigned gpu = 0; gpu < machine.gpu_count(); ++gpu) {
    const Answer list = machine.value({gpu, Device::kWhole}, "processes");
    if (!list.list) continue;
    for (const Record& record : *list.list) {
      if (static_cast<unsigned>(machine.record_value({gpu, Device::kWhole}, record, "pid").number) != pid)
        continue;
      // NVML cuts a name that does not fit.
      const std::string whole = machine.record_value({gpu, Device::kWhole}, record, "name").text;
      return reply.put_text(whole.substr(0, length - 1), name, length);
    }
  }
  return NVML_ERROR_NOT_FOUND;
}

namespace {

nvmlReturn_t accounted(Reply& reply, std::shared_ptr<const std::vector<Record>>& list) {
  if (reply.failed()) return reply;
  const Answer answer = reply.get("accounted_processes");
  list = answer.code == NVML_SUCCESS ? answer.list : std::make_shared<const std::vector<Record>>();
  // Without accounting the driver answers the calls and has nobody in its list.
  return answer.code == NVML_ERROR_NOT_SUPPORTED && reply.get("accounting.mode").code == NVML_SUCCESS
             ? NVML_SUCCESS
             : answer.code;
}

}  // namespace

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetAccountingPids(nvmlDevice_t device, unsigned* count,
                                                            unsigned* pids) {
  Reply reply("nvmlDeviceGetAccountingPids", device);
  std::shared_ptr<const std::vector<Record>> list;
  if (const nvmlReturn_t code = accounted(reply, list); code != NVML_SUCCESS) return code;
  std::vector<unsigned> found;
  for (const Record& record : *list)
    found.push_back(
        static_cast<unsigned>(reply.machine().record_value(reply.device(), record, "pid").number));
  return hand_out(found, count, pids);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetAccountingStats(nvmlDevice_t device, unsigned pid,
                                                             nvmlAccountingStats_t* stats) {
  Reply reply("nvmlDeviceGetAccountingStats", device);
  std::shared_ptr<const std::vector<Record>> list;
  if (reply.require(stats != nullptr).failed()) return reply;
  if (const nvmlReturn_t code = accounted(reply, list); code != NVML_SUCCESS) return code;
  for (const Record& record : *list) {
    const auto number = [&](std::string_view key) {
      return reply.machine().record_value(reply.device(), record, key).number;
    };
    if (static_cast<unsigned>(number("pid")) != pid) continue;
    *stats = {};
    stats->gpuUtilization = static_cast<unsigned>(number("gpu_util"));
    stats->memoryUtilization = static_cast<unsigned>(number("mem_util"));
    stats->maxMemoryUsage = static_cast<unsigned long long>(number("max_memory"));
    stats->time = static_cast<unsigned long long>(number("time_ms"));
    stats->startTime = static_cast<unsigned long long>(number("start_us"));
    stats->isRunning = static_cast<unsigned>(number("running"));
    return NVML_SUCCESS;
  }
  return NVML_ERROR_NOT_FOUND;
}
