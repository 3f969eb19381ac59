// Fields of what a GPU is and how it is set: versions, names, modes, affinity, fabric.
#include <array>

#include "driver/gpu_snapshot_reader.h"
#include "telemetry/field_rows.h"

namespace pagoda::telemetry {
namespace {

using driver::GpuSnapshot;
using enum FieldType;
using enum FieldKind;
using enum FieldLevel;

constexpr unsigned kMaskBits = 64;

// nvmlBrandType_t, in NVIDIA's words.
constexpr std::array<std::string_view, 19> kBrands = {
    "Unknown",    "Quadro",      "Tesla",     "NVS",        "GRID",      "GeForce",
    "Titan",      "NvidiaVApps", "NvidiaVPC", "NvidiaVCS",  "NvidiaVWS", "NvidiaCloudGaming",
    "QuadroRTX",  "NvidiaRTX",   "Nvidia",    "GeForceRTX", "TitanRTX",  "NvidiaVGaming",
    "NvidiaOther"};

template <auto Member>
FieldReading driver_text(const FieldRow&, const EntityReadings& entity) {
  return text(entity.sample.machine.driver.*Member);
}
FieldReading device_count(const FieldRow&, const EntityReadings& entity) {
  return FieldValue(static_cast<std::int64_t>(entity.sample.machine.attached));
}
// 13010 (CUDA 13.1) is 13100 here.
FieldReading cuda_version(const FieldRow&, const EntityReadings& entity) {
  return entity.sample.machine.driver.cuda.map([](unsigned version) -> FieldValue {
    return static_cast<std::int64_t>(version / 1000 * 1000 + version % 1000 * 10);
  });
}
FieldReading brand(const FieldRow&, const EntityReadings& entity) {
  return entity.snapshot().identity.brand.map([](unsigned number) -> FieldValue {
    return std::string(kBrands[number < kBrands.size() ? number : 0]);
  });
}
FieldReading index(const FieldRow&, const EntityReadings& entity) {
  return FieldValue(static_cast<std::int64_t>(entity.snapshot().index));
}
FieldReading uuid(const FieldRow&, const EntityReadings& entity) {
  return text(entity.mig ? entity.mig_device()->uuid : entity.snapshot().identity.uuid);
}
// CUDA takes the UUID of either.
FieldReading compute_capability(const FieldRow&, const EntityReadings& entity) {
  const driver::Identity& identity = entity.snapshot().identity;
  if (!identity.compute_minor) return integer(identity.compute_minor);
  return identity.compute_major.map([&](unsigned major) -> FieldValue {
    return static_cast<std::int64_t>(major << 16 | *identity.compute_minor);
  });
}

template <auto Member>
FieldReading mask_part(const FieldRow& row, const EntityReadings& entity) {
  return (entity.snapshot().*Member).map([&](const std::vector<unsigned>& numbers) -> FieldValue {
    std::uint64_t mask = 0;
    for (const unsigned number : numbers) {
      if (number / kMaskBits == row.index) mask |= std::uint64_t{1} << number % kMaskBits;
    }
    return static_cast<std::int64_t>(mask);
  });
}

// DCGM's own numbers: 0 not supported, 1 not started, 2 in progress, 3 done, 4 failed.
FieldReading fabric_status(const FieldRow&, const EntityReadings& entity) {
  const driver::FabricReadings& fabric = entity.snapshot().fabric;
  return fabric.state.map([&](unsigned state) -> FieldValue {
    const bool failed = state == NVML_GPU_FABRIC_STATE_COMPLETED && fabric.status && *fabric.status != 0;
    return static_cast<std::int64_t>(failed ? 4 : state);
  });
}

FieldReading profiling_support(const FieldRow&, const EntityReadings& entity) {
  const ProfileMetrics& profile = entity.activity().profile;
  if (profile) return FieldValue(std::int64_t{1});
  if (profile.error().reason == driver::AbsenceReason::kUnsupported) return FieldValue(std::int64_t{0});
  return tl::unexpected<driver::Absence>(profile.error());
}

FieldReading no_vgpu(const FieldRow&, const EntityReadings&) {
  return tl::unexpected<driver::Absence>(driver::absence_of(NVML_ERROR_NOT_SUPPORTED));
}

const std::array kRows = {
    FieldRow{1, "DCGM_FI_DRIVER_VERSION", "DCGM_FI_SYSTEM_DRIVER_VERSION", "driver_version", "DRVER", "",
             kText, kLabel, kSystem, 0, driver_text<&driver::DriverReadings::version>, "Driver version", 20},
    FieldRow{2, "DCGM_FI_NVML_VERSION", "DCGM_FI_SYSTEM_NVML_VERSION", "nvml_version", "NVVER", "", kText,
             kLabel, kSystem, 0, driver_text<&driver::DriverReadings::nvml_version>, "NVML version", 20},
    FieldRow{4, "DCGM_FI_DEV_COUNT", "DCGM_FI_SYSTEM_GPU_QUANTITY", "device_count", "DVCNT", "", kInteger,
             kGauge, kSystem, 0, device_count, "Number of GPUs that the driver has"},
    FieldRow{5, "DCGM_FI_CUDA_DRIVER_VERSION", "", "cuda_driver_version", "CDVER", "", kInteger, kGauge,
             kSystem, 0, cuda_version, "CUDA version of the driver: 12400 is 12.4"},
    FieldRow{50, "DCGM_FI_DEV_NAME", "DCGM_FI_DEV_GPU_NAME", "name", "DVNAM", "", kText, kLabel, kGpu,
             driver::kIdentitySection, text_at<&GpuSnapshot::identity, &driver::Identity::name>,
             "Name of the GPU", 20},
    FieldRow{51, "DCGM_FI_DEV_BRAND", "DCGM_FI_DEV_GPU_BRAND", "brand", "DVBRN", "", kText, kLabel, kGpu,
             driver::kIdentitySection, brand, "Brand of the GPU", 20},
    FieldRow{52, "DCGM_FI_DEV_NVML_INDEX", "", "nvml_index", "NVIDX", "", kInteger, kGauge, kGpu, 0, index,
             "NVML's index of the GPU"},
    FieldRow{53, "DCGM_FI_DEV_SERIAL", "DCGM_FI_DEV_BOARD_SERIAL", "serial_number", "SRNUM", "", kText,
             kLabel, kGpu, driver::kIdentitySection,
             text_at<&GpuSnapshot::identity, &driver::Identity::serial>, "Serial number of the board", 20},
    FieldRow{54, "DCGM_FI_DEV_UUID", "DCGM_FI_DEV_GPU_UUID", "uuid", "UUID#", "", kText, kLabel,
             kComputeInstance, driver::kIdentitySection, uuid, "UUID of the GPU or MIG device", 40},
    FieldRow{55, "DCGM_FI_DEV_MINOR_NUMBER", "DCGM_FI_DEV_GPU_MINOR_NUMBER", "minor_number", "MNNUM", "",
             kInteger, kGauge, kGpu, driver::kIdentitySection,
             integer_at<&GpuSnapshot::identity, &driver::Identity::minor>,
             "Minor number of the device file: N of /dev/nvidiaN"},
    FieldRow{56, "DCGM_FI_DEV_OEM_INFOROM_VER", "DCGM_FI_DEV_INFOROM_OEM_VERSION", "oem_inforom_version",
             "OEMVR", "", kText, kLabel, kGpu, driver::kInforomSection,
             text_at<&GpuSnapshot::inforom, &driver::InforomReadings::oem>,
             "Version of the infoROM's OEM object", 7},
    FieldRow{57, "DCGM_FI_DEV_PCI_BUSID", "DCGM_FI_DEV_PCI_BUS_ID", "pci_busid", "PCBID", "", kText, kLabel,
             kGpu, driver::kPciSection, text_at<&GpuSnapshot::pci, &driver::PciReadings::bus_id>,
             "PCI bus id", 20},
    FieldRow{58, "DCGM_FI_DEV_PCI_COMBINED_ID", "", "pci_combined_id", "PCCID", "", kInteger, kGauge, kGpu,
             driver::kPciSection, integer_at<&GpuSnapshot::pci, &driver::PciReadings::device_id>,
             "PCI device and vendor: device << 16 | vendor", 10},
    FieldRow{59, "DCGM_FI_DEV_PCI_SUBSYS_ID", "", "pci_subsys_id", "PCSID", "", kInteger, kGauge, kGpu,
             driver::kPciSection, integer_at<&GpuSnapshot::pci, &driver::PciReadings::subsystem_id>,
             "PCI subsystem: device << 16 | vendor", 10},
    FieldRow{63, "DCGM_FI_DEV_CUDA_COMPUTE_CAPABILITY", "DCGM_FI_CUDA_GPU_COMPUTE_CAPABILITY",
             "cuda_compute_capability", "DVCCC", "", kInteger, kGauge, kGpu, driver::kIdentitySection,
             compute_capability, "CUDA compute capability: major << 16 | minor", 10},
    FieldRow{65, "DCGM_FI_DEV_COMPUTE_MODE", "DCGM_FI_DEV_GPU_COMPUTE_MODE", "compute_mode", "CMMOD", "",
             kInteger, kGauge, kGpu, driver::kModesSection,
             integer_at<&GpuSnapshot::modes, &driver::ModeReadings::compute>,
             "Compute mode: 0 any process, 2 none, 3 one"},
    FieldRow{66, "DCGM_FI_DEV_PERSISTENCE_MODE", "DCGM_FI_DEV_GPU_PERSISTENCE_MODE", "persistance_mode",
             "PMMOD", "", kInteger, kGauge, kGpu, driver::kModesSection,
             integer_at<&GpuSnapshot::modes, &driver::ModeReadings::persistence>,
             "Persistence mode: 1 keeps the driver loaded without clients"},
    FieldRow{67, "DCGM_FI_DEV_MIG_MODE", "", "mig_mode", "MGMOD", "", kInteger, kGauge, kGpu,
             driver::kModesSection,
             integer_at<&GpuSnapshot::modes, &driver::ModeReadings::mig, &driver::Mode::current>,
             "MIG mode: 1 splits the GPU into instances"},
    FieldRow{68, "DCGM_FI_DEV_CUDA_VISIBLE_DEVICES_STR", "DCGM_FI_CUDA_GPU_VISIBLE_DEVICES",
             "cuda_visible_devices", "CUVID", "", kText, kLabel, kComputeInstance, driver::kIdentitySection,
             uuid, "What CUDA_VISIBLE_DEVICES takes for it", 40},
    FieldRow{80, "DCGM_FI_DEV_ECC_INFOROM_VER", "DCGM_FI_DEV_INFOROM_ECC_VERSION", "ecc_inforom_version",
             "EIVER", "", kText, kLabel, kGpu, driver::kInforomSection,
             text_at<&GpuSnapshot::inforom, &driver::InforomReadings::ecc>,
             "Version of the infoROM's ECC object"},
    FieldRow{81, "DCGM_FI_DEV_POWER_INFOROM_VER", "DCGM_FI_DEV_INFOROM_POWER_VERSION",
             "power_inforom_version", "PIVER", "", kText, kLabel, kGpu, driver::kInforomSection,
             text_at<&GpuSnapshot::inforom, &driver::InforomReadings::power>,
             "Version of the infoROM's power object"},
    FieldRow{82, "DCGM_FI_DEV_INFOROM_IMAGE_VER", "DCGM_FI_DEV_INFOROM_IMAGE_VERSION",
             "inforom_image_version", "IIVER", "", kText, kLabel, kGpu, driver::kInforomSection,
             text_at<&GpuSnapshot::inforom, &driver::InforomReadings::image>, "Version of the infoROM", 20},
    FieldRow{84, "DCGM_FI_DEV_INFOROM_CONFIG_VALID", "DCGM_FI_DEV_INFOROM_VALID", "inforom_config_valid",
             "ICVLD", "", kInteger, kGauge, kGpu, driver::kInforomSection,
             integer_at<&GpuSnapshot::inforom, &driver::InforomReadings::valid>,
             "1: the infoROM's checksum is right"},
    FieldRow{85, "DCGM_FI_DEV_VBIOS_VERSION", "", "vbios_version", "VBVER", "", kText, kLabel, kGpu,
             driver::kIdentitySection, text_at<&GpuSnapshot::identity, &driver::Identity::vbios_version>,
             "Version of the VBIOS", 20},
    FieldRow{94, "DCGM_FI_DEV_GPM_SUPPORT", "", "gpm_support", "GPMSPT", "", kInteger, kGauge, kGpu, 0,
             profiling_support, "1: the GPU has profiling metrics (Hopper and later)", 5,
             NVML_GPM_METRIC_SM_UTIL},
    FieldRow{170, "DCGM_FI_DEV_FABRIC_MANAGER_STATUS", "", "fabric_manager_status", "FMSTA", "", kInteger,
             kGauge, kGpu, driver::kFabricSection, fabric_status,
             "Fabric: 0 not supported, 1 not started, 2 in progress, 3 ready, 4 failed"},
    FieldRow{171, "DCGM_FI_DEV_FABRIC_MANAGER_ERROR_CODE", "DCGM_FI_DEV_FABRIC_MANAGER_ERROR",
             "fabric_manager_failure_code", "FMFRC", "", kInteger, kGauge, kGpu, driver::kFabricSection,
             integer_at<&GpuSnapshot::fabric, &driver::FabricReadings::status>,
             "NVML's return code of the fabric's set-up"},
    FieldRow{172, "DCGM_FI_DEV_FABRIC_CLUSTER_UUID", "", "fabric_cluster_uuid", "FCUID", "", kText, kLabel,
             kGpu, driver::kFabricSection,
             text_at<&GpuSnapshot::fabric, &driver::FabricReadings::cluster_uuid>,
             "UUID of the fabric's cluster", 40},
    FieldRow{173, "DCGM_FI_DEV_FABRIC_CLIQUE_ID", "", "fabric_clique_id", "FMCID", "", kInteger, kGauge, kGpu,
             driver::kFabricSection, integer_at<&GpuSnapshot::fabric, &driver::FabricReadings::clique>,
             "Clique in the fabric"},
    FieldRow{174, "DCGM_FI_DEV_FABRIC_HEALTH_MASK", "", "fabric_health_mask", "FMHMSK", "", kInteger, kGauge,
             kGpu, driver::kFabricSection,
             integer_at<&GpuSnapshot::fabric, &driver::FabricReadings::health_mask>,
             "Health of the fabric, NVML's bits"},
    FieldRow{175, "DCGM_FI_DEV_FABRIC_HEALTH_SUMMARY", "", "fabric_health_summary", "FMHSUM", "", kInteger,
             kGauge, kGpu, driver::kFabricSection,
             integer_at<&GpuSnapshot::fabric, &driver::FabricReadings::health_summary>,
             "Health of the fabric, NVML's summary"},
    FieldRow{500, "DCGM_FI_DEV_VIRTUAL_MODE", "DCGM_FI_DEV_GPU_VIRTUAL_MODE", "virtualization_mode", "VMODE",
             "", kInteger, kGauge, kGpu, driver::kModesSection,
             integer_at<&GpuSnapshot::modes, &driver::ModeReadings::virtualization>,
             "Virtualization: 0 none, 1 passed through, 2 vGPU, 3 host of vGPUs, 4 host of S-class vGPUs"},
    FieldRow{526, "DCGM_FI_DEV_VGPU_LICENSE_STATUS", "", "vgpu_license_status", "VLCST", "", kInteger, kGauge,
             kGpu, 0, no_vgpu, "License of a vGPU; of a whole GPU there is none"},
    FieldRow{1523, "DCGM_FI_DEV_GET_GPU_RECOVERY_ACTION", "DCGM_FI_DEV_GPU_RECOVERY_ACTION",
             "gpu_recovery_action", "GRACTN", "", kInteger, kGauge, kGpu, driver::kModesSection,
             integer_at<&GpuSnapshot::modes, &driver::ModeReadings::recovery_action>,
             "What the driver asks for: 0 nothing, 1 reset, 2 reboot, 3 drain peers, 4 drain and reset, 5 "
             "recover the IMEX domain"},
};

}  // namespace

void add_identity_fields(FieldRows& rows) {
  rows.insert(rows.end(), kRows.begin(), kRows.end());
  for (unsigned part = 0; part < 4; ++part) {
    const std::string number = std::to_string(part);
    rows.push_back({70 + part, kept("DCGM_FI_DEV_CPU_AFFINITY_" + number), "", kept("cpu_affinity_" + number),
                    kept("CAFF" + number), "", kInteger, kGauge, kGpu, driver::kTopologySection,
                    mask_part<&GpuSnapshot::cpus>, "CPUs near the GPU, 64 bits of the mask", 20, 0, part});
    rows.push_back({86 + part, kept("DCGM_FI_DEV_MEM_AFFINITY_" + number),
                    kept("DCGM_FI_DEV_MEMORY_AFFINITY_" + number), kept("mem_affinity_" + number),
                    kept("MAFF" + number), "", kInteger, kGauge, kGpu, driver::kTopologySection,
                    mask_part<&GpuSnapshot::numa_nodes>, "Memory nodes near the GPU, 64 bits of the mask", 20,
                    0, part});
  }
}

}  // namespace pagoda::telemetry
