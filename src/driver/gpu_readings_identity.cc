// Who the GPU is, where it sits, how it is set.
#include <charconv>

#include "base/format.h"
#include "driver/gpu_section_readers.h"

namespace pagoda::driver {
namespace {

std::string hexadecimal(const unsigned char* bytes, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += format("{:02x}", bytes[i]);
  return out;
}

Reading<unsigned> private_number(const Gpu& gpu, const char* key) {
  const auto text = read_private_text(gpu, key);
  if (!text) return tl::unexpected<Absence>(text.error());
  unsigned number = 0;
  if (std::from_chars(text->data(), text->data() + text->size(), number).ec != std::errc()) {
    return absent(NVML_ERROR_UNKNOWN);
  }
  return number;
}

// Domain, bus and device by the newer call, which also has the class; else by the one of old, which has not.
void read_addresses(const Gpu& gpu, PciReadings& pci) {
  const auto extended = gpu.fill(nvml::kDeviceGetPciInfoExt, versioned<nvmlPciInfoExt_t>(nvmlPciInfoExt_v1));
  pci.base_class = number_of(extended, &nvmlPciInfoExt_t::baseClass);
  pci.sub_class = number_of(extended, &nvmlPciInfoExt_t::subClass);
  const auto info = gpu.pci();
  pci.bus_id = info.map(
      [](const nvmlPciInfo_t& i) { return std::string(i.busId, strnlen(i.busId, sizeof(i.busId))); });
  pci.domain = number_of(info, &nvmlPciInfo_t::domain);
  pci.bus = number_of(info, &nvmlPciInfo_t::bus);
  pci.device = number_of(info, &nvmlPciInfo_t::device);
  pci.device_id = number_of(info, &nvmlPciInfo_t::pciDeviceId);
  pci.subsystem_id = number_of(info, &nvmlPciInfo_t::pciSubSystemId);
}

constexpr std::array kPciFields = {
    FieldTarget{{NVML_FI_DEV_PCIE_REPLAY_ROLLOVER_COUNTER},
                [](GpuSnapshot& s, const auto& v) { s.pci.replay_rollovers = field_number(v); }},
    FieldTarget{{NVML_FI_DEV_PCIE_OUTBOUND_ATOMICS_MASK},
                [](GpuSnapshot& s, const auto& v) { s.pci.atomics_outbound = field_number(v); }},
    FieldTarget{{NVML_FI_DEV_PCIE_INBOUND_ATOMICS_MASK},
                [](GpuSnapshot& s, const auto& v) { s.pci.atomics_inbound = field_number(v); }},
};

constexpr std::array kModeFields = {
    FieldTarget{{NVML_FI_DEV_GET_GPU_RECOVERY_ACTION},
                [](GpuSnapshot& s, const auto& v) { s.modes.recovery_action = field_number(v); }},
};

Reading<bool> vgpu_capability(const Gpu& gpu, nvmlDeviceVgpuCapability_t capability) {
  return as_flag(gpu.read(nvml::kDeviceGetVgpuCapabilities, capability));
}

}  // namespace

void read_identity(const Gpu& gpu, GpuSnapshot& out) {
  Identity& id = out.identity;
  id.name = gpu.text(nvml::kDeviceGetName);
  id.uuid = gpu.text(nvml::kDeviceGetUUID);
  id.serial = gpu.text(nvml::kDeviceGetSerial);
  id.vbios_version = gpu.text(nvml::kDeviceGetVbiosVersion);
  id.board_part_number = gpu.text(nvml::kDeviceGetBoardPartNumber);
  id.gpu_part_number = read_private_text(gpu, "gpu_part_number");
  id.fru_part_number = read_private_text(gpu, "fru_part_number");
  id.brand = as_number(gpu.read(nvml::kDeviceGetBrand));
  id.architecture = as_number(gpu.read(nvml::kDeviceGetArchitecture));
  id.minor = gpu.read(nvml::kDeviceGetMinorNumber);
  id.board_id = gpu.read(nvml::kDeviceGetBoardId);
  id.multi_gpu_board = as_flag(gpu.read(nvml::kDeviceGetMultiGpuBoard));
  id.pdi = count_of(gpu.fill(nvml::kDeviceGetPdi, versioned<nvmlPdi_t>(nvmlPdi_v1)), &nvmlPdi_t::value);
  const Mode capability = as_mode(gpu.read(nvml::kDeviceGetCudaComputeCapability));
  id.compute_major = capability.current;
  id.compute_minor = capability.pending;
  id.hostname =
      gpu.fill(nvml::kDeviceGetHostname_v1, nvmlHostname_v1_t{}).map([](const nvmlHostname_v1_t& h) {
        return std::string(h.value, strnlen(h.value, sizeof(h.value)));
      });
}

void read_inforom(const Gpu& gpu, GpuSnapshot& out) {
  InforomReadings& inforom = out.inforom;
  inforom.image = gpu.text(nvml::kDeviceGetInforomImageVersion);
  inforom.oem = gpu.text(nvml::kDeviceGetInforomVersion, NVML_INFOROM_OEM);
  inforom.ecc = gpu.text(nvml::kDeviceGetInforomVersion, NVML_INFOROM_ECC);
  inforom.power = gpu.text(nvml::kDeviceGetInforomVersion, NVML_INFOROM_POWER);
  const auto valid = gpu.read(nvml::kDeviceValidateInforom);
  if (valid) {
    inforom.valid = true;
  } else if (valid.error().code == NVML_ERROR_CORRUPTED_INFOROM) {
    inforom.valid = false;
  } else {
    inforom.valid = tl::unexpected<Absence>(valid.error());
  }
  const auto flush = gpu.read(nvml::kDeviceGetLastBBXFlushTime);
  inforom.flush_timestamp_us =
      flush.map([](const auto& f) { return static_cast<std::uint64_t>(std::get<0>(f)); });
  inforom.flush_duration_us =
      flush.map([](const auto& f) { return static_cast<std::uint64_t>(std::get<1>(f)); });
  inforom.time_run_s = count_of(gpu.fill(nvml::kDeviceGetBBXTimeData_v1, nvmlBBXTimeData_v1_t{}),
                                &nvmlBBXTimeData_v1_t::timeRun);
}

void read_platform(const Gpu& gpu, GpuSnapshot& out) {
  using Info = nvmlPlatformInfo_v2_t;
  PlatformReadings& platform = out.platform;
  const auto info = gpu.fill(nvml::kDeviceGetPlatformInfo, versioned<Info>(nvmlPlatformInfo_v2));
  platform.chassis_serial = info.map([](const Info& i) {
    const auto* serial = reinterpret_cast<const char*>(i.chassisSerialNumber);
    return std::string(serial, strnlen(serial, sizeof(i.chassisSerialNumber)));
  });
  platform.slot = number_of(info, &Info::slotNumber);
  platform.tray = number_of(info, &Info::trayIndex);
  platform.host = number_of(info, &Info::hostId);
  platform.peer_type = number_of(info, &Info::peerType);
  platform.module = number_of(info, &Info::moduleId);
  platform.fabric_guid = info.map([](const Info& i) { return "0x" + hexadecimal(i.ibGuid, 8); });
}

void read_pci(const Gpu& gpu, GpuSnapshot& out) {
  PciReadings& pci = out.pci;
  read_addresses(gpu, pci);
  pci.generation_current = gpu.read(nvml::kDeviceGetCurrPcieLinkGeneration);
  pci.generation_max = gpu.read(nvml::kDeviceGetMaxPcieLinkGeneration);
  pci.device_generation_max = gpu.read(nvml::kDeviceGetGpuMaxPcieLinkGeneration);
  pci.host_generation_max = private_number(gpu, "pcie_host_generation_max");
  pci.width_current = gpu.read(nvml::kDeviceGetCurrPcieLinkWidth);
  pci.width_max = gpu.read(nvml::kDeviceGetMaxPcieLinkWidth);
  pci.replays = gpu.read(nvml::kDeviceGetPcieReplayCounter);
  pci.tx_kb_per_s = gpu.read(nvml::kDeviceGetPcieThroughput, NVML_PCIE_UTIL_TX_BYTES);
  pci.rx_kb_per_s = gpu.read(nvml::kDeviceGetPcieThroughput, NVML_PCIE_UTIL_RX_BYTES);
  read_fields(gpu, kPciFields, out);
  const auto bridges = gpu.fill(nvml::kDeviceGetBridgeChipInfo, nvmlBridgeChipHierarchy_t{});
  if (bridges && bridges->bridgeCount > 0) {
    pci.bridge_type = static_cast<unsigned>(bridges->bridgeChipInfo[0].type);
    pci.bridge_firmware = format("{}", bridges->bridgeChipInfo[0].fwVersion);
  } else {
    const Absence why = bridges ? absence_of(NVML_ERROR_NOT_SUPPORTED) : bridges.error();
    pci.bridge_type = tl::unexpected<Absence>(why);
    pci.bridge_firmware = tl::unexpected<Absence>(why);
  }
}

void read_modes(const Gpu& gpu, GpuSnapshot& out) {
  ModeReadings& modes = out.modes;
  modes.display_attached = as_flag(gpu.read(nvml::kDeviceGetDisplayMode));
  modes.display_active = as_flag(gpu.read(nvml::kDeviceGetDisplayActive));
  modes.persistence = as_flag(gpu.read(nvml::kDeviceGetPersistenceMode));
  modes.accounting = as_flag(gpu.read(nvml::kDeviceGetAccountingMode));
  modes.accounting_buffer_size = gpu.read(nvml::kDeviceGetAccountingBufferSize);
  modes.addressing = number_of(gpu.fill(nvml::kDeviceGetAddressingMode,
                                        versioned<nvmlDeviceAddressingMode_t>(nvmlDeviceAddressingMode_v1)),
                               &nvmlDeviceAddressingMode_t::value);
  modes.mig = as_mode(gpu.read(nvml::kDeviceGetMigMode));
  modes.ecc = as_mode(gpu.read(nvml::kDeviceGetEccMode));
  modes.gpu_operation = as_mode(gpu.read(nvml::kDeviceGetGpuOperationMode));
  modes.compute = as_number(gpu.read(nvml::kDeviceGetComputeMode));
  modes.c2c = number_of(gpu.fill(nvml::kDeviceGetC2cModeInfoV, nvmlC2cModeInfo_v1_t{}),
                        &nvmlC2cModeInfo_v1_t::isC2cEnabled);
  modes.virtualization = as_number(gpu.read(nvml::kDeviceGetVirtualizationMode));
  modes.host_vgpu = as_number(gpu.read(nvml::kDeviceGetHostVgpuMode));
  modes.vgpu_heterogeneous =
      number_of(gpu.fill(nvml::kDeviceGetVgpuHeterogeneousMode,
                         versioned<nvmlVgpuHeterogeneousMode_t>(nvmlVgpuHeterogeneousMode_v1)),
                &nvmlVgpuHeterogeneousMode_t::mode);
  modes.gsp_version = gpu.gsp_firmware_version();
  const Mode gsp = as_mode(gpu.read(nvml::kDeviceGetGspFirmwareMode));
  modes.gsp_enabled = as_flag(gsp.current);
  modes.gsp_default = as_flag(gsp.pending);
  using Encryption = nvmlDramEncryptionInfo_t;
  using Both = std::tuple<Encryption, Encryption>;
  const auto encryption =
      gpu.run<Both>(nvml::kDeviceGetDramEncryptionMode, [](auto* function, nvmlDevice_t device, Both& both) {
        std::get<0>(both).version = std::get<1>(both).version = nvmlDramEncryptionInfo_v1;
        return function(device, &std::get<0>(both), &std::get<1>(both));
      });
  modes.dram_encryption.current =
      encryption.map([](const Both& b) { return static_cast<unsigned>(std::get<0>(b).encryptionState); });
  modes.dram_encryption.pending =
      encryption.map([](const Both& b) { return static_cast<unsigned>(std::get<1>(b).encryptionState); });
  modes.sparse_operation = as_flag(private_number(gpu, "sparse_operation_mode"));
  using Capabilities = nvmlDeviceCapabilities_v1_t;
  modes.egm = gpu.fill(nvml::kDeviceGetCapabilities, versioned<Capabilities>(nvmlDeviceCapabilities_v1))
                  .map([](const Capabilities& c) { return (c.capMask & NVML_DEV_CAP_EGM) != 0; });
  read_fields(gpu, kModeFields, out);
}

void read_vgpu(const Nvml& nvml, const Gpu& gpu, GpuSnapshot& out) {
  VgpuReadings& vgpu = out.vgpu;
  vgpu.driver_heterogeneous_multi =
      as_flag(nvml.read(nvml::kGetVgpuDriverCapabilities, NVML_VGPU_DRIVER_CAP_HETEROGENEOUS_MULTI_VGPU));
  vgpu.fractional_multi = vgpu_capability(gpu, NVML_DEVICE_VGPU_CAP_FRACTIONAL_MULTI_VGPU);
  vgpu.heterogeneous_profile = vgpu_capability(gpu, NVML_DEVICE_VGPU_CAP_HETEROGENEOUS_TIMESLICE_PROFILES);
  vgpu.heterogeneous_sizes = vgpu_capability(gpu, NVML_DEVICE_VGPU_CAP_HETEROGENEOUS_TIMESLICE_SIZES);
  vgpu.homogeneous_placements = vgpu_capability(gpu, NVML_DEVICE_VGPU_CAP_HOMOGENEOUS_PLACEMENTS);
  vgpu.mig_time_slicing = vgpu_capability(gpu, NVML_DEVICE_VGPU_CAP_MIG_TIMESLICING_SUPPORTED);
  vgpu.mig_time_slicing_mode = vgpu_capability(gpu, NVML_DEVICE_VGPU_CAP_MIG_TIMESLICING_ENABLED);
}

}  // namespace pagoda::driver
