// What a device is: its names, numbers and place.
#include <nvml.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "base/format.h"
#include "simulate/abi/pci_address.h"
#include "simulate/abi/reply.h"

namespace pagoda::simulate {

std::optional<PciAddress> parse_pci_address(const std::string& text) {
  PciAddress address;
  unsigned function = 0;
  if (std::sscanf(text.c_str(), "%x:%x:%x.%x", &address.domain, &address.bus, &address.device, &function) >=
      3)
    return address;
  address = {};
  if (std::sscanf(text.c_str(), "%x:%x.%x", &address.bus, &address.device, &function) >= 2) return address;
  return std::nullopt;
}

PciAddress pci_address_of(Machine& machine, const Device& device) {
  const auto part = [&](std::string_view key) {
    return static_cast<unsigned>(machine.value({device.gpu, Device::kWhole}, key).number);
  };
  return {part("pci.domain"), part("pci.bus"), part("pci.device")};
}

namespace {

nvmlReturn_t pci_info(const char* function, nvmlDevice_t device, nvmlPciInfo_t* pci, bool with_bus_id) {
  Reply reply(function, device);
  if (reply.require(pci != nullptr).failed()) return reply;
  const PciAddress address = pci_address_of(reply.machine(), reply.device());
  *pci = {};
  pci->domain = address.domain;
  pci->bus = address.bus;
  pci->device = address.device;
  std::snprintf(pci->busIdLegacy, sizeof pci->busIdLegacy, "%04X:%02X:%02X.0", address.domain & 0xFFFF,
                address.bus & 0xFF, address.device & 0x1F);
  if (with_bus_id)
    std::snprintf(pci->busId, sizeof pci->busId, "%08X:%02X:%02X.0", address.domain, address.bus & 0xFF,
                  address.device & 0x1F);
  return reply.put("pci.device_id", &pci->pciDeviceId).put_or("pci.subsystem_id", 0, &pci->pciSubSystemId);
}

unsigned char hex_byte(const std::string& text, size_t at) {
  unsigned char byte = 0;
  if (at + 2 <= text.size()) std::from_chars(text.data() + at, text.data() + at + 2, byte, 16);
  return byte;
}

constexpr const char* kInforomKeys[] = {"inforom.oem", "inforom.ecc", "inforom.power", "inforom.den"};

}  // namespace
}  // namespace pagoda::simulate

using namespace pagoda::simulate;

PAGODA_SIMULATED_TEXT(nvmlDeviceGetSerial, "serial")
PAGODA_SIMULATED_TEXT(nvmlDeviceGetUUID, "uuid")
PAGODA_SIMULATED_TEXT(nvmlDeviceGetBoardPartNumber, "board_part_number")
PAGODA_SIMULATED_TEXT(nvmlDeviceGetVbiosVersion, "vbios_version")
PAGODA_SIMULATED_TEXT(nvmlDeviceGetInforomImageVersion, "inforom.image")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetBrand, nvmlBrandType_t, "brand")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetArchitecture, nvmlDeviceArchitecture_t, "architecture")
PAGODA_SIMULATED_PAIR(nvmlDeviceGetCudaComputeCapability, int, "compute_capability.major",
                      "compute_capability.minor")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetMinorNumber, unsigned, "minor_number")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetModuleId, unsigned, "module_id")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetBoardId, unsigned, "board_id")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetMultiGpuBoard, unsigned, "multi_gpu_board")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetIrqNum, unsigned, "irq")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetBusType, nvmlBusType_t, "bus_type")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetNumGpuCores, unsigned, "gpu_cores")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetMemoryBusWidth, unsigned, "memory_bus_width")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetPowerSource, nvmlPowerSource_t, "power_source")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetNumaNodeId, unsigned, "numa_node")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetInforomConfigurationChecksum, unsigned, "inforom.checksum")
PAGODA_SIMULATED_PAIR(nvmlDeviceGetGspFirmwareMode, unsigned, "gsp.enabled", "gsp.default")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetVirtualizationMode, nvmlGpuVirtualizationMode_t, "virtualization.mode")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetHostVgpuMode, nvmlHostVgpuMode_t, "virtualization.host_mode")

// A MIG device is called by its GPU's name and its profile's.
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* name, unsigned length) {
  Reply reply("nvmlDeviceGetName", device);
  if (reply.failed() || !reply.device().is_mig()) return reply.text("name", name, length);
  const std::string card = reply.machine().value({reply.device().gpu, Device::kWhole}, "name").text;
  return reply.put_text(card + " " + reply.get("name").text, name, length);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned* index) {
  Reply reply("nvmlDeviceGetIndex", device);
  if (reply.require(index != nullptr).failed()) return reply;
  const auto visible = Session::instance().visible();
  const auto place = std::find(visible.begin(), visible.end(), reply.device().gpu) - visible.begin();
  *index = reply.device().is_mig() ? static_cast<unsigned>(reply.device().mig) : static_cast<unsigned>(place);
  return reply;
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetInforomVersion(nvmlDevice_t device, nvmlInforomObject_t object,
                                                            char* version, unsigned length) {
  Reply reply("nvmlDeviceGetInforomVersion", device);
  if (reply.require(object >= 0 && object < NVML_INFOROM_COUNT).failed()) return reply;
  return reply.text(std::string_view(kInforomKeys[object]), version, length);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceValidateInforom(nvmlDevice_t device) {
  double valid = 0;
  Reply reply("nvmlDeviceValidateInforom", device);
  return reply.put("inforom.valid", &valid).require(valid != 0, NVML_ERROR_CORRUPTED_INFOROM);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetLastBBXFlushTime(nvmlDevice_t device,
                                                              unsigned long long* timestamp,
                                                              unsigned long* duration) {
  return Reply("nvmlDeviceGetLastBBXFlushTime", device)
      .put("inforom.bbx_flush.time_s", timestamp)
      .put("inforom.bbx_flush.duration_us", duration);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetGspFirmwareVersion(nvmlDevice_t device, char* version) {
  return Reply("nvmlDeviceGetGspFirmwareVersion", device)
      .text("gsp.firmware_version", version, NVML_GSP_FIRMWARE_VERSION_BUF_SIZE);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* pci) {
  return pci_info("nvmlDeviceGetPciInfo_v3", device, pci, true);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t* pci) {
  return pci_info("nvmlDeviceGetPciInfo_v2", device, pci, false);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_t* pci) {
  return pci_info("nvmlDeviceGetPciInfo", device, pci, false);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetPciInfoExt(nvmlDevice_t device, nvmlPciInfoExt_t* pci) {
  Reply reply("nvmlDeviceGetPciInfoExt", device);
  reply.require(pci != nullptr)
      .require(is_version(pci, {nvmlPciInfoExt_v1}), NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
  if (reply.failed()) return reply;
  const PciAddress address = pci_address_of(reply.machine(), reply.device());
  pci->domain = address.domain;
  pci->bus = address.bus;
  pci->device = address.device;
  std::snprintf(pci->busId, sizeof pci->busId, "%08X:%02X:%02X.0", address.domain, address.bus & 0xFF,
                address.device & 0x1F);
  return reply.put("pci.device_id", &pci->pciDeviceId)
      .put_or("pci.subsystem_id", 0, &pci->pciSubSystemId)
      .put("pci.base_class", &pci->baseClass)
      .put("pci.sub_class", &pci->subClass);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetCapabilities(nvmlDevice_t device,
                                                          nvmlDeviceCapabilities_t* capabilities) {
  Reply reply("nvmlDeviceGetCapabilities", device);
  reply.require(is_version(capabilities, {nvmlDeviceCapabilities_v1}), NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
  if (reply.failed()) return reply;
  return reply.put("capabilities_mask", &capabilities->capMask);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetPdi(nvmlDevice_t device, nvmlPdi_t* pdi) {
  Reply reply("nvmlDeviceGetPdi", device);
  if (reply.require(is_version(pdi, {nvmlPdi_v1}), NVML_ERROR_ARGUMENT_VERSION_MISMATCH).failed())
    return reply;
  return reply.put("pdi", &pdi->value);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetHostname_v1(nvmlDevice_t device, nvmlHostname_v1_t* hostname) {
  Reply reply("nvmlDeviceGetHostname_v1", device);
  if (reply.require(hostname != nullptr).failed()) return reply;
  return reply.text("hostname", hostname->value, sizeof hostname->value);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetGpuUptime_v1(nvmlDevice_t device, nvmlGpuUptime_v1_t* uptime) {
  Reply reply("nvmlDeviceGetGpuUptime_v1", device);
  if (reply.require(uptime != nullptr).failed()) return reply;
  return reply.put("uptime_s", &uptime->uptime);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetBBXTimeData_v1(nvmlDevice_t device, nvmlBBXTimeData_v1_t* data) {
  Reply reply("nvmlDeviceGetBBXTimeData_v1", device);
  if (reply.require(data != nullptr).failed()) return reply;
  return reply.put("bbx_time_run_s", &data->timeRun);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetVgpuCapabilities(nvmlDevice_t device,
                                                              nvmlDeviceVgpuCapability_t capability,
                                                              unsigned* result) {
  Reply reply("nvmlDeviceGetVgpuCapabilities", device);
  if (reply.require(capability >= 0 && capability <= 12).failed()) return reply;
  return reply.put(pagoda::format("vgpu.device_capability.{}", static_cast<int>(capability)), result);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetVgpuHeterogeneousMode(nvmlDevice_t device,
                                                                   nvmlVgpuHeterogeneousMode_t* mode) {
  Reply reply("nvmlDeviceGetVgpuHeterogeneousMode", device);
  if (reply.require(is_version(mode, {nvmlVgpuHeterogeneousMode_v1}), NVML_ERROR_ARGUMENT_VERSION_MISMATCH)
          .failed())
    return reply;
  return reply.put("virtualization.heterogeneous_mode", &mode->mode);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetPlatformInfo(nvmlDevice_t device, nvmlPlatformInfo_t* info) {
  Reply reply("nvmlDeviceGetPlatformInfo", device);
  if (reply.require(is_version(info, {nvmlPlatformInfo_v2}), NVML_ERROR_ARGUMENT_VERSION_MISMATCH).failed())
    return reply;
  const std::string guid = reply.get("platform.ib_guid").text,
                    chassis = reply.get("platform.chassis_serial").text;
  for (size_t i = 0; i < sizeof info->ibGuid; ++i) info->ibGuid[i] = hex_byte(guid, 2 * i);
  std::memset(info->chassisSerialNumber, 0, sizeof info->chassisSerialNumber);
  std::memcpy(info->chassisSerialNumber, chassis.data(),
              std::min(chassis.size(), sizeof info->chassisSerialNumber));
  return reply.put_or("platform.slot_number", 0, &info->slotNumber)
      .put_or("platform.tray_index", 0, &info->trayIndex)
      .put_or("platform.host_id", 0, &info->hostId)
      .put_or("platform.peer_type", 0, &info->peerType)
      .put("platform.module_id", &info->moduleId);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetBridgeChipInfo(nvmlDevice_t device,
                                                            nvmlBridgeChipHierarchy_t* hierarchy) {
  Reply reply("nvmlDeviceGetBridgeChipInfo", device);
  if (reply.require(hierarchy != nullptr).failed()) return reply;
  const Answer chips = reply.get("bridge_chips");
  if (chips.code != NVML_SUCCESS) return chips.code;
  hierarchy->bridgeCount = 0;
  for (const Record& chip : *chips.list) {
    if (hierarchy->bridgeCount == NVML_MAX_PHYSICAL_BRIDGE) break;
    auto& place = hierarchy->bridgeChipInfo[hierarchy->bridgeCount++];
    place.type =
        Reply::as<nvmlBridgeChipType_t>(reply.machine().record_value(reply.device(), chip, "type").number);
    place.fwVersion =
        static_cast<unsigned>(reply.machine().record_value(reply.device(), chip, "firmware").number);
  }
  return reply;
}
