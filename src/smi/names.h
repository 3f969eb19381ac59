// NVML's numbers in the words of NVIDIA's tool. Numbers are those of nvml.h.
#pragma once

#include <array>

#include "smi/cell.h"

namespace pagoda::smi {

inline constexpr std::array kBrands = {
    NumberWord{NVML_BRAND_QUADRO, "Quadro"},
    NumberWord{NVML_BRAND_TESLA, "Tesla"},
    NumberWord{NVML_BRAND_NVS, "NVS"},
    NumberWord{NVML_BRAND_GRID, "Grid"},
    NumberWord{NVML_BRAND_GEFORCE, "GeForce"},
    NumberWord{NVML_BRAND_TITAN, "Titan"},
    NumberWord{NVML_BRAND_NVIDIA_VAPPS, "NVIDIA Virtual Applications"},
    NumberWord{NVML_BRAND_NVIDIA_VPC, "NVIDIA Virtual PC"},
    NumberWord{NVML_BRAND_NVIDIA_VCS, "NVIDIA Virtual Compute Server"},
    NumberWord{NVML_BRAND_NVIDIA_VWS, "NVIDIA RTX Virtual Workstation"},
    NumberWord{NVML_BRAND_NVIDIA_CLOUD_GAMING, "NVIDIA Cloud Gaming"},
    NumberWord{NVML_BRAND_QUADRO_RTX, "Quadro RTX"},
    NumberWord{NVML_BRAND_NVIDIA_RTX, "NVIDIA RTX"},
    NumberWord{NVML_BRAND_NVIDIA, "NVIDIA"},
    NumberWord{NVML_BRAND_GEFORCE_RTX, "GeForce RTX"},
    NumberWord{NVML_BRAND_TITAN_RTX, "Titan RTX"},
};

inline constexpr std::array kArchitectures = {
    NumberWord{NVML_DEVICE_ARCH_KEPLER, "Kepler"},       NumberWord{NVML_DEVICE_ARCH_MAXWELL, "Maxwell"},
    NumberWord{NVML_DEVICE_ARCH_PASCAL, "Pascal"},       NumberWord{NVML_DEVICE_ARCH_VOLTA, "Volta"},
    NumberWord{NVML_DEVICE_ARCH_TURING, "Turing"},       NumberWord{NVML_DEVICE_ARCH_AMPERE, "Ampere"},
    NumberWord{NVML_DEVICE_ARCH_ADA, "Ada Lovelace"},    NumberWord{NVML_DEVICE_ARCH_HOPPER, "Hopper"},
    NumberWord{NVML_DEVICE_ARCH_BLACKWELL, "Blackwell"}, NumberWord{NVML_DEVICE_ARCH_RUBIN, "Rubin"},
};

// -q and CSV; the table has narrower words.
inline constexpr std::array kComputeModes = {
    NumberWord{NVML_COMPUTEMODE_DEFAULT, "Default"},
    NumberWord{NVML_COMPUTEMODE_EXCLUSIVE_THREAD, "Exclusive_Thread"},
    NumberWord{NVML_COMPUTEMODE_PROHIBITED, "Prohibited"},
    NumberWord{NVML_COMPUTEMODE_EXCLUSIVE_PROCESS, "Exclusive_Process"},
};
inline constexpr std::array kComputeModesInTable = {
    NumberWord{NVML_COMPUTEMODE_DEFAULT, "Default"},
    NumberWord{NVML_COMPUTEMODE_EXCLUSIVE_THREAD, "E. Thread"},
    NumberWord{NVML_COMPUTEMODE_PROHIBITED, "Prohibited"},
    NumberWord{NVML_COMPUTEMODE_EXCLUSIVE_PROCESS, "E. Process"},
};

inline constexpr std::array kAddressingModes = {
    NumberWord{NVML_DEVICE_ADDRESSING_MODE_NONE, "None"},
    NumberWord{NVML_DEVICE_ADDRESSING_MODE_HMM, "HMM"},
    NumberWord{NVML_DEVICE_ADDRESSING_MODE_ATS, "ATS"},
};

inline constexpr std::array kEnabledModes = {NumberWord{0, "Disabled"}, NumberWord{1, "Enabled"}};

inline constexpr std::array kOperationModes = {
    NumberWord{NVML_GOM_ALL_ON, "All On"},
    NumberWord{NVML_GOM_COMPUTE, "Compute"},
    NumberWord{NVML_GOM_LOW_DP, "Low Double Precision"},
};

inline constexpr std::array kDriverModels = {NumberWord{0, "WDDM"}, NumberWord{1, "TCC"},
                                             NumberWord{2, "MCDM"}};

inline constexpr std::array kVirtualizationModes = {
    NumberWord{NVML_GPU_VIRTUALIZATION_MODE_NONE, "None"},
    NumberWord{NVML_GPU_VIRTUALIZATION_MODE_PASSTHROUGH, "Pass-Through"},
    NumberWord{NVML_GPU_VIRTUALIZATION_MODE_VGPU, "VGPU"},
    NumberWord{NVML_GPU_VIRTUALIZATION_MODE_HOST_VGPU, "Host VGPU"},
    NumberWord{NVML_GPU_VIRTUALIZATION_MODE_HOST_VSGA, "Host VSGA"},
};
inline constexpr std::array kHostVgpuModes = {
    NumberWord{NVML_HOST_VGPU_MODE_NON_SRIOV, "Non SR-IOV"},
    NumberWord{NVML_HOST_VGPU_MODE_SRIOV, "SR-IOV"},
};

inline constexpr std::array kRecoveryActions = {
    NumberWord{NVML_GPU_RECOVERY_ACTION_NONE, "None"},
    NumberWord{NVML_GPU_RECOVERY_ACTION_GPU_RESET, "Reset"},
    NumberWord{NVML_GPU_RECOVERY_ACTION_NODE_REBOOT, "Reboot"},
    NumberWord{NVML_GPU_RECOVERY_ACTION_DRAIN_P2P, "Drain P2P"},
    NumberWord{NVML_GPU_RECOVERY_ACTION_DRAIN_AND_RESET, "Drain and Reset"},
    NumberWord{NVML_GPU_RECOVERY_ACTION_RECOVER_IMEX_DOMAIN, "Recover IMEX Domain"},
    NumberWord{NVML_GPU_RECOVERY_ACTION_BUS_RESET, "Bus Reset"},
    NumberWord{NVML_GPU_RECOVERY_ACTION_SYSTEM_REBOOT, "System Reboot"},
};

inline constexpr std::array kBridgeChips = {
    NumberWord{NVML_BRIDGE_CHIP_PLX, "PLX"},
    NumberWord{NVML_BRIDGE_CHIP_BRO4, "BR04"},
};

// The platform's peer types have no names in nvml.h.
inline constexpr std::array kPeerTypes = {
    NumberWord{0, "N/A"},
    NumberWord{1, "Direct Connected"},
    NumberWord{2, "Switch Connected"},
};

inline constexpr std::array kFabricStates = {
    NumberWord{NVML_GPU_FABRIC_STATE_NOT_SUPPORTED, "N/A"},
    NumberWord{NVML_GPU_FABRIC_STATE_NOT_STARTED, "Not Started"},
    NumberWord{NVML_GPU_FABRIC_STATE_IN_PROGRESS, "In Progress"},
    NumberWord{NVML_GPU_FABRIC_STATE_COMPLETED, "Completed"},
};
inline constexpr std::array kFabricSummaries = {
    NumberWord{NVML_GPU_FABRIC_HEALTH_SUMMARY_NOT_SUPPORTED, "N/A"},
    NumberWord{NVML_GPU_FABRIC_HEALTH_SUMMARY_HEALTHY, "Healthy"},
    NumberWord{NVML_GPU_FABRIC_HEALTH_SUMMARY_UNHEALTHY, "Unhealthy"},
    NumberWord{NVML_GPU_FABRIC_HEALTH_SUMMARY_LIMITED_CAPACITY, "Limited Capacity"},
};
// The two-bit answers of the health mask.
inline constexpr std::array kFabricAnswers = {
    NumberWord{0, "N/A"},
    NumberWord{1, "True"},
    NumberWord{2, "False"},
};
inline constexpr std::array kFabricConfigurations = {
    NumberWord{0, "N/A"},
    NumberWord{NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_NONE, "None"},
    NumberWord{NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_INCORRECT_SYSGUID, "Incorrect SysGUID"},
    NumberWord{NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_INCORRECT_CHASSIS_SN,
               "Incorrect Chassis Serial Number"},
    NumberWord{NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_NO_PARTITION, "No Partition"},
    NumberWord{NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_INSUFFICIENT_NVLINKS,
               "Insufficient Nvlinks"},
    NumberWord{NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_INCOMPATIBLE_GPU_FW,
               "Incompatible GPU Firmware"},
    NumberWord{NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_INVALID_LOCATION, "Invalid Location"},
    NumberWord{NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_GPU_STATE_INVALID, "GPU State Invalid"},
};

// topo -m, by nvmlGpuTopologyLevel_t.
inline constexpr std::array kTopologyLevels = {
    NumberWord{NVML_TOPOLOGY_INTERNAL, "PIX"}, NumberWord{NVML_TOPOLOGY_SINGLE, "PIX"},
    NumberWord{NVML_TOPOLOGY_MULTIPLE, "PXB"}, NumberWord{NVML_TOPOLOGY_HOSTBRIDGE, "PHB"},
    NumberWord{NVML_TOPOLOGY_NODE, "NODE"},    NumberWord{NVML_TOPOLOGY_SYSTEM, "SYS"},
};

}  // namespace pagoda::smi
