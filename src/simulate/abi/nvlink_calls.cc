// NVLink, the fabric, and how GPUs and CPUs lie to one another.
#include <nvml.h>

#include <charconv>
#include <cstdio>
#include <cstring>

#include "base/format.h"
#include "simulate/abi/nvlink.h"
#include "simulate/abi/pci_address.h"
#include "simulate/abi/reply.h"

namespace pagoda::simulate {

Answer link_value(const Reply& reply, unsigned link, std::string_view key) {
  const Answer links = reply.get("nvlink.links");
  if (links.list) {
    for (const Record& record : *links.list) {
      if (static_cast<unsigned>(reply.machine().record_value(reply.device(), record, "link").number) != link)
        continue;
      const Answer own = reply.machine().record_value(reply.device(), record, key);
      if (own.code == NVML_SUCCESS) return own;
    }
  }
  const std::string of_all = "nvlink." + std::string(key);
  return find_key(of_all) == nullptr ? Answer() : reply.get(of_all);
}

bool is_link(const Reply& reply, unsigned link) {
  return link < static_cast<unsigned>(reply.number_or("nvlink.count", 0));
}

namespace {

template <class T>
nvmlReturn_t link_call(const char* function, nvmlDevice_t device, unsigned link, std::string_view key,
                       T* value) {
  Reply reply(function, device);
  if (reply.require(value != nullptr).failed()) return reply;
  if (reply.get("nvlink.count").code != NVML_SUCCESS) return NVML_ERROR_NOT_SUPPORTED;
  if (reply.require(is_link(reply, link)).failed()) return reply;
  const Answer answer = link_value(reply, link, key);
  if (answer.code == NVML_SUCCESS) *value = Reply::as<T>(answer.number);
  return reply.fail(answer.code);
}

nvmlReturn_t remote_pci(const char* function, nvmlDevice_t device, unsigned link, nvmlPciInfo_t* pci,
                        bool with_bus_id) {
  unsigned bus = 0;
  if (const nvmlReturn_t code =
          link_call(function, device, link, "remote_bus", pci == nullptr ? nullptr : &bus);
      code != NVML_SUCCESS)
    return code;
  const Reply reply(function, device);
  const auto part = [&](std::string_view key) {
    return static_cast<unsigned>(link_value(reply, link, key).number);
  };
  *pci = {};
  pci->domain = part("remote_domain");
  pci->bus = bus;
  pci->device = part("remote_device");
  pci->pciDeviceId = part("remote_device_id");
  std::snprintf(pci->busIdLegacy, sizeof pci->busIdLegacy, "%04X:%02X:%02X.0", pci->domain & 0xFFFF,
                bus & 0xFF, pci->device & 0x1F);
  if (with_bus_id)
    std::snprintf(pci->busId, sizeof pci->busId, "%08X:%02X:%02X.0", pci->domain, bus & 0xFF,
                  pci->device & 0x1F);
  return NVML_SUCCESS;
}

// "4a3f…" or "4a3f0000-…", 32 hexadecimal digits, into 16 bytes.
void put_uuid(const std::string& text, unsigned char* out) {
  std::string digits;
  for (const char c : text) {
    if (c != '-') digits += c;
  }
  for (size_t i = 0; i < NVML_GPU_FABRIC_UUID_LEN; ++i) {
    out[i] = 0;
    if (2 * i + 2 <= digits.size())
      std::from_chars(digits.data() + 2 * i, digits.data() + 2 * i + 2, out[i], 16);
  }
}

template <class Info>
Reply& put_fabric(Reply& reply, Info* info) {
  put_uuid(reply.get("fabric.cluster_uuid").text, info->clusterUuid);
  reply.put("fabric.state", &info->state).put_or("fabric.status", 0, &info->status);
  if constexpr (requires { info->cliqueId; }) reply.put_or("fabric.clique_id", 0, &info->cliqueId);
  if constexpr (requires { info->healthMask; }) reply.put_or("fabric.health_mask", 0, &info->healthMask);
  if constexpr (requires { info->healthSummary; })
    reply.put_or("fabric.health_summary", 0, &info->healthSummary);
  return reply;
}

// "0-19,40-59" into a bit set of words.
void put_set(const std::string& text, unsigned words, unsigned long* set) {
  constexpr unsigned kBits = 8 * sizeof(unsigned long);
  std::memset(set, 0, words * sizeof *set);
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    unsigned first = 0, last = 0;
    auto read = std::from_chars(at, end, first);
    if (read.ec != std::errc()) return;
    last = first;
    if (read.ptr < end && *read.ptr == '-') read = std::from_chars(read.ptr + 1, end, last);
    for (unsigned bit = first; bit <= last && bit / kBits < words; ++bit)
      set[bit / kBits] |= 1UL << (bit % kBits);
    at = read.ptr < end ? read.ptr + 1 : end;
  }
}

nvmlReturn_t affinity(const char* function, nvmlDevice_t device, std::string_view key, unsigned words,
                      unsigned long* set) {
  Reply reply(function, device);
  if (reply.require(set != nullptr && words > 0).failed()) return reply;
  const Answer answer = reply.get(key);
  if (answer.code == NVML_SUCCESS) put_set(answer.text, words, set);
  return reply.fail(answer.code);
}

int level_between(Machine& machine, unsigned a, unsigned b) {
  const Answer pairs = machine.system_value("system.topology");
  if (pairs.list) {
    for (const Record& record : *pairs.list) {
      const auto number = [&](std::string_view key) {
        return static_cast<unsigned>(machine.record_value({}, record, key).number);
      };
      if ((number("a") == a && number("b") == b) || (number("a") == b && number("b") == a))
        return static_cast<int>(number("level"));
    }
  }
  const Answer all = machine.system_value("system.topology_level");
  return all.code == NVML_SUCCESS ? static_cast<int>(all.number) : NVML_TOPOLOGY_SYSTEM;
}

}  // namespace
}  // namespace pagoda::simulate

using namespace pagoda::simulate;

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned link,
                                                         nvmlEnableState_t* active) {
  return link_call("nvmlDeviceGetNvLinkState", device, link, "state", active);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetNvLinkVersion(nvmlDevice_t device, unsigned link,
                                                           unsigned* version) {
  return link_call("nvmlDeviceGetNvLinkVersion", device, link, "version", version);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetNvLinkCapability(nvmlDevice_t device, unsigned link,
                                                              nvmlNvLinkCapability_t capability,
                                                              unsigned* result) {
  constexpr const char* kKeys[] = {"capability.p2p",         "capability.sysmem",
                                   "capability.p2p_atomics", "capability.sysmem_atomics",
                                   "capability.sli",         "capability.valid"};
  if (capability < 0 || capability >= NVML_NVLINK_CAP_COUNT)
    return Reply("nvmlDeviceGetNvLinkCapability", device).fail(NVML_ERROR_INVALID_ARGUMENT);
  return link_call("nvmlDeviceGetNvLinkCapability", device, link, kKeys[capability], result);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetNvLinkErrorCounter(nvmlDevice_t device, unsigned link,
                                                                nvmlNvLinkErrorCounter_t counter,
                                                                unsigned long long* value) {
  constexpr const char* kKeys[] = {"error.replay", "error.recovery", "error.crc_flit", "error.crc_data",
                                   "error.ecc_data"};
  if (counter < 0 || counter >= NVML_NVLINK_ERROR_COUNT)
    return Reply("nvmlDeviceGetNvLinkErrorCounter", device).fail(NVML_ERROR_INVALID_ARGUMENT);
  return link_call("nvmlDeviceGetNvLinkErrorCounter", device, link, kKeys[counter], value);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t device, unsigned link,
                                                                    nvmlIntNvLinkDeviceType_t* type) {
  return link_call("nvmlDeviceGetNvLinkRemoteDeviceType", device, link, "remote_type", type);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device, unsigned link,
                                                                    nvmlPciInfo_t* pci) {
  return remote_pci("nvmlDeviceGetNvLinkRemotePciInfo_v2", device, link, pci, true);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo(nvmlDevice_t device, unsigned link,
                                                                 nvmlPciInfo_t* pci) {
  return remote_pci("nvmlDeviceGetNvLinkRemotePciInfo", device, link, pci, false);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetGpuFabricInfo(nvmlDevice_t device, nvmlGpuFabricInfo_t* info) {
  Reply reply("nvmlDeviceGetGpuFabricInfo", device);
  if (reply.require(info != nullptr).failed()) return reply;
  return put_fabric(reply, info);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetGpuFabricInfoV(nvmlDevice_t device, nvmlGpuFabricInfoV_t* info) {
  Reply reply("nvmlDeviceGetGpuFabricInfoV", device);
  if (reply
          .require(is_version(info, {nvmlGpuFabricInfo_v2, nvmlGpuFabricInfo_v3}),
                   NVML_ERROR_ARGUMENT_VERSION_MISMATCH)
          .failed())
    return reply;
  if (info->version == nvmlGpuFabricInfo_v2)
    return put_fabric(reply, reinterpret_cast<nvmlGpuFabricInfo_v2_t*>(info));
  return put_fabric(reply, reinterpret_cast<nvmlGpuFabricInfo_v3_t*>(info));
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetGpuFabricInfo_v4(nvmlDevice_t device,
                                                              nvmlGpuFabricInfo_v4_t* info) {
  Reply reply("nvmlDeviceGetGpuFabricInfo_v4", device);
  if (reply.require(info != nullptr).failed()) return reply;
  info->numCliques = 0;
  return put_fabric(reply, info);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetCpuAffinity(nvmlDevice_t device, unsigned words,
                                                         unsigned long* set) {
  return affinity("nvmlDeviceGetCpuAffinity", device, "affinity.cpus", words, set);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetCpuAffinityWithinScope(nvmlDevice_t device, unsigned words,
                                                                    unsigned long* set, nvmlAffinityScope_t) {
  return affinity("nvmlDeviceGetCpuAffinityWithinScope", device, "affinity.cpus", words, set);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetMemoryAffinity(nvmlDevice_t device, unsigned words,
                                                            unsigned long* set, nvmlAffinityScope_t) {
  return affinity("nvmlDeviceGetMemoryAffinity", device, "affinity.memory_nodes", words, set);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t first, nvmlDevice_t second,
                                                                    nvmlGpuTopologyLevel_t* level) {
  Reply reply("nvmlDeviceGetTopologyCommonAncestor", first);
  const Reply other("nvmlDeviceGetTopologyCommonAncestor", second);
  if (reply.fail(other).require(level != nullptr).failed()) return reply;
  const unsigned a = reply.device().gpu, b = other.device().gpu;
  *level = a == b ? NVML_TOPOLOGY_INTERNAL
                  : static_cast<nvmlGpuTopologyLevel_t>(level_between(reply.machine(), a, b));
  return reply;
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetTopologyNearestGpus(nvmlDevice_t device,
                                                                 nvmlGpuTopologyLevel_t level,
                                                                 unsigned* count, nvmlDevice_t* devices) {
  Reply reply("nvmlDeviceGetTopologyNearestGpus", device);
  if (reply.require(count != nullptr).failed()) return reply;
  std::vector<nvmlDevice_t> near;
  for (unsigned gpu = 0; gpu < reply.machine().gpu_count(); ++gpu) {
    if (gpu != reply.device().gpu && level_between(reply.machine(), gpu, reply.device().gpu) == level)
      near.push_back(Session::instance().handle(gpu));
  }
  return hand_out(near, count, devices);
}
// Two GPUs that NVLink joins reach one another by it; all others over PCIe.
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t first, nvmlDevice_t second,
                                                       nvmlGpuP2PCapsIndex_t index,
                                                       nvmlGpuP2PStatus_t* status) {
  Reply reply("nvmlDeviceGetP2PStatus", first);
  const Reply other("nvmlDeviceGetP2PStatus", second);
  if (reply.fail(other)
          .require(status != nullptr)
          .require(index >= 0 && index < NVML_P2P_CAPS_INDEX_UNKNOWN)
          .failed())
    return reply;
  const bool linked = reply.number_or("nvlink.count", 0) > 0 && other.number_or("nvlink.count", 0) > 0;
  const bool by_link = index == NVML_P2P_CAPS_INDEX_NVLINK || index == NVML_P2P_CAPS_INDEX_ATOMICS;
  *status = by_link && !linked ? NVML_P2P_STATUS_NOT_SUPPORTED : NVML_P2P_STATUS_OK;
  return reply;
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceOnSameBoard(nvmlDevice_t first, nvmlDevice_t second, int* same) {
  Reply reply("nvmlDeviceOnSameBoard", first);
  const Reply other("nvmlDeviceOnSameBoard", second);
  if (!reply.fail(other).require(same != nullptr).failed())
    *same = reply.device().gpu == other.device().gpu ? 1 : 0;
  return reply;
}
